"""JSON and YAML documents: one tree of values with their lines, and the records in it that are units."""
