"""Screens that fill the terminal: they show what `report` tells and ask `app` to do things, and hold no rule of their own."""
