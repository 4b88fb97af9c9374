"""Running foreign programs: supervised with all their children, limited, redacted, sandboxed. Used for agents and checks."""
