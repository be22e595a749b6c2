"""What ONNX Runtime makes of int8 weights, by session setting; the tables of ``docs/precision.md``.

From the repository root: ``PYTHONPATH=src python tests/precision/measure_int8_session.py``. One thread. Of int8-static,
ranges are those of the input and what goes into the second product, in 8 and in 16 bits.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

from paddable.graph.io.read import read_model
from paddable.graph.io.write import to_proto
from paddable.precision import in_precision
from paddable.precision.convert import INPUTS_AS_WRITTEN
from paddable.precision.int8 import SESSION_CONFIG

TEXT = """<ir_version: 10, opset_import: ["" : 21]>
net (float[1, 390, 1024] x) => (float[1, 390, 1024] y) { a = MatMul(x, first) b = Relu(a) y = MatMul(b, second) }"""

FIXED = {bits: {"x": (-5.0, 5.0, bits), "b": (0.0, 5.0, bits)} for bits in (8, 16)}

ROUNDS = 9


def main() -> None:
    """Print CPU seconds, medians of interleaved runs, and errors against fp32 and against what is written."""
    random, native = np.random.default_rng(0), onnx.parser.parse_model(TEXT)
    for name, rows, columns in (("first", 1024, 4096), ("second", 4096, 1024)):
        weight = (random.standard_normal((rows, columns)) / rows**0.5).astype(np.float32)
        native.graph.initializer.append(numpy_helper.from_array(weight, name))
    x = random.standard_normal((1, 390, 1024)).astype(np.float32)
    sessions = {}
    for name, bits, config in (
        ("fp32", 0, {}),
        ("int8", 0, {}),
        ("int8", 0, SESSION_CONFIG),
        ("int8-static", 8, {}),
        ("int8-static", 8, INPUTS_AS_WRITTEN),
        ("int8-static", 16, {}),
        ("int8-static", 16, INPUTS_AS_WRITTEN),
    ):
        made = to_proto(in_precision(read_model(native), name, fixed=FIXED.get(bits))).SerializeToString()
        (written,) = opened(made, {}, optimise=False).run(None, {"x": x})
        sessions[f"{name} {bits or ''} {config}"] = opened(made, config), written
    times: dict[str, list[float]] = {name: [] for name in sessions}
    for _ in range(ROUNDS):
        for name, (session, _) in sessions.items():
            start = time.process_time()
            session.run(None, {"x": x})
            times[name].append(time.process_time() - start)
    exact = next(iter(sessions.values()))[1]
    for name, (session, written) in sessions.items():
        (y,) = session.run(None, {"x": x})
        apart = [np.abs(y - other).max() / np.abs(other).max() for other in (exact, written)]
        print(f"{name}: {statistics.median(times[name]):.3f} s, {apart[0]:.2e} of fp32, {apart[1]:.2e} of the file")


def opened(model: bytes, config: Mapping[str, str], *, optimise: bool = True) -> ort.InferenceSession:
    """A session of one thread."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    if not optimise:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    for key, value in config.items():
        options.add_session_config_entry(key, value)
    return ort.InferenceSession(model, options)


if __name__ == "__main__":
    main()
