"""The board: tickets in queues that several people and programs work from, closed only on evidence."""
