"""What people do where pages are shown: forms as data, and what each would do before it is done, with the command that does the same."""
