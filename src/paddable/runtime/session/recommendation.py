"""What to run speech models with on this machine: its devices, the state of each runtime, and an order."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["ROUTES", "Recommendation", "Route", "recommend"]


@dataclass(frozen=True)
class Route:
    """One way to run a model.

    Attributes:
        name: as people call it.
        package: what pip installs for it.
        system: ``Windows``, ``Darwin``, ``Linux``, or empty for all.
        device: what it needs, in the words of `devices`; empty for the processor, which is everywhere.
        state: ``maintained``, ``sustained engineering`` (only faults are mended), or ``no longer released``.
        successor: what its makers point to instead, if anything.
        why: for whom it is the right one.
    """

    name: str
    package: str
    system: str
    device: str
    state: str
    successor: str
    why: str


ROUTES = (
    Route(
        "Windows ML",
        "onnxruntime-windowsml",
        "Windows",
        "",
        "maintained",
        "",
        "brings OpenVINO, QNN, VitisAI and TensorRT-RTX as the machine needs them, with DirectML behind",
    ),
    Route(
        "DirectML",
        "onnxruntime-directml",
        "Windows",
        "GPU",
        "sustained engineering",
        "Windows ML",
        "every Direct3D 12 GPU, with one small package",
    ),
    Route("CUDA", "onnxruntime-gpu", "Windows", "NVIDIA GPU", "maintained", "", "fastest on NVIDIA"),
    Route(
        "torch-directml",
        "torch-directml",
        "Windows",
        "GPU",
        "no longer released",
        "Windows ML, with the model converted to ONNX",
        "only for PyTorch itself: 0.2.5 of September 2024 is bound to torch 2.4.1; see docs/torch_backends.md",
    ),
    Route("CoreML", "onnxruntime", "Darwin", "Apple GPU", "maintained", "", "GPU and neural engine, static shapes"),
    Route("MPS", "torch", "Darwin", "Apple GPU", "maintained", "", "for PyTorch itself"),
    Route("CUDA", "onnxruntime-gpu", "Linux", "NVIDIA GPU", "maintained", "", "fastest on NVIDIA"),
    Route("ROCm", "onnxruntime-rocm", "Linux", "AMD GPU", "no longer released", "MIGraphX", "removed after 1.22"),
    Route("MIGraphX", "onnxruntime-migraphx", "Linux", "AMD GPU", "maintained", "", "AMD GPUs with ROCm installed"),
    Route("OpenVINO", "onnxruntime-openvino", "Linux", "Intel GPU", "maintained", "", "Intel GPUs and NPUs"),
    Route("CPU", "onnxruntime", "", "", "maintained", "", "always there; on short clips often enough"),
)
"""In the order in which they are recommended on each system. The states are what the makers say (November 2026)."""


@dataclass(frozen=True)
class Recommendation:
    """What `recommend` found.

    Attributes:
        devices: found on this machine.
        routes: a row for each way that the system has: its version here if installed, its state, and whether to use it.
        use: the one to use, and why.
    """

    devices: tuple[str, ...]
    routes: tuple[dict[str, Any], ...]
    use: str

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "devices": list(self.devices), "routes": list(self.routes)}


def recommend(system: str | None = None, devices: Collection[str] | None = None) -> Recommendation:
    """Say what to use on this machine, or on another one.

    Args:
        system: ``Windows``, ``Darwin`` or ``Linux``; this machine's when None.
        devices: such as ``NVIDIA GPU``; those found here when None.
    """
    system = system or platform.system()
    found = tuple(devices) if devices is not None else _devices_of(system)
    routes = [route for route in ROUTES if route.system in ("", system)]
    fitting = [
        route
        for route in routes
        if route.state != "no longer released" and (not route.device or any(_is(d, route.device) for d in found))
    ]
    best = next((route for route in fitting if route.device == "NVIDIA GPU"), fitting[0])
    rows = tuple(
        {
            "route": route.name,
            "package": route.package,
            "version": _version(route.package),
            "state": route.state,
            "successor": route.successor,
            "fits": route in fitting,
            "why": route.why,
        }
        for route in routes
    )
    return Recommendation(found, rows, f"{best.name} ({best.package}): {best.why}")


def _is(device: str, wanted: str) -> bool:
    return device == wanted or (wanted == "GPU" and device.endswith("GPU"))


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _devices_of(system: str) -> tuple[str, ...]:
    """What can be seen without a driver's library; on Windows every desktop has a Direct3D 12 GPU."""
    nvidia = bool(shutil.which("nvidia-smi")) or Path("/dev/nvidia0").exists()
    seen: dict[str, Callable[[], bool]] = {
        "NVIDIA GPU": lambda: nvidia,
        "AMD GPU": lambda: system == "Linux" and Path("/dev/kfd").exists(),
        "Intel GPU": lambda: system == "Linux" and _has_vendor("0x8086"),
        "Apple GPU": lambda: system == "Darwin" and platform.machine() == "arm64",
        "GPU": lambda: system == "Windows" and not nvidia,
    }
    return tuple(name for name, is_here in seen.items() if is_here())


def _has_vendor(vendor: str) -> bool:
    cards = Path("/sys/class/drm").glob("card*/device/vendor")
    return any(card.read_text(encoding="ascii", errors="ignore").strip() == vendor for card in cards)
