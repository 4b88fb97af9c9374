"""Planning sessions of a repository: beginning, finding, reading and going on with one, and what comes of it."""
