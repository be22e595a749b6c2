"""Deduction: walks a graph, asks the rule of each node, and keeps what is proven."""
