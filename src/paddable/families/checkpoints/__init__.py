"""Checkpoints as they lie on disk: folders, tensors and settings, each mistake told by file and key."""
