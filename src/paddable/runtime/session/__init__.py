"""Sessions: a model in all its containers on one execution provider, fed and cut in numpy."""
