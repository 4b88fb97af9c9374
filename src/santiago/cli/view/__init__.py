"""What people see: runs, plans, attempts and errors in words, lines, tables and pictures. Nothing here decides anything."""
