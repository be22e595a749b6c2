"""The text of a Python file that builds a module, written and run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

__all__ = ["built", "exported"]


def built(folder: Path, text: str) -> Any:
    """Write ``model.py``, and return what its ``build()`` does: the module and its sample."""
    (folder / "model.py").write_text(text)
    scope: dict[str, Any] = {}
    exec(compile(text, str(folder / "model.py"), "exec"), scope)
    return scope["build"]()


def exported(folder: Path, text: str) -> Path:
    """The module of such a file in three exports beside it: by dynamo, by TorchScript, and by that without folding."""
    model, sample = built(folder, text)
    torch.onnx.export(model, (sample,), folder / "dynamo.onnx", dynamo=True, verbose=False)
    torch.onnx.export(model, (sample,), folder / "script.onnx", dynamo=False)
    torch.onnx.export(model, (sample,), folder / "unfolded.onnx", dynamo=False, do_constant_folding=False)
    return folder
