"""What lies behind an error of ONNX Runtime, by the table that ``paddable doctor --explain`` reads."""

from __future__ import annotations

from paddable.bundle.provider_errors import explain

__all__ = ["explained"]


def explained(error: str | BaseException) -> dict[str, str]:
    """The likeliest cause and what to do, as ``why`` and ``fix`` of an error; empty where nothing is known of it."""
    known = explain(error)
    return {"why": f"usual cause: {known[0].cause}", "fix": known[0].next_step} if known else {}
