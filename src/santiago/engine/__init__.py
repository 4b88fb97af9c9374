"""Where steps run: in threads of the coordinator."""
