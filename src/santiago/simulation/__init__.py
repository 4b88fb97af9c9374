"""The real loop on a virtual clock: what a run would take, and whether the promises hold whatever happens."""
