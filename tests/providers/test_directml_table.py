"""The packaged kernel table holds what the provider's registry says, exactly."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import onnx
import pytest

from paddable.linter.view.graph import NodeView
from paddable.providers.directml.compile_table import compile_table
from paddable.providers.directml.kernels import registry

pytestmark = pytest.mark.shared

INTERNAL = "com.microsoft.dml"


def read(path: Path) -> dict:  # type: ignore[type-arg]
    return json.loads(path.read_text(encoding="utf-8"))


def test_table_is_compiled_from_the_dump(shared: Path) -> None:
    kernels = read(shared / "reference" / "dml_kernels.json")
    packaged = json.loads(files("paddable.providers.directml").joinpath("kernels.json").read_text(encoding="utf-8"))
    assert packaged == compile_table(kernels, read(shared / "reference" / "dml_fusion.json"))
    count = sum(len(versions) for versions in packaged["kernels"].values())
    assert count == sum(kernel["domain"] != INTERNAL for kernel in kernels["kernels"])


def test_every_kernel_is_found_with_its_types(shared: Path) -> None:
    for row in read(shared / "reference" / "dml_kernels.json")["kernels"]:
        if row["domain"] == INTERNAL:
            continue
        node = NodeView(onnx.helper.make_node(row["op"], [], [], domain=row["domain"]), 0, row["versions"][0])
        kernel = registry().find(node)
        assert kernel is not None, row
        plain = {
            name: {
                t.removeprefix("tensor(").removesuffix(")")
                for t in row["type_constraints"][name]
                if t.startswith("tensor(")
            }
            for name in row["type_constraints"]
        }
        for name, types in plain.items():
            assert types <= kernel.types[name]


def test_gaps_of_each_opset(shared: Path) -> None:
    """The recorded operators without a kernel at an opset are the ones that the exact-version rule gives."""
    for opset, row in read(shared / "reference" / "dml_opset_gaps.json")["by_opset"].items():
        if int(opset) > onnx.defs.onnx_opset_version():
            continue
        missing = []
        for key in {kernel.op: kernel for kernel in registry().all() if kernel.domain == ""}:
            try:
                since = onnx.defs.get_schema(key, int(opset)).since_version
            except onnx.defs.SchemaError:
                continue
            node = NodeView(onnx.helper.make_node(key, [], []), 0, since)
            if registry().find(node) is None:
                missing.append([key, since])
        assert sorted(missing) == sorted(row["missing"]), opset
