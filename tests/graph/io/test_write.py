"""What is written equals what was read, is the same bytes each time, and appears whole or not at all."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import onnxruntime
import pytest
from onnx import numpy_helper

from paddable.errors import MisuseError
from paddable.graph.io.read import read_model
from paddable.graph.io.write import to_proto, write_model, write_shared
from paddable.graph.trace import STACK_TRACE

from .models import LARGE, dense


def loaded(path: Path) -> onnx.ModelProto:
    """The whole model; where its weights lay is forgotten."""
    model = onnx.load(path)
    for tensor in model.graph.initializer:
        tensor.ClearField("data_location")
    return model


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("external", [False, True])
def test_round_trip_keeps_the_model(tmp_path: Path, external: bool) -> None:
    proto = dense()
    proto.graph.initializer[0].doc_string = "weight"
    proto.metadata_props.add(key="k", value="v")
    path = write_model(read_model(proto), tmp_path / "m.onnx", external_data=external)
    onnx.checker.check_model(path, full_check=True)
    assert loaded(path) == proto
    assert names(tmp_path) == (["m.onnx", "m.onnx.data"] if external else ["m.onnx"])


def test_reading_its_own_file_again(tmp_path: Path) -> None:
    path = write_model(read_model(dense()), tmp_path / "m.onnx")
    first = path.read_bytes()
    write_model(read_model(path), path)  # the file is replaced while its old bytes are being read
    assert path.read_bytes() == first


def test_same_input_same_bytes_in_another_process(tmp_path: Path) -> None:
    write_model(read_model(dense()), tmp_path / "a.onnx")
    script = (
        "import sys; from paddable.graph.io.read import read_model; from paddable.graph.io.write import write_model;"
        "write_model(read_model(sys.argv[1]), sys.argv[2])"
    )
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        arguments = [sys.executable, "-c", script, str(tmp_path / "a.onnx"), str(tmp_path / f"{seed}.onnx")]
        subprocess.run(arguments, check=True, env=environment)
    assert len({(tmp_path / name).read_bytes() for name in ("a.onnx", "1.onnx", "2.onnx")}) == 1


def test_the_model_in_memory_equals_the_file(tmp_path: Path) -> None:
    model = read_model(dense())
    assert to_proto(model) == onnx.load(write_model(model, tmp_path / "m.onnx"))


def test_strings_and_four_bits(tmp_path: Path) -> None:
    model = read_model(dense())
    packed = ir.tensor(np.arange(-8, 7, dtype=np.int8), dtype=ir.DataType.INT4, name="four")
    words = ir.StringTensor(np.array([b"a", "é".encode()]), name="words")
    for tensor in (packed, words):
        model.graph.register_initializer(ir.Value(name=tensor.name, const_value=tensor))
    stored = {t.name: t for t in onnx.load(write_model(model, tmp_path / "m.onnx")).graph.initializer}
    assert numpy_helper.to_array(stored["four"]).astype(int).tolist() == list(range(-8, 7))
    assert list(stored["words"].string_data) == [b"a", "é".encode()]


def test_quantisation_annotations_survive(tmp_path: Path) -> None:
    proto = dense()
    for tensor in ("w", "h"):
        annotation = proto.graph.quantization_annotation.add(tensor_name=tensor)
        annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="s")
    written = onnx.load(write_model(read_model(proto), tmp_path / "m.onnx"))
    assert sorted(entry.tensor_name for entry in written.graph.quantization_annotation) == ["h", "w"]


def test_shared_weights_lie_once_and_aligned(tmp_path: Path) -> None:
    models = {f"{size}.onnx": read_model(dense(large=LARGE * 4)) for size in (10, 20)}
    models["other.onnx"] = read_model(dense(seed=1, large=LARGE * 4))
    write_shared(models, tmp_path / "weights.data")
    places = {}
    for name, model in models.items():
        tensor = onnx.load(tmp_path / name, load_external_data=False).graph.initializer[0]
        places[name] = {entry.key: entry.value for entry in tensor.external_data}
        assert int(places[name]["offset"]) % 65536 == 0
        assert loaded(tmp_path / name) == to_proto(model)
    assert places["10.onnx"] == places["20.onnx"] != places["other.onnx"]
    assert (tmp_path / "weights.data").stat().st_size == 2 * LARGE * 4 * 4


def test_small_weights_stay_in_the_file(tmp_path: Path) -> None:
    path = write_model(read_model(dense()), tmp_path / "m.onnx", external_data=True)
    small = onnx.load(path, load_external_data=False).graph.initializer[1]
    assert small.name == "s" and not small.external_data


def test_existing_file_is_replaced_only_by_force(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_text("precious")
    with pytest.raises(MisuseError, match="exists already"):
        write_model(read_model(dense()), path, force=False)
    assert path.read_text() == "precious"
    write_model(read_model(dense()), path, force=True)
    assert onnx.load(path) == dense()


@contextmanager
def full_disk(after: int) -> Iterator[None]:
    """Every file may grow to ``after`` bytes only: the write fails as on a full disk, in the middle."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (after, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("external", [False, True])
