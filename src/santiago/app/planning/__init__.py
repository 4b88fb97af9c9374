"""Planning sessions of a repository: beginning, finding, reading, continuing and finalizing one."""
