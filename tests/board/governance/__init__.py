"""Tests of a board's governance."""
