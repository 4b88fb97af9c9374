"""Carries out the board's work: requests become runs, claims become attempts, and accepted tickets are archived."""
