"""Any ``.onnx`` file in, and out again: weights stay in their file, the same input gives the same bytes."""
