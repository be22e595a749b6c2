"""Where the CUDA provider runs each graph, by its own profile, and what capture makes of those that are static.

python -m tests.gpu.placement GRAPH.onnx ...

For every graph: nodes, those on the CPU and copies between memories, and the distance to the CPU's outputs (with TF32
off). A graph made for cuda is captured as well, at other inputs than those that are compared. Exits with 1 if one that
says it can be captured has a node on the CPU, is not captured, or is further than 1e-5 of scale from the CPU (2e-2 in
half precision), or if one that says it cannot is captured all the same.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort

from paddable.bundle import KEY
from paddable.bundle.state import STEP_METADATA_KEY
from paddable.runtime.session.binding import bind
from paddable.runtime.session.device_session import DeviceSession
from paddable.runtime.session.dtypes import DTYPES

OPTIONS = {"use_tf32": "0", "cudnn_conv_algo_search": "HEURISTIC"}
SIZES = (100, 400, 2000, 16000)
"""Tried for open axes, the smallest that runs."""


def feeds_of(session: ort.InferenceSession) -> dict[str, np.ndarray]:
    """Random inputs that the graph accepts."""
    for size in SIZES:
        random = np.random.default_rng(0)
        feeds: dict[str, np.ndarray] = {}
        for node in session.get_inputs():
            dtype = DTYPES[node.type]
            shape = [d if isinstance(d, int) else (1 if i == 0 else size) for i, d in enumerate(node.shape)]
            if dtype.kind == "f":
                feeds[node.name] = (0.1 * random.standard_normal(shape)).astype(dtype)
            elif dtype.kind == "b":
                feeds[node.name] = np.ones(shape, dtype)
            else:
                feeds[node.name] = np.full(shape, 3 if len(shape) == 1 else 7, dtype)
        meta = session.get_modelmeta().custom_metadata_map.get(KEY)
        for name in json.loads(meta)["length_inputs"] if meta else ():
            feeds[name] = np.array(
                [3 * max(json.loads(meta)["container"].values(), default=size) // 4], feeds[name].dtype
            )
        try:
            session.run(None, feeds)
        except Exception:
            continue
        return feeds
    raise ValueError("no size fits")


def profiled(path: Path, feeds: dict[str, np.ndarray]) -> tuple[dict[str, tuple[str, str]], list[np.ndarray]]:
    """Provider and operator of each node that ran, and the outputs."""
    options = ort.SessionOptions()
    options.enable_profiling, options.log_severity_level = True, 4
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = f"{folder}/run"
        session = ort.InferenceSession(path, options, providers=[("CUDAExecutionProvider", OPTIONS)])
        assert session.get_providers()[0] == "CUDAExecutionProvider", session.get_providers()
        outputs = session.run(None, feeds)
        events = json.loads(Path(session.end_profiling()).read_text())
    nodes = {
        event["name"].removesuffix("_kernel_time"): (event["args"]["provider"], event["args"]["op_name"])
        for event in events
        if event.get("cat") == "Node" and "provider" in event.get("args", {})
    }
    return nodes, outputs


def distance(got: Any, want: np.ndarray) -> float:
    """Of scale for floats; the share of unequal entries for others."""
    if want.dtype.kind != "f":
        return float((np.asarray(got) != want).mean()) if want.size else 0.0
    wide = want.astype(np.float64)
    return float(np.abs(np.asarray(got) - wide).max() / max(np.abs(wide).max(), 1e-6)) if want.size else 0.0


def captured(path: Path, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Outputs of a replay at inputs other than those that it was captured with."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    providers = [("CUDAExecutionProvider", OPTIONS | {"enable_cuda_graph": "1"}), "CPUExecutionProvider"]
    session = ort.InferenceSession(path, options, providers=providers, enable_fallback=0)
    on = DeviceSession(session, "cuda", bind=True, captured=True)
    binding = bind(on, feeds)
    assert binding is not None
    on.exclusively(lambda: binding.run({name: np.zeros_like(array) for name, array in feeds.items()}))
    on.exclusively(lambda: binding.run(feeds))
    return [binding.read(node.name) for node in session.get_outputs()]


def _says_it_can(session: ort.InferenceSession) -> bool | None:
    """Whether a graph made for cuda says that it can be captured; None for others."""
    meta = session.get_modelmeta().custom_metadata_map
    if STEP_METADATA_KEY in meta:
        return True
    advice = json.loads(meta[KEY])["advice"].get("cuda") if KEY in meta else None
    return bool(advice["static_options"]) if advice else None


def _in_half(path: Path) -> bool:
    weights = onnx.load(path, load_external_data=False).graph.initializer
    return any(tensor.data_type == onnx.TensorProto.FLOAT16 for tensor in weights)


def main(*paths: str) -> int:
    wrong = 0
    report: dict[str, Any] = {}
    for path in map(Path, paths):
        cpu = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
        feeds = feeds_of(cpu)
        want = cpu.run(None, feeds)
        nodes, got = profiled(path, feeds)
        on_cpu = {name: op for name, (provider, op) in nodes.items() if provider.startswith("CPU")}
        copies = sorted(op for _, op in nodes.values() if op.startswith("Memcpy"))
        error = max(map(distance, got, want))
        line = f"{path.stem}: {len(nodes)} nodes, {len(on_cpu)} on the CPU {dict(Counter(on_cpu.values())) or ''}, "
        line += f"{len(copies)} copies, {error:.1e} from the CPU"
        report[str(path)] = {"cpu": on_cpu, "copies": len(copies), "nodes": len(nodes)}
        if (can := _says_it_can(cpu)) is not None:
            allowed = 2e-2 if _in_half(path) else 1e-5
            try:
                replayed = max(map(distance, captured(path, feeds), want))
                line += f"; replayed {replayed:.1e}"
            except Exception as failure:
                replayed = float("inf")
                line += f"; not captured: {str(failure)[:160]}"
            good = error <= allowed and (not (on_cpu or copies) and replayed <= allowed if can else replayed > allowed)
            wrong += not good
            line += "" if good else "  <-- missed"
        print(line, flush=True)
    print(json.dumps(report))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
