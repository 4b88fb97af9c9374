"""`python -m santiago`."""

from santiago.cli.entry import entry

if __name__ == "__main__":
    entry()
