"""QNN, Qualcomm's provider."""
