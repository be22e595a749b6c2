"""CoreML, Apple's provider."""
