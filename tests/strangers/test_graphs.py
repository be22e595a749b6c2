"""The smallest graphs of what strangers' exports need (`shared/strangers/graphs.py`), one row and two.

Each converts, and its padded file equals native at every length beside junk.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from click.testing import CliRunner, Result

from paddable.cli.main import paddable

pytestmark = pytest.mark.shared

CONTAINER = 24
ENDS = {"legacy_relative_shift": 20}
"""The longest length of a graph whose table ends before the container of the others."""
LENGTHS = (3, 4, 5, 11, 12, 13, 20, 23, 24)

THROUGH = [
    ("edge_pad_to_multiple", "x:1=T", 1),
    ("partial_rotary_all", "x:1=T", 1),
    ("pool_ceil_mode", "x:2=T", 1),
    ("constant_scatter", "x:1=T", 1),
    ("frames_by_unfold", "x:1=T", 1),
    ("frames_by_unfold", "x:1=T", 2),
    ("log_bucket_rows", "x:1=T", 1),
    ("log_bucket_rows", "x:1=T", 2),
    ("flip_fixed_axis_rows", "x:2=T", 1),
    ("flip_fixed_axis_rows", "x:2=T", 2),
    ("dft_of_frames", "x:1=T", 1),
    ("pick_own_row", "x:1=T", 1),
    ("pick_own_row", "x:1=T", 2),
    ("quotient_of_lengths", "x:1=T", 1),
    ("centred_table_pad", "x:1=T", 1),
    ("resize_to_size", "x:2=T", 1),
    ("hf_mask", "x:1=T --mask-input mask:1=T", 1),
    ("hf_mask", "x:1=T --mask-input mask:1=T", 2),
    ("packed_unsorted", "x:1=T --length-input n=T", 1),
    ("packed_unsorted", "x:1=T --length-input n=T", 2),
    ("legacy_relative_shift", "x:1=T", 1),
]


@pytest.fixture(scope="module")
def graphs(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graphs")
    script = shared / "strangers" / "graphs.py"
    subprocess.run([sys.executable, str(script), str(folder)], check=True, capture_output=True, timeout=300)
    return folder


def _convert(graphs: Path, name: str, spec: str, rows: int) -> Result:
    batch = ["--batch-size", str(rows)] if rows > 1 else []
    words = (
        "convert", str(graphs / f"{name}.onnx"), "-o", str(graphs / f"{name}.{rows}.onnx"), "--force",
        "--container", str(ENDS.get(name, CONTAINER)), "--gate-lengths", "4", "--length", *spec.split(), *batch,
    )  # fmt: skip
    return CliRunner().invoke(paddable, words)


@pytest.mark.parametrize(("name", "spec", "rows"), THROUGH)
def test_it_goes_through(graphs: Path, name: str, spec: str, rows: int) -> None:
    done = _convert(graphs, name, spec, rows)
    assert done.exit_code == 0, (done.output, done.exception)
    native, padded = (
        ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        for path in (graphs / f"{name}.onnx", graphs / f"{name}.{rows}.onnx")
    )
    axis, others = int(spec.split(":")[1][0]), [i.name for i in native.get_inputs()[1:]]
    shortest = {"hf_mask": 10}.get(name, 1)
    largest = ENDS.get(name, CONTAINER)
    tried = [count for count in LENGTHS if shortest <= count <= largest]
    shape = [size if isinstance(size, int) else 1 for size in native.get_inputs()[0].shape]
    rng = np.random.default_rng(7)
    for k, first in enumerate(tried):
        lengths = [tried[(k + row) % len(tried)] if row else first for row in range(rows)]
        box = np.full([largest if i == axis else rows if i == 0 else size for i, size in enumerate(shape)], 3.7, "f4")
        wanted = []
        for row, count in enumerate(lengths):
            signal = rng.standard_normal([count if i == axis else size for i, size in enumerate(shape)], dtype="f4")
            box[(slice(row, row + 1), *(slice(size) for size in signal.shape[1:]))] = signal
            held = {"mask": np.ones((1, count), np.int64), "n": np.array([count], np.int64)}
            wanted.append(native.run(None, {"x": signal, **{other: held[other] for other in others}})[0])
        (holder,) = (i.name for i in padded.get_inputs() if i.name != "x")
        found = padded.run(["y"], {"x": box, holder: np.array(lengths, np.int64)})[0]
        for row, answer in enumerate(wanted):
            own = found[(slice(row, row + 1), *(slice(size) for size in answer.shape[1:]))]
            np.testing.assert_allclose(own, answer, rtol=1e-5, atol=1e-5)
