"""Facts: what the interpreter knows of each value."""
