"""The providers: our own, those of installed packages, those that a program registers.

A package names its providers as entry points of the group ``paddable.providers``, and their session advice, which the
runtime reads without the compiler, as entry points of the group ``paddable.session_advice``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddable.errors import MisuseError
from paddable.linter.registry import refuse_shared_codes
from paddable.linter.registry import rules as registered_rules
from paddable.linter.rule import Rule
from paddable.plugins import plugins
from paddable.providers.advice import register_advice
from paddable.providers.coreml.provider import PROVIDER as COREML
from paddable.providers.cpu.provider import PROVIDER as CPU
from paddable.providers.cuda.provider import PROVIDER as CUDA
from paddable.providers.directml.provider import PROVIDER as DIRECTML
from paddable.providers.openvino.provider import PROVIDER as OPENVINO
from paddable.providers.provider import Provider
from paddable.providers.qnn.provider import PROVIDER as QNN
from paddable.providers.rules import FACT_RULES
from paddable.providers.tensorrt_rtx.provider import PROVIDER as TENSORRT_RTX
from paddable.providers.vitisai.provider import PROVIDER as VITISAI
from paddable.providers.webgpu.provider import PROVIDER as WEBGPU

__all__ = ["BUILT_IN", "ENTRY_POINTS", "provider", "providers", "register_provider", "rules_of"]

ENTRY_POINTS = "paddable.providers"
"""Entry point group; each entry names a `Provider`."""

BUILT_IN = (CPU, DIRECTML, CUDA, OPENVINO, WEBGPU, TENSORRT_RTX, QNN, COREML, VITISAI)

_known: dict[str, Provider] = {record.name: record for record in BUILT_IN}


def register_provider(record: Provider) -> Provider:
    """Add a provider, and its session advice.

    Raises:
        MisuseError: its name or a code of its rules is taken, or its advice is for another name.
    """
    if record.advice.name != record.name:
        raise MisuseError(f"provider {record.name!r} has the session advice of {record.advice.name!r}")
    if _known.get(record.name, record) is not record:
        raise MisuseError(f"there is a provider called {record.name!r} already", fix="choose another name")
    refuse_shared_codes([*registered_rules(), *_rules_of_providers(), *record.rules])
    register_advice(record.advice)
    _known[record.name] = record
    return record


def providers() -> Mapping[str, Provider]:
    """Every provider, by name."""
    for record in plugins(ENTRY_POINTS):
        register_provider(record)
    return _known


def provider(name: str) -> Provider:
    """The record of a provider.

    Raises:
        MisuseError: no target has that name.
    """
    known = providers()
    if name not in known:
        raise MisuseError(f"no target is called {name!r}", fix=f"choose one of {', '.join(known)}")
    return known[name]


def rules_of(record: Provider) -> list[type[Rule[Any]]]:
    """What a provider is asked: the rules that test facts, its own, and those that others added for it."""
    asked = [*FACT_RULES, *record.rules, *registered_rules(record.name)]
    refuse_shared_codes(asked)
    return asked


def _rules_of_providers() -> list[type[Rule[Any]]]:
    return [*FACT_RULES, *(rule for record in _known.values() for rule in record.rules)]
