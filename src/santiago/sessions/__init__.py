"""Planning sessions: turns of agents, revisions of a plan, and the review in which a person decides."""
