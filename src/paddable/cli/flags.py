"""The library names arguments as Python does, in backquotes; here they become the flags of the command line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["FLAGS", "in_flags"]

FLAGS: Mapping[str, str] = {
    "accept": "--accept",
    "against": "--against",
    "allow_mixed": "--allow-mixed-onnxruntime",
    "against_precision": "--against-precision",
    "against_provider": "--against-provider",
    "at": "--at",
    "batch": "--batch",
    "batch_size": "--batch-size",
    "bindings": "--set",
    "blank": "--blank",
    "chunk": "--chunk",
    "container": "--container",
    "containers": "--container",
    "detector": "--vad",
    "device_id": "--device",
    "examples": "--examples",
    "fbank": "--fbank",
    "fix": "--fix",
    "force": "--force",
    "hub": "--hub",
    "offline": "--offline",
    "revision": "--revision",
    "forms": "--forms",
    "front_end": "--front-end",
    "half": "--half",
    "inputs": "--input",
    "isolate": "--isolate",
    "keep_dynamic": "--keep-dynamic",
    "labels": "--labels",
    "length": "--length",
    "length_inputs": "--length-input",
    "lengths": "--length",
    "logits": "--logits",
    "mask_inputs": "--mask-input",
    "native": "--against",
    "normalise": "--normalise",
    "precision": "--precision",
    "provider": "--provider",
    "rate": "--rate",
    "report": "--report",
    "rows": "--rows",
    "run": "--run",
    "sample_rate": "--sample-rate",
    "shortest": "--shortest",
    "stream": "--stream",
    "target": "--target",
    "threads": "--threads",
    "tolerance": "--tolerance",
    "verify": "--verify",
    "word_boundary": "--word-boundary",
}
"""The flag of each argument that a message names."""


def in_flags(told: Any) -> Any:
    """A text, or plain data with texts in it; from ``lengths=['x:1=T'], force=True`` to ``--length x:1=T --force``."""
    if isinstance(told, str):
        return re.sub("`([^`]+)`", lambda found: " ".join(_flags(found[1])) or found[0], told)
    if isinstance(told, Mapping):
        return {key: in_flags(value) for key, value in told.items()}
    return [in_flags(value) for value in told] if isinstance(told, list | tuple) else told


def _flags(arguments: str) -> Iterator[str]:
    """Words of the command line; none where the text is something else than arguments that have flags."""
    if arguments in FLAGS:
        yield FLAGS[arguments]
        return
    try:
        call = ast.parse(f"call({arguments})", mode="eval").body
    except SyntaxError:
        return
    if not isinstance(call, ast.Call) or call.args or any(each.arg not in FLAGS for each in call.keywords):
        return
    for each in call.keywords:
        flag = FLAGS[str(each.arg)]
        for value in each.value.elts if isinstance(each.value, ast.List) else [each.value]:
            given: Any = value.value if isinstance(value, ast.Constant) else ast.unparse(value)
            if isinstance(given, bool):
                yield flag if given else f"--no-{flag.removeprefix('--')}"
            else:
                yield f"{flag} {given}"
