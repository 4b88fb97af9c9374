"""What people are told, as data: a run's state, what failed, what is asked, what to type next. Nothing here decides anything."""
