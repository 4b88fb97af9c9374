"""One start of a run: the agent and its fence, the adapters around the core, what was left running."""
