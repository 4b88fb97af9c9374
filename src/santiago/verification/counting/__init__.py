"""What a check showed: how many tests ran, which failed, and the verdict on that."""
