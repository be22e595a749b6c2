"""How to open a session there. Standard library alone."""

from paddable.providers.session_advice import SessionAdvice

__all__ = ["ADVICE"]

ADVICE = SessionAdvice(
    "cpu",
    "CPUExecutionProvider",
    extra="cpu",
    static=False,
    companions=(),
    source="measured, onnxruntime 1.32: a longer container costs what it holds, nothing is re-planned",
)
