"""Find the lists of units that a document in Markdown offers. Each module finds lists by one kind of evidence."""
