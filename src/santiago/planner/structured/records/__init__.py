"""Records of structured documents (JSON, YAML, records in code fences) read as units: one logic for all of them."""
