"""Markdown documents: the outline of blocks, the places that define units, and the text that belongs to each unit."""
