"""What people are told, as data: where a run stands, what failed, what is asked, what to type next. Nothing here decides anything."""
