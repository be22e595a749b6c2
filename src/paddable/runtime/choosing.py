"""``provider="auto"``: the fastest place for a model on this machine, and why it is not another one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from paddable.providers.advice import known_advice
from paddable.runtime.description import Tried
from paddable.runtime.probing import why_not
from paddable.runtime.session.flavours import import_onnxruntime

__all__ = ["choose"]

_ORDER = ("tensorrt-rtx", "cuda", "directml", "qnn", "vitisai", "openvino", "coreml", "webgpu")
"""Faster devices first; a provider that is not listed (a plug-in's) comes before them, the CPU last."""


def choose(path: str, made_for: Collection[str], choices: Mapping[str, Any]) -> tuple[Tried, ...]:
    """The providers in the order in which they are worth it; the last one is taken.

    A provider is taken if onnxruntime has it, the model was made for it, and its smallest graph runs in a process of
    its own. The CPU is tried by nobody: it always works.

    Args:
        path: of the bundle or file.
        made_for: providers that it holds graphs for.
        choices: other arguments of ``load``.

    Raises:
        MissingExtraError: there is no onnxruntime, or several.
    """
    here = import_onnxruntime(allow_mixed=bool(choices.get("allow_mixed"))).get_available_providers()
    known = known_advice()
    tried = []
    for name in (*(set(known) - set(_ORDER) - {"cpu"}), *_ORDER):
        if known[name].execution_provider not in here:
            if name in made_for:
                tried.append(Tried(name, False, f"this onnxruntime has no {known[name].execution_provider}"))
        elif name not in made_for:
            tried.append(Tried(name, False, f"there is no graph for it; convert with target={name!r} to use it"))
        elif why := why_not(path, name, choices):
            tried.append(Tried(name, False, why))
        else:
            return (*tried, Tried(name, True, "it was made for it, and its smallest graph runs"))
    return (*tried, Tried("cpu", True, "it runs everywhere" if tried else "nothing else is here"))
