"""Running foreign programs: supervised as a whole tree, bounded, redacted, sandboxed. Shared by agent and verification."""
