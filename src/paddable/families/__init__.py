"""Native models: one folder a family, written as the paper has them, without masks and lengths."""
