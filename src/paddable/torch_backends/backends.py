"""The backends that are known, by name and by the type of their device."""

from __future__ import annotations

from paddable.errors import MisuseError
from paddable.torch_backends.directml import TORCH_DIRECTML
from paddable.torch_backends.faults import Backend

__all__ = ["BACKENDS", "backend_named", "backend_of"]

BACKENDS = {backend.name: backend for backend in (TORCH_DIRECTML,)}


def backend_named(name: str) -> Backend:
    """A backend by its name.

    Raises:
        MisuseError: none is called so.
    """
    if name not in BACKENDS:
        raise MisuseError(f"no PyTorch backend is called {name!r}", fix=f"choose one of {', '.join(BACKENDS)}")
    return BACKENDS[name]


def backend_of(device_type: str) -> Backend | None:
    """The backend that owns a type of device, None if it is not known."""
    return next((backend for backend in BACKENDS.values() if backend.device_type == device_type), None)
