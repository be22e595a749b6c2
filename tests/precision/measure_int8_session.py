"""What ONNX Runtime makes of int8 weights, by session setting; the table of ``docs/precision.md``.

From the repository root: ``PYTHONPATH=src python tests/precision/measure_int8_session.py``. One thread.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

from paddable.graph.io.read import read_model
from paddable.graph.io.write import to_proto
from paddable.precision import in_precision
from paddable.precision.int8 import SESSION_CONFIG

TEXT = """<ir_version: 10, opset_import: ["" : 18]>
net (float[1, 390, 1024] x) => (float[1, 390, 1024] y) { a = MatMul(x, first) b = Relu(a) y = MatMul(b, second) }"""


def main() -> None:
    """Print CPU seconds, medians of seven runs, and errors against fp32."""
    random, native = np.random.default_rng(0), onnx.parser.parse_model(TEXT)
    for name, rows, columns in (("first", 1024, 4096), ("second", 4096, 1024)):
        weight = (random.standard_normal((rows, columns)) / rows**0.5).astype(np.float32)
        native.graph.initializer.append(numpy_helper.from_array(weight, name))
    x = random.standard_normal((1, 390, 1024)).astype(np.float32)
    exact = None
    for name, config in (("fp32", {}), ("int8", {}), ("int8", SESSION_CONFIG)):
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        for key, value in config.items():
            options.add_session_config_entry(key, value)
        proto = to_proto(in_precision(read_model(native), name))
        session = ort.InferenceSession(proto.SerializeToString(), options)
        times = []
        for _ in range(7):
            start = time.process_time()
            (y,) = session.run(None, {"x": x})
            times.append(time.process_time() - start)
        exact = y if exact is None else exact
        print(f"{name} {config}: {statistics.median(times):.3f} s, {np.abs(y - exact).max() / np.abs(exact).max():.2e}")


if __name__ == "__main__":
    main()
