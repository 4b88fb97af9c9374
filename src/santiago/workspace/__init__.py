"""Git: a folder for every attempt, snapshots of what agents leave, the run's branch."""
