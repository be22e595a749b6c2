"""CT-Transformer: punctuation for recognised text."""
