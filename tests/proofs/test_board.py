"""Killed workers on one board, in short; `python -m proofs board` has eight of them, 10,000 tickets, and minutes."""

import subprocess
import sys
from pathlib import Path


def test_workers_that_are_killed_lose_no_ticket_and_claim_none_twice() -> None:
    """board lines 30 and 32"""
    few = ["--minutes", "0.08", "--processes", "4", "--tickets", "200", "--no-write"]
    proof = [sys.executable, "-m", "proofs", "board", *few]
    done = subprocess.run(proof, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 violations" in done.stdout
