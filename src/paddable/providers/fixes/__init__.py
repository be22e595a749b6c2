"""Fixes of the rules that test facts; a provider of which the fact holds lists them in its record."""
