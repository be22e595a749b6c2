"""How to open a session there. Standard library alone."""

from paddable.providers.session_advice import SessionAdvice

__all__ = ["ADVICE"]

ADVICE = SessionAdvice(
    "openvino",
    "OpenVINOExecutionProvider",
    extra="openvino",
    source="measured, onnxruntime-openvino 1.24.1: a new length costs 11 to 22 ms at 70 blocks, nothing when "
    "static; disable_dynamic_shapes changes nothing",
)
