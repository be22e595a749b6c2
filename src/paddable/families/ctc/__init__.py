"""Any recogniser with a CTC output, from its ``.onnx`` and its labels."""
