"""How to open a session there. Standard library alone."""

from paddable.providers.session_advice import SessionAdvice

__all__ = ["ADVICE"]

ADVICE = SessionAdvice("coreml", "CoreMLExecutionProvider", extra="cpu")
