"""Converted graphs on another execution provider against the CPU provider of the same runtime.

python elsewhere.py openvino|webgpu FOLDER

Needs numpy and the provider's runtime alone, so it is run as a file, in the provider's environment. FOLDER is made by
`tests.providers.elsewhere_make`. Each graph is run on a full container, on a shorter clip with random junk behind it,
and on the same clip with NaN behind it. Exits with 1 if an output is off by more than 1e-4 of its largest CPU value, or
an operator fell to the CPU that is not known to.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnxruntime as ort

TOLERANCE = 1e-4  # of scale
NAMES = {"openvino": "OpenVINOExecutionProvider", "webgpu": "WebGpuExecutionProvider"}
FALLS_TO_CPU: dict[str, set[str]] = {
    "openvino": set(),
    # 64-bit arithmetic of lengths and masks, IsNaN, and transposes that the runtime's optimiser moves beside them.
    "webgpu": {"Add", "Cast", "Div", "IsNaN", "Less", "Mul", "Transpose", "Where"},
}


def opened(path: Path, target: str) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if target == "cpu":
        return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    if target == "webgpu":
        devices = [device for device in ort.get_ep_devices() if device.ep_name == NAMES[target]]
        options.add_provider_for_devices(devices[:1], {})
        return ort.InferenceSession(path, options)
    return ort.InferenceSession(path, options, providers=[(NAMES[target], {"device_type": "CPU"})])


def feeds(path: Path) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    stored = np.load(path)
    x, (full, short) = stored["x"], stored["ilens"]
    axis = list(x.shape).index(full)
    nan = x.copy()
    nan[(slice(None),) * axis + (slice(short, None),)] = np.nan
    for title, data, steps in (("full", x, full), ("short, random junk", x, short), ("short, NaN", nan, short)):
        yield title, {"x": data, "ilens": np.array([steps], np.int64)}


def off(expected: list[np.ndarray], got: list[np.ndarray]) -> float:
    """Largest difference of an output, of its largest CPU value; lengths have to be equal."""
    worst = 0.0
    for one, other in zip(expected, got, strict=True):
        if one.dtype.kind != "f":
            worst = max(worst, 0.0 if np.array_equal(one, other) else np.inf)
        else:
            error = np.abs(one - other).max() / max(np.abs(one).max(), 1e-6)
            worst = max(worst, float(error) if np.isfinite(error) else np.inf)
    return worst


def places(session: ort.InferenceSession) -> dict[str, Counter[str]]:
    """The operators that each provider took, after the runtime's own optimisations."""
    where: dict[str, Counter[str]] = {}
    for part in session.get_provider_graph_assignment_info():
        where.setdefault(part.ep_name, Counter()).update(node.op_type for node in part.get_nodes())
    return where


def compared(path: Path, target: str) -> bool:
    try:
        other = opened(path, target)
    except Exception as error:
        print(f"{path.stem}: does not load: {str(error)[:300]}")
        return False
    native = opened(path, "cpu")
    errors = {}
    for title, feed in feeds(path.with_suffix(".npz")):
        try:
            errors[title] = off(native.run(None, feed), other.run(None, feed))
        except Exception as error:
            print(f"{path.stem}, {title}: {str(error)[:300]}")
            errors[title] = np.inf
    where = places(other)
    there = where.pop(NAMES[target], Counter()).total()
    fallen = sum(where.values(), Counter())
    good = max(errors.values()) <= TOLERANCE and there > 0 and set(fallen) <= FALLS_TO_CPU[target]
    shown = ", ".join(f"{title} {error:.1e}" for title, error in errors.items())
    on_cpu = f"{fallen.total()} on the CPU ({', '.join(sorted(fallen))})" if fallen else "none on the CPU"
    print(f"{path.stem}: {there} nodes there, {on_cpu}; {shown}{'' if good else '  <-- missed'}", flush=True)
    return good


def main(target: str, folder: str) -> int:
    print(f"onnxruntime {ort.__version__}, {NAMES[target]}, Python {sys.version.split()[0]}")
    if target == "webgpu":
        import onnxruntime_ep_webgpu

        ort.register_execution_provider_library(NAMES[target], onnxruntime_ep_webgpu.get_library_path())
    good = [compared(path, target) for path in sorted(Path(folder).glob("*.onnx"))]
    print(f"{sum(good)} of {len(good)} graphs agree with the CPU to {TOLERANCE:g} of scale")
    sys.stdout.flush()
    return 0 if good and all(good) else 1


if __name__ == "__main__":
    os._exit(main(*sys.argv[1:]))  # without the teardown of a provider that is still loaded
