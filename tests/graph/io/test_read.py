"""Any stranger's file is read without its weights, or refused in one line that says what to do."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper, numpy_helper

from paddable.errors import PaddableError, RefusedError, UnreadableError
from paddable.graph.io.read import read_model

from .models import LARGE, dense, text


def save(model: onnx.ModelProto, path: Path) -> Path:
    path.write_bytes(model.SerializeToString())
    return path


def external(folder: Path) -> Path:
    """A model whose large weight lies in ``weights.bin``."""
    path = folder / "m.onnx"
    onnx.save(dense(), path, save_as_external_data=True, location="weights.bin", size_threshold=1024)
    return path


def relocate(path: Path, **entries: str) -> Path:
    """Changes the external data entries of the large weight."""
    model = onnx.load(path, load_external_data=False)
    for entry in model.graph.initializer[0].external_data:
        entry.value = entries.get(entry.key, entry.value)
    return save(model, path)


def weight(model: ir.Model, name: str = "w") -> np.ndarray:
    tensor = model.graph.initializers[name].const_value
    assert tensor is not None
    return tensor.numpy()


def test_weights_are_views_of_the_file(tmp_path: Path) -> None:
    path = save(dense(), tmp_path / "m.onnx")
    model = read_model(path)
    values = weight(model)
    assert not values.flags.owndata and not values.flags.writeable
    assert np.array_equal(values, numpy_helper.to_array(dense().graph.initializer[0]))
    assert weight(model, "s") == 2.0


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float64, np.int8, np.uint8, np.int64, np.bool_, ml_dtypes.bfloat16, ml_dtypes.int4]
)
def test_every_type_of_weight(tmp_path: Path, dtype: type) -> None:
    want = np.random.default_rng(0).integers(-8, 7, (3, LARGE + 1)).astype(dtype)
    model = dense()
    model.graph.initializer[0].CopyFrom(ir.to_proto(ir.tensor(want, name="w")))
    got = weight(read_model(save(model, tmp_path / "m.onnx")))
    assert got.dtype == want.dtype and np.array_equal(got, want)


def test_weights_in_constants_branches_and_functions_are_views_too(tmp_path: Path) -> None:
    model = text(
        """m (bool c, float[T] x) => (float[T] y) {
            y = If (c) <
                then_branch = t () => (float[T] a) { a = Identity(x) },
                else_branch = e () => (float[T] b) { b = Identity(x) }
            >
        }"""
    )
    branch = model.graph.node[0].attribute[0].g
    constant = numpy_helper.from_array(np.arange(LARGE, dtype=np.float32), "k")
    branch.node.insert(0, helper.make_node("Constant", [], ["k"], value=constant))
    branch.node[1].input[0] = "k"
    read = read_model(save(model, tmp_path / "m.onnx"))
    (constant_node,) = [node for node in ir.traversal.RecursiveGraphIterator(read.graph) if node.op_type == "Constant"]
    values = constant_node.attributes["value"].as_tensor().numpy()
    assert not values.flags.owndata and np.array_equal(values, np.arange(LARGE, dtype=np.float32))


def test_external_data(tmp_path: Path) -> None:
    values = weight(read_model(external(tmp_path)))
    assert not values.flags.owndata
    assert np.array_equal(values, numpy_helper.to_array(dense().graph.initializer[0]))


def test_data_file_named_by_a_windows_path_in_a_folder_beyond_ascii(tmp_path: Path) -> None:
    folder = tmp_path / "модель 音声"
    (folder / "weights").mkdir(parents=True)
    path = external(folder)
    shutil.move(folder / "weights.bin", folder / "weights" / "wéights.bin")
    relocate(path, location="weights\\wéights.bin")
    assert weight(read_model(path)).shape == (LARGE,)


def test_linked_cache_is_followed(tmp_path: Path) -> None:
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshot"
    blobs.mkdir(), snapshot.mkdir()
    shutil.move(external(tmp_path), blobs / "1")
    shutil.move(tmp_path / "weights.bin", blobs / "2")
    (snapshot / "m.onnx").symlink_to(blobs / "1")
    (snapshot / "weights.bin").symlink_to(blobs / "2")
    assert weight(read_model(snapshot / "m.onnx")).shape == (LARGE,)


def test_a_proto_is_read_in_place() -> None:
    model = read_model(dense())
    assert np.array_equal(weight(model), numpy_helper.to_array(dense().graph.initializer[0]))


# Each: what is done to the folder -> (path, what the message must say).
BAD: dict[str, Callable[[Path], tuple[Path | onnx.ModelProto, str]]] = {}


def bad(case: Callable[[Path], tuple[Path | onnx.ModelProto, str]]) -> None:
    BAD[case.__name__] = case


@bad
def absent(folder: Path) -> tuple[Path, str]:
    return folder / "none.onnx", "No such file.*check the path"


@bad
def directory(folder: Path) -> tuple[Path, str]:
    save(dense(), folder / "a.onnx")
    return folder, r"directory.*a\.onnx"


@bad
def empty(folder: Path) -> tuple[Path, str]:
    (folder / "m.onnx").touch()
    return folder / "m.onnx", "empty.*again"


@bad
def prose(folder: Path) -> tuple[Path, str]:
    (folder / "m.onnx").write_text("This is not a model at all, however long it may go on.")
    return folder / "m.onnx", "not an ONNX model.*exporter"


@bad
def checkpoint(folder: Path) -> tuple[Path, str]:
    (folder / "m.onnx").write_bytes(b"PK\x03\x04 archive/data.pkl")
    return folder / "m.onnx", "zip archive.*PyTorch"


@bad
def labels(folder: Path) -> tuple[Path, str]:
    (folder / "m.onnx").write_text("<blk> 0\na 1\n")
    return folder / "m.onnx", "not an ONNX model but text; give the"


@bad
def pointer(folder: Path) -> tuple[Path, str]:
    (folder / "m.onnx").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
    return folder / "m.onnx", "Git LFS pointer.*git lfs pull"


@bad
def other_message(folder: Path) -> tuple[Path, str]:
    tensor = numpy_helper.from_array(np.zeros(3, np.float32), "t")
    (folder / "m.onnx").write_bytes(tensor.SerializeToString())
    return folder / "m.onnx", "not an ONNX model"


@bad
def truncated_in_a_weight(folder: Path) -> tuple[Path, str]:
    path = save(dense(), folder / "m.onnx")
    path.write_bytes(path.read_bytes()[:-1000])
    return path, "truncated.*again"


@bad
def truncated_in_the_structure(folder: Path) -> tuple[Path, str]:
    path = save(text("m (float[T] x) => (float[T] y) { y = Neg(x) }"), folder / "m.onnx")
    path.write_bytes(path.read_bytes()[:-20])
    return path, "truncated"


@bad
def weights_absent(folder: Path) -> tuple[Path, str]:
    path = external(folder)
    (folder / "weights.bin").unlink()
    return path, r"weights\.bin.*'w'.*put it into"


@bad
def weights_short(folder: Path) -> tuple[Path, str]:
    path = external(folder)
    data = folder / "weights.bin"
    data.write_bytes(data.read_bytes()[:-4])
    return path, r"weights\.bin.*'w' should end at byte 262144.*262140"


@bad
def weights_of_another_size(folder: Path) -> tuple[Path, str]:
    return relocate(external(folder), length="12"), "'w' has 12 bytes.*takes 262144"


@bad
def weights_above(folder: Path) -> tuple[Path, str]:
    (folder / "inner").mkdir()
    (folder / "secret").write_bytes(bytes(4 * LARGE))
    return relocate(external(folder / "inner"), location="../secret"), "outside the model's folder"


@bad
def weights_above_the_windows_way(folder: Path) -> tuple[Path, str]:
    return relocate(external(folder), location="..\\secret"), "outside the model's folder"


@bad
def weights_by_absolute_path(folder: Path) -> tuple[Path, str]:
    return relocate(external(folder), location=str(folder / "weights.bin")), "outside the model's folder"


@bad
def weights_on_a_drive(folder: Path) -> tuple[Path, str]:
    return relocate(external(folder), location="C:\\weights.bin"), "outside the model's folder"


@bad
def inline_weight_of_another_size(folder: Path) -> tuple[Path, str]:
    model = dense()
    model.graph.initializer[0].dims[0] = LARGE + 1
    return save(model, folder / "m.onnx"), "'w' has 262144 bytes"


@bad
def proto_without_its_weights(folder: Path) -> tuple[onnx.ModelProto, str]:
    return onnx.load(external(folder), load_external_data=False), r"weights\.bin.*pass the model's path"


@bad
def opset_10(folder: Path) -> tuple[Path, str]:
    model = dense()
    model.opset_import[0].version = 10
    return save(model, folder / "m.onnx"), "opset 10 is older than 11.*opset_version=18"


@bad
def opset_25(folder: Path) -> tuple[Path, str]:
    model = dense()
    model.opset_import[0].version = 25
    return save(model, folder / "m.onnx"), "opset 25 is newer than 24"


def test_lint_reads_every_opset_that_onnx_knows(tmp_path: Path) -> None:
    newest = onnx.defs.onnx_opset_version()
    model = dense()
    model.opset_import[0].version = newest
    assert read_model(save(model, tmp_path / "m.onnx"), for_lint=True).opset_imports[""] == newest
    model.opset_import[0].version = newest + 1
    with pytest.raises(RefusedError, match=f"opset {newest + 1} is newer than {newest}, .*opset_version=18"):
        read_model(save(model, tmp_path / "m.onnx"), for_lint=True)


@bad
def no_opset(folder: Path) -> tuple[Path, str]:
    model = dense()
    del model.opset_import[:]
    return save(model, folder / "m.onnx"), "declares no ONNX opset"


@bad
def custom_operator(folder: Path) -> tuple[Path, str]:
    model = dense()
    model.graph.node[0].domain = "com.example"
    return save(model, folder / "m.onnx"), r"'add' \(Add\) is a custom operator of 'com\.example'"


@bad
def unknown_operator(folder: Path) -> tuple[Path, str]:
    model = dense()
    model.graph.node[0].op_type = "Addd"
    return save(model, folder / "m.onnx"), r"'add' \(Addd\) is not an operator of ONNX opset 18"


@bad
def deprecated_operator(folder: Path) -> tuple[Path, str]:
    model = dense()
    model.graph.node[0].op_type = "Upsample"
    return save(model, folder / "m.onnx"), r"Upsample\) is not an operator"


@bad
def too_many_inputs(folder: Path) -> tuple[Path, str]:
    model = dense()
    model.graph.node[0].input.append("s")
    return save(model, folder / "m.onnx"), r"'add' \(Add\) has 3 inputs, 2 to 2"


@bad
def value_produced_twice(folder: Path) -> tuple[Path, str]:
    model = dense()
    model.graph.node[0].output[0] = "y"
    return save(model, folder / "m.onnx"), "'y' of the graph is produced twice"


@bad
def value_never_produced(folder: Path) -> tuple[Path, str]:
    model = dense()
    model.graph.node[0].input[1] = "nowhere"
    return save(model, folder / "m.onnx"), r"'add' \(Add\) reads 'nowhere'"


@bad
def output_never_produced(folder: Path) -> tuple[Path, str]:
    model = dense()
    model.graph.output[0].name = "z"
    return save(model, folder / "m.onnx"), "output 'z' of the graph"


@bad
def initialiser_twice(folder: Path) -> tuple[Path, str]:
    model = dense()
    model.graph.initializer[1].name = "w"
    return save(model, folder / "m.onnx"), "'w' of the graph is stored twice"


@bad
def input_twice(folder: Path) -> tuple[Path, str]:
    model = dense()
    model.graph.input.append(model.graph.input[0])
    return save(model, folder / "m.onnx"), "two inputs"


@bad
def input_without_elements(folder: Path) -> tuple[Path, str]:
    return save(text("m (float[2,0] x) => (float[2,0] y) { y = Neg(x) }"), folder / "m.onnx"), "size 0 at axis 1"


@bad
def cycle(folder: Path) -> tuple[Path, str]:
    model = text("m (float[1,T] x) => (float[1,T] y) { a = Add(x, b) b = Neg(a) y = Neg(b) }")
    return save(model, folder / "m.onnx"), "cycle"


@bad
def sparse_weight(folder: Path) -> tuple[Path, str]:
    model = dense()
    values = helper.make_tensor("sparse_w", TensorProto.FLOAT, [1], [1.0])
    indices = helper.make_tensor("i", TensorProto.INT64, [1], [3])
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [LARGE]))
    return save(model, folder / "m.onnx"), "'sparse_w' is a sparse tensor.*dense"


@bad
def sparse_constant(folder: Path) -> tuple[Path, str]:
    model = text("m (float[3] x) => (float[3] y) { y = Add(x, k) }")
    values = helper.make_tensor("v", TensorProto.FLOAT, [1], [1.0])
    sparse = helper.make_sparse_tensor(values, helper.make_tensor("i", TensorProto.INT64, [1], [2]), [3])
    model.graph.node.insert(0, helper.make_node("Constant", [], ["k"], name="k", sparse_value=sparse))
    return save(model, folder / "m.onnx"), r"'k' \(Constant\) is a sparse tensor"


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_that_tells_what_to_do(case: str, tmp_path: Path) -> None:
    path, message = BAD[case](tmp_path)
    with pytest.raises((UnreadableError, RefusedError)) as raised:
        read_model(path)
    error = raised.value
    assert isinstance(error, PaddableError) and error.fix
    assert "\n" not in str(error)
    assert re.search(message, str(error)), str(error)


def test_functions_of_the_model_and_contrib_operators_are_no_custom_operators(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 18, "mine" : 1, "com.microsoft" : 1]>
        m (float[T] x) => (float[T] y) { h = mine.Twice(x) y = com.microsoft.QuickGelu(h) }
        <domain: "mine", opset_import: ["" : 18]> Twice (a) => (b) { b = Add(a, a) }"""
    )
    assert len(read_model(save(model, tmp_path / "m.onnx")).functions) == 1


def test_nodes_out_of_order_are_sorted(tmp_path: Path) -> None:
    model = dense()
    nodes = list(model.graph.node)[::-1]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    assert [node.op_type for node in read_model(save(model, tmp_path / "m.onnx")).graph] == ["Add", "Mul"]
