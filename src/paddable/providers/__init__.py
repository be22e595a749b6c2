"""Execution providers: where a graph runs on each, what breaks there, and what mends it."""
