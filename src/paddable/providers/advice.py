"""The session advice that is known: our own, that of installed packages, and what a program registers.

Standard library alone, since the runtime asks here. A package names its advice as an entry point of the group
``paddable.session_advice``.
"""

from __future__ import annotations

from collections.abc import Mapping

from paddable.errors import MisuseError
from paddable.plugins import plugins
from paddable.providers.coreml import advice as coreml
from paddable.providers.cpu import advice as cpu
from paddable.providers.cuda import advice as cuda
from paddable.providers.directml import advice as directml
from paddable.providers.openvino import advice as openvino
from paddable.providers.qnn import advice as qnn
from paddable.providers.session_advice import SessionAdvice
from paddable.providers.tensorrt_rtx import advice as tensorrt_rtx
from paddable.providers.vitisai import advice as vitisai
from paddable.providers.webgpu import advice as webgpu

__all__ = ["ENTRY_POINTS", "known_advice", "register_advice", "session_advice"]

ENTRY_POINTS = "paddable.session_advice"
"""Entry point group; each entry names a `SessionAdvice`."""

_known: dict[str, SessionAdvice] = {
    module.ADVICE.name: module.ADVICE
    for module in (cpu, directml, cuda, openvino, webgpu, tensorrt_rtx, qnn, vitisai, coreml)
}


def register_advice(advice: SessionAdvice) -> None:
    """Add the advice for one more provider.

    Raises:
        MisuseError: there is other advice for a provider of that name.
    """
    if _known.setdefault(advice.name, advice) != advice:
        raise MisuseError(f"there is session advice for {advice.name!r} already", fix="choose another name")


def known_advice() -> Mapping[str, SessionAdvice]:
    """The advice for each provider, by our name."""
    for advice in plugins(ENTRY_POINTS):
        register_advice(advice)
    return _known


def session_advice(name: str) -> SessionAdvice:
    """The advice for a provider, by our name.

    Raises:
        MisuseError: no provider has that name.
    """
    known = known_advice()
    if name not in known:
        raise MisuseError(f"no provider is called {name!r}", fix=f"choose one of {', '.join(known)}")
    return known[name]
