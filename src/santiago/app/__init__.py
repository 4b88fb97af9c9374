"""Starting, resuming and reaching a run: the composition root that every front end uses, without prompts and screens."""
