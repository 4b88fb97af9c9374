"""The ports: all that the core knows of the outside. Each docstring is what an adapter is tested against."""
