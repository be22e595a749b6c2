"""Native models to native ONNX: one row, any length, no masks."""
