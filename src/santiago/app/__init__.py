"""Starting, resuming and finding runs, for every front end. There are no prompts and no screens here."""
