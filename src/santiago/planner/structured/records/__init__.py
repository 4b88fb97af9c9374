"""Read the records of structured documents (JSON, YAML, code fences) as units, in the same way for all of them."""
