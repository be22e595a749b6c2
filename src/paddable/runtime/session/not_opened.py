"""Why a session was not opened: the provider, its device, or the file. ONNX Runtime raises one class for all."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from paddable.errors import MisuseError, UnreadableError
from paddable.providers.session_advice import SessionAdvice
from paddable.runtime.session.device_session import first_line
from paddable.runtime.session.devices import adapters
from paddable.runtime.session.explained import explained

__all__ = ["why_not_opened"]

_IDENTITY = bytes.fromhex(
    "08083a370a100a017812017922084964656e746974791201695a0f0a0178120a"
    "0a08080112040a020801620f0a0179120a0a08080112040a02080142040a001011"
)
"""A model of one Identity, float[1] x to y: what a provider that starts can always open."""

_NO_DEVICE = ("887a0002", "invalid device ordinal", "invalid device_id", "invalid device id")


def why_not_opened(error: Exception, path: Path, advice: SessionAdvice, wanted: Any, device_id: int) -> Exception:
    """The error to raise.

    Args:
        error: ONNX Runtime's own.
        path: the model file.
        advice: the provider that was asked for.
        wanted: the provider with its options, as ONNX Runtime takes it; None where the CPU took its place.
        device_id: the device that was asked for.
    """
    said = first_line(error)
    if "graph capture" in str(error):
        return MisuseError(
            "the provider cannot capture this graph",
            where=str(path),
            why=said,
            fix="see paddable lint --target cuda, or pass capture=False to run it node by node",
        )
    known = explained(error)
    refused = _refused(wanted) if wanted and advice.name != "cpu" else ""
    if not refused and advice.name != "cpu" and known:
        return MisuseError(
            f"the provider {advice.name!r} ({advice.execution_provider}) does not open this model: {said}",
            where=str(path),
            **known,
        )
    if not refused:
        return UnreadableError(f"onnxruntime cannot load it: {said}", where=str(path), **known)
    there = _devices(advice)
    if any(sign in refused.casefold() for sign in _NO_DEVICE):
        return MisuseError(
            f"the provider {advice.name!r} has no device {device_id}",
            why=f"{refused}; {there}" if there else refused,
            fix="choose another one with `device_id`; paddable doctor lists them",
        )
    known = explained(refused)
    return MisuseError(
        f"the provider {advice.name!r} ({advice.execution_provider}) does not start on device {device_id}",
        why="; ".join(part for part in (refused, there, known.get("why")) if part),
        fix=known.get("fix") or "choose another device, or run on the CPU",
    )


def _refused(wanted: Any) -> str:
    """What the provider says to a model that every provider can run; empty if it opens it."""
    ort = import_module("onnxruntime")
    options = ort.SessionOptions()
    options.log_severity_level = 4
    try:
        ort.InferenceSession(_IDENTITY, options, providers=[wanted], enable_fallback=0)
    except Exception as error:
        return first_line(error)
    return ""


def _devices(advice: SessionAdvice) -> str:
    found = adapters() if advice.name == "directml" else []
    return "there are " + ", ".join(f"{adapter.device}: {adapter.name}" for adapter in found) if found else ""
