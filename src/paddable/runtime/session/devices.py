"""The graphics adapters of Windows, by the numbers that DirectML gives them: DXGI counts them, asked through ctypes."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Adapter", "adapters"]


@dataclass(frozen=True)
class Adapter:
    """One adapter.

    Attributes:
        device: its number, for ``device_id`` and ``--device``.
        name: as the driver calls it.
        memory: bytes of its own.
        software: whether it is drawn by the CPU; DirectML refuses such a one.
    """

    device: int
    name: str
    memory: int
    software: bool

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def adapters(dxgi: Any = None) -> list[Adapter]:
    """The adapters of this machine, in DXGI's order; none where there is no DXGI, and where it does not answer.

    Args:
        dxgi: the library, for tests; ``dxgi.dll`` by default.
    """
    try:
        library = dxgi or ctypes.WinDLL("dxgi")  # type: ignore[attr-defined,unused-ignore]
        return list(_enumerated(library))
    except (AttributeError, OSError):
        return []


_METHOD = getattr(ctypes, "WINFUNCTYPE", ctypes.CFUNCTYPE)  # tests call through the C convention of their own system
_RELEASE, _ENUM_ADAPTERS, _GET_DESC = 2, 12, 10  # places in the tables of IUnknown, IDXGIFactory1 and IDXGIAdapter1
_SOFTWARE = 2  # DXGI_ADAPTER_FLAG_SOFTWARE


class _Guid(ctypes.Structure):
    _fields_ = (
        ("first", ctypes.c_uint32),
        ("second", ctypes.c_uint16),
        ("third", ctypes.c_uint16),
        ("rest", ctypes.c_ubyte * 8),
    )


_IID_FACTORY1 = _Guid(0x770AAE78, 0xF26F, 0x4DBA, (ctypes.c_ubyte * 8)(*bytes.fromhex("a829253c83d1b387")))


class _Description(ctypes.Structure):
    """DXGI_ADAPTER_DESC1."""

    _fields_ = (
        ("name", ctypes.c_uint16 * 128),
        ("vendor", ctypes.c_uint32),
        ("model", ctypes.c_uint32),
        ("subsystem", ctypes.c_uint32),
        ("revision", ctypes.c_uint32),
        ("memory", ctypes.c_size_t),
        ("system_memory", ctypes.c_size_t),
        ("shared_memory", ctypes.c_size_t),
        ("luid_low", ctypes.c_uint32),
        ("luid_high", ctypes.c_int32),
        ("flags", ctypes.c_uint32),
    )


def _enumerated(library: Any) -> Iterator[Adapter]:
    factory = ctypes.c_void_p()
    if library.CreateDXGIFactory1(ctypes.byref(_IID_FACTORY1), ctypes.byref(factory)) or not factory:
        return
    try:
        number = 0
        while True:
            adapter = ctypes.c_void_p()
            if _call(factory, _ENUM_ADAPTERS, ctypes.c_uint32(number), ctypes.byref(adapter)) or not adapter:
                return
            described = _Description()
            failed = _call(adapter, _GET_DESC, ctypes.byref(described))
            _call(adapter, _RELEASE)
            name = bytes(described.name).decode("utf-16-le", "replace").partition("\0")[0]
            if not failed:
                yield Adapter(number, name, described.memory, bool(described.flags & _SOFTWARE))
            number += 1
    finally:
        _call(factory, _RELEASE)


def _call(thing: ctypes.c_void_p, place: int, *arguments: Any) -> int:
    """A method of a COM object: the pointer at ``place`` in the table to which its first word points."""
    table = ctypes.cast(thing, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))[0]
    types = (type(argument) if isinstance(argument, ctypes.c_uint32) else ctypes.c_void_p for argument in arguments)
    method = _METHOD(ctypes.c_int32, ctypes.c_void_p, *types)
    return int(method(table[place])(thing, *arguments))
