"""JSON and YAML documents: a tree of values with line numbers, and the records in it that are units."""
