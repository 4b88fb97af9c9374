"""Tries to break out of a sandbox, each for real and from inside."""
