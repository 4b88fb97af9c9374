"""What a command line means: its words, the programs and scripts behind it, whether it checks anything."""
