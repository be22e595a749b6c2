"""Streams: chunks in as they come, exactly what the whole utterance would give."""
