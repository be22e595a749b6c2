"""VitisAI, AMD's provider for NPUs."""
