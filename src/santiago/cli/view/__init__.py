"""What people see on a terminal: runs, plans, attempts and errors in lines, tables and frames. Nothing here decides anything."""
