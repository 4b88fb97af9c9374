"""Schedules of faults, by their seed, for the real loop on the simulation's clock; and bugs planted to see that they are found."""
