"""Where steps run: in the coordinator itself, or in threads of it."""
