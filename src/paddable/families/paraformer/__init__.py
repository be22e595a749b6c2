"""Paraformer: recognition in one pass, with a predictor of how many tokens were said."""
