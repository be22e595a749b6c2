"""``verify`` against a model that the padded one was not made from: one line, whatever is different."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from paddable.api import convert, verify
from paddable.errors import MisuseError, UnreadableError


def model(path: Path, x: str, y: str, body: str = "y = Neg(x)") -> Path:
    text = f'<ir_version: 8, opset_import: ["" : 17]> net (float[{x}] x) => (float[{y}] y) {{ {body} }}'
    onnx.save(onnx.parser.parse_model(text), path)
    return path


OTHERS = {
    "another rank": (("B, T, 3, 5", "B, T, 3, 5"), r"'x' is \[1, 8, 3\] in it and \[1, T, 3, 5\] in native"),
    "another size": (("B, T, 4", "B, T, 4"), r"'x' is \[1, 8, 3\] in it and \[1, T, 4\] in native"),
    "another output": (
        ("B, T, 3", "B, T, 6", "y = Concat<axis=2>(x, x)"),
        r"'y' is \[1, 8, 3\] in it and \[1, T, 6\] in native",
    ),
    "one more ragged axis": (("B, T, U", "B, T, U"), "axis 2 of input 'x' varies"),
    "a fixed length": (("B, 9, 3", "B, 9, 3"), "axis 1 has the fixed size 9"),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("out", ["padded.onnx", "bundle"])
def test_another_model_is_told_once(name: str, out: str, tmp_path: Path) -> None:
    shapes, told = OTHERS[name]
    native = model(tmp_path / "native.onnx", "B, T, 3", "B, T, 3")
    padded = convert(native, ["x:1=T"], containers=[8], out=tmp_path / out, gate_lengths=2)
    assert isinstance(padded, Path) and verify(padded, native, limit=2).ok
    with pytest.raises(
        MisuseError, match=rf"it was made from another model than it is compared with; .*{told}"
    ) as error:
        verify(padded, model(tmp_path / "other.onnx", *shapes))
    assert "\n" not in str(error.value) and out in str(error.value)


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ({"container": {"T": 6}}, r"its container is {'T': 6} in bundle.json and {'T': 8} in the file"),
        ({"precision": "fp16"}, r"its precision is fp16 in bundle.json and fp32 in the file"),
    ],
)
def test_a_graph_is_what_the_bundle_says_of_it(part: dict[str, object], told: str, tmp_path: Path) -> None:
    native = model(tmp_path / "native.onnx", "B, T, 3", "B, T, 3")
    convert(native, ["x:1=T"], containers=[8], out=tmp_path / "bundle", verify=False)
    place = tmp_path / "bundle" / "bundle.json"
    said = json.loads(place.read_text())
    said["graphs"][0] |= part
    place.write_text(json.dumps(said))
    with pytest.raises(UnreadableError, match=told):
        verify(tmp_path / "bundle", limit=2)
