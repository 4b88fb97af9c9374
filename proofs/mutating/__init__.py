"""Work that is broken on purpose, with the tests eased that would have shown it."""
