"""Runs that are killed, cut off from power or met by a failing disk at any moment, and what must hold then."""
