"""What judges a story, and whether its work laid hands on that."""
