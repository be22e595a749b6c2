"""The compiler: what is true of padding, where it would leak, and what mends it. Never imports torch nor a runtime."""
