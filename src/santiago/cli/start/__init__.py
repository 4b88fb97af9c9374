"""One start of a run: settings and consent, the agent and its fence, the adapters around the core, what was left running."""
