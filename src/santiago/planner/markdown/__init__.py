"""Markdown documents: the outline of blocks, the places that define units, and what belongs to each."""
