"""Nodes name the user's line and module, whichever exporter wrote them."""

from __future__ import annotations

import onnx_ir as ir
import pytest

from paddable.findings import Source, portable_paths
from paddable.graph.trace import STACK_TRACE, module_path, source

TORCH = 'File "/venv/lib/python3.11/site-packages/torch/nn/functional.py", line 9, in f\n    return g()'
USER = 'File "/home/me/model.py", line 27, in forward\n    return self.f(x)'
LIBRARY = 'File "/venv/lib/python3.11/site-packages/transformers/modeling.py", line 1299, in forward\n    x = y'
GENERATED = 'File "<eval_with_key>.137", line 19, in forward\n    z'
TORCHAUDIO = 'File "C:\\env\\Lib\\site-packages\\torchaudio\\conv.py", line 5, in forward\n    z'


def node(**about: object) -> ir.Node:
    return ir.node("Neg", [ir.val("x")], **about)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("frames", "want"),
    [
        ([USER], Source("/home/me/model.py", 27)),
        ([USER, LIBRARY, TORCH], Source("/venv/lib/python3.11/site-packages/transformers/modeling.py", 1299)),
        ([USER, TORCHAUDIO, TORCH], Source("C:\\env\\Lib\\site-packages\\torchaudio\\conv.py", 5)),
        ([USER, TORCH, GENERATED], Source("/home/me/model.py", 27)),
        ([TORCH], Source("/venv/lib/python3.11/site-packages/torch/nn/functional.py", 9)),
        ([portable_paths(USER), portable_paths(TORCH)], Source("model.py", 27)),
        ([], None),
    ],
)
def test_innermost_frame_outside_torch(frames: list[str], want: Source | None) -> None:
    assert source(node(metadata_props={STACK_TRACE: "\n  ".join(frames)})) == want


def test_torchscript_writes_the_frames_into_the_doc_string() -> None:
    frames = ("/venv/site-packages/torch/nn/modules/conv.py(301): forward", "/home/me/net.py(12): forward")
    doc = "\n".join((*frames, "/home/me/run.py(3): main"))
    assert source(node(doc_string=doc)) == Source("/home/me/net.py", 12)
    assert source(node()) is None


@pytest.mark.parametrize(
    ("about", "want"),
    [
        (
            {"metadata_props": {"pkg.torch.onnx.name_scopes": "['', 'encoder', 'encoder.layers.0', 'add']"}},
            "encoder.layers.0",
        ),
        ({"metadata_props": {"pkg.torch.onnx.name_scopes": "['', 'add']"}}, None),
        ({"metadata_props": {"pkg.torch.onnx.name_scopes": "['', 'broken"}}, None),
        ({"name": "/encoder/layers.0/self_attn/MatMul_1"}, "encoder.layers.0.self_attn"),
        ({"name": "/layers.0/front/front.0/front.0.1/Conv"}, "layers.0.front.0.1"),  # parts of two Sequentials
        ({"name": "/MatMul_1"}, None),
        ({"name": "node_add"}, None),
    ],
)
def test_module_path(about: dict[str, object], want: str | None) -> None:
    assert module_path(node(**about)) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ('File "/home/a b/my model.py", line 1', 'File "my model.py", line 1'),
        ('File "C:\\Users\\a b\\m.py", line 1', 'File "m.py", line 1'),
        ('File "C:/env/Lib/site-packages/pkg/m.py", line 1', 'File "pkg/m.py", line 1'),
        ('File "pkg/m.py", line 1, in f\n    a = b / c', 'File "pkg/m.py", line 1, in f\n    a = b / c'),
        ("/home/me/net.py(12): forward\n/home/me/run.py(3): main", "net.py(12): forward\nrun.py(3): main"),
    ],
)
def test_portable_paths(text: str, want: str) -> None:
    assert portable_paths(text) == want
    assert portable_paths(want) == want
