"""The verdict on an attempt: what its checks showed on the base, on the work, and with the judge put back."""
