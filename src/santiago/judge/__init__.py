"""Judging work: the base's judge put back over it, and doubts about what that cannot show."""
