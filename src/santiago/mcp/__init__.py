"""What editors and agents ask santiago by: an MCP server. It reads the log, leaves text of people, and approves nothing."""
