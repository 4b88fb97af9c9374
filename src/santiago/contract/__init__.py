"""The stable contract: types, tables and ports. Imports nothing else of santiago, and does no I/O."""
