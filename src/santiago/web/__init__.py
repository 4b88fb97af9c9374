"""Pages of HTML: the report of a run as one file, and the pages that a browser shows live."""
