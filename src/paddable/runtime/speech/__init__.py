"""Speech on a session: recognisers, voice activity detection, transcripts."""
