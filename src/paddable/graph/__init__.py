"""The model graph: reading, writing, facts, rules and remedies. Needs onnx and onnx_ir; never torch nor a runtime."""
