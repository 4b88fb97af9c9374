"""The ports: all that the core knows of the outside world. Adapters are tested against what the docstrings here say."""
