"""Workers: carrying out orders of runs that are coordinated on other machines."""
