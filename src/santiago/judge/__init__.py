"""The judge: verdicts on work, by running its checks with the tests of the base put back over it."""
