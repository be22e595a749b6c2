"""The CPU provider of ONNX Runtime."""
