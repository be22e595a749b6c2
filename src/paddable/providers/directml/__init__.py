"""DirectML: placement, rules and fixes, from facts measured on the real provider."""
