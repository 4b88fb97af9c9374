"""Carrying a plan out: pure decisions on a folded log, and a loop that obeys them."""
