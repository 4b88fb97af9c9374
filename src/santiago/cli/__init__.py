"""The command line: parsing, wiring and showing. It composes the parts and holds no rule of its own."""
