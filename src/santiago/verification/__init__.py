"""Checks and what they prove: run in the open, counted where the runner is known, judged against the base."""
