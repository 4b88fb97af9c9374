"""Agents: the packet they get, the programs that carry it out, and what their endings mean."""
