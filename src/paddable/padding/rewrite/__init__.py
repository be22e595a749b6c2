"""Applies remedies: the padded model, with a symbolic or a fixed container."""
