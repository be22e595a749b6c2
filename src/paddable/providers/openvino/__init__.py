"""OpenVINO, Intel's provider."""
