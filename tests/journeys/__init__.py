"""What people do from a clone to merged work, typed as they would type it, with real tools and without any registry."""
