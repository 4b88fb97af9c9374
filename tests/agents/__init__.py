"""Real agent programs against a scripted model on this machine: no network, no key, no cost."""
