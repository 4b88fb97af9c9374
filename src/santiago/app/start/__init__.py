"""One start of a run: the agent and its sandbox, the adapters around the core, leftover processes."""
