"""Everything that touches the out-dir and the documents on disk."""
