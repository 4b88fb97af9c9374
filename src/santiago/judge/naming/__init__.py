"""The result of each test of a check, by its id: how runners are made to name their tests, and how that is read."""
