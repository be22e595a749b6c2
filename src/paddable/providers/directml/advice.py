"""How to open a session there. Standard library alone."""

from paddable.providers.session_advice import SessionAdvice

__all__ = ["ADVICE"]

ADVICE = SessionAdvice(
    "directml",
    "DmlExecutionProvider",
    extra="directml",
    device="dml",
    memory_pattern=False,
    one_run_at_a_time=True,
    source="measured, onnxruntime-directml 1.24.4: two threads in one session end the process; "
    "reported by the provider's documentation: no memory pattern, no parallel execution, CPU behind it only",
)
