"""The long versions of what the tests show in short: `python -m proofs NAME`."""
