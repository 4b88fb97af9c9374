"""Small helpers that every adapter may use."""
