"""What can run here: the installed onnxruntime, its providers, and the parts of Paddable that are installed."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from paddable.errors import EXTRAS, MissingExtraError
from paddable.providers.advice import known_advice
from paddable.runtime.session.devices import Adapter, adapters
from paddable.runtime.session.flavours import import_onnxruntime, installed_flavours

__all__ = ["Environment", "environment"]


@dataclass(frozen=True)
class Environment:
    """What ``paddable doctor`` found.

    Attributes:
        system: Python, system and processor.
        flavours: installed packages that carry onnxruntime.
        version: of the onnxruntime that can be imported, None if none can.
        problem: what stands in the way, and what to do; empty if nothing does.
        providers: a row per provider: name, ONNX Runtime's name, whether it is here, how to get it, what it wants.
        adapters: graphics adapters of Windows, whose numbers ``device_id`` and ``--device`` take; elsewhere none.
        extras: extra of Paddable to the modules that it still lacks; none for a complete one.
    """

    system: str
    flavours: tuple[str, ...]
    version: str | None
    problem: str
    providers: tuple[dict[str, Any], ...]
    adapters: tuple[Adapter, ...]
    extras: dict[str, tuple[str, ...]]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "ok": not self.problem,
            "system": self.system,
            "onnxruntime": ", ".join(self.flavours) or None,
            "version": self.version,
            "problem": self.problem or None,
            "providers": list(self.providers),
            "adapters": [adapter.to_json() for adapter in self.adapters],
            "extras": [
                {"extra": extra, "complete": not lacking, "missing": ", ".join(lacking)}
                for extra, lacking in self.extras.items()
            ],
        }


def environment() -> Environment:
    """Look around; never fails."""
    version, problem, here = None, "", []
    try:
        onnxruntime = import_onnxruntime()
        version, here = onnxruntime.__version__, onnxruntime.get_available_providers()
    except MissingExtraError as error:
        problem = str(error)
    rows = tuple(
        {
            "provider": advice.name,
            "onnxruntime": advice.execution_provider,
            "here": advice.execution_provider in here,
            "shapes": "static" if advice.static else "any",
            "install": f'pip install ".[{advice.extra}]"' if advice.extra else "",
        }
        for advice in known_advice().values()
    )
    extras = {name: tuple(m for m in modules if find_spec(m) is None) for name, modules in EXTRAS.items()}
    system = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return Environment(system, tuple(installed_flavours()), version, problem, rows, tuple(adapters()), extras)