@pytest.mark.parametrize("before", [False, True])
def test_full_disk_leaves_what_was_there(tmp_path: Path, external: bool, before: bool) -> None:
    model = read_model(dense())
    if before:
        (tmp_path / "m.onnx").write_text("old")
    with full_disk(100_000), pytest.raises(MisuseError, match="nothing was written") as raised:
        write_model(model, tmp_path / "m.onnx", external_data=external)
    assert "\n" not in str(raised.value)
    assert names(tmp_path) == (["m.onnx"] if before else [])
    if before:
        assert (tmp_path / "m.onnx").read_text() == "old"


def test_absent_folder(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="No such file"):
        write_model(read_model(dense()), tmp_path / "none" / "m.onnx")


def test_an_error_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> ir.TensorProtocol:
        raise RuntimeError("weights gone")

    model = read_model(dense())
    model.graph.initializers["w"].const_value = ir.LazyTensor(
        fail, dtype=ir.DataType.FLOAT, shape=ir.Shape([LARGE]), name="w"
    )
    with pytest.raises(RuntimeError, match="weights gone"):
        write_model(model, tmp_path / "m.onnx")
    assert names(tmp_path) == []


def test_traces_lose_absolute_paths_on_request(tmp_path: Path) -> None:
    proto = dense()
    trace = 'File "/home/me/model.py", line 3, in forward\n  File "/opt/site-packages/lib/nn.py", line 9, in f'
    proto.graph.node[0].metadata_props.add(key=STACK_TRACE, value=trace)
    model = read_model(proto)
    write_model(model, tmp_path / "m.onnx", keep_traces=False)
    written = onnx.load(tmp_path / "m.onnx").graph.node[0].metadata_props[0].value
    assert written == 'File "model.py", line 3, in forward\n  File "lib/nn.py", line 9, in f'
    assert next(iter(model.graph)).metadata_props[STACK_TRACE] == trace  # the model itself is unchanged


MEMORY = """
import sys
from pathlib import Path
from paddable.graph.prepare.normalise import normalise
from paddable.graph.io.read import read_model
from paddable.graph.io.write import write_model
model = normalise(read_model(sys.argv[1]))
model.graph.initializers["s"].name = "t"
write_model(model, sys.argv[2])
print(Path("/proc/self/status").read_text())
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from Linux's /proc")
def test_memory_of_a_fresh_process_stays_near_the_file(tmp_path: Path) -> None:
    """The bound of the whole product is 2.2 times the file; imports weigh more here than in an 880 MB file."""
    path = tmp_path / "m.onnx"
    path.write_bytes(dense(large=64 << 20).SerializeToString())
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = [sys.executable, "-c", MEMORY, str(path), str(tmp_path / "out.onnx")]
    status = subprocess.run(arguments, check=True, env=environment, capture_output=True, text=True).stdout
    peak = 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])  # type: ignore[index]
    assert peak < 1.6 * path.stat().st_size


def test_an_absent_output_in_front_of_a_present_one_has_a_name() -> None:
    """ONNX Runtime merges equal nodes that lack different outputs, and then cannot load the file."""
    model = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 17]> g (float[T, 1, 2] x) => (float[T, 1, 1, 1] y, float[1, 1, 1] c)
           <float[1, 4, 2] w = {1, 2, 3, 4, 5, 6, 7, 8}, float[1, 4, 1] r = {1, 2, 3, 4}> {
           all = LSTM <hidden_size = 1> (x, w, r) , , cell = LSTM <hidden_size = 1> (x, w, r)
           y = Neg (all) c = Neg (cell) }"""
    )
    written = to_proto(read_model(model))
    assert [len(node.output) for node in written.graph.node if node.op_type == "LSTM"] == [1, 3]
    names = [name for node in written.graph.node for name in node.output]
    assert all(names) and len(set(names)) == len(names)
    onnxruntime.InferenceSession(written.SerializeToString(), providers=["CPUExecutionProvider"])
