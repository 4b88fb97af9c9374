"""A start of a run from the command line: what is asked first, what is shown, and the exit code."""
