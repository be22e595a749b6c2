"""Pack a dump of DirectML's kernel registry into the table that the placement model reads.

    python -m paddable.providers.directml.compile_table KERNELS.json FUSION.json >
    src/paddable/providers/directml/kernels.json

``KERNELS.json`` holds what ``onnxruntime_pybind11_state.get_all_opkernel_def()`` says on a real onnxruntime-directml;
``FUSION.json`` holds, for each operator and start version, what the provider's registration declares: whether the
kernel can join a fused graph, which inputs must be constants on the CPU, which support query it asks.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

__all__ = ["compile_table"]

_INTERNAL = "com.microsoft.dml"  # made by the provider's own fusions, never found in a file


def compile_table(kernels: dict[str, Any], fusion: dict[str, Any]) -> dict[str, Any]:
    """The packed table: ``kernels`` maps ``domain:operator`` to start versions, ``types`` the shared type sets."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in fusion["rows"]:
        rows.setdefault(f"{row['domain']}:{row['op']}", []).append(row)
    type_sets: dict[str, list[str]] = {}
    packed: dict[str, dict[str, Any]] = {}
    for kernel in kernels["kernels"]:
        if kernel["domain"] == _INTERNAL:
            continue
        key, since = f"{kernel['domain']}:{kernel['op']}", kernel["versions"][0]
        types = {name: _intern(type_sets, names) for name, names in kernel["type_constraints"].items()}
        entry = packed.setdefault(key, {})[str(since)] = {"types": types}
        entry.update(_graph_properties(rows.get(key, []), since))
    return {
        "source": kernels["source"],
        "fusion_source": fusion["source"],
        "types": type_sets,
        "kernels": {key: packed[key] for key in sorted(packed)},
    }


def _graph_properties(rows: list[dict[str, Any]], since: int) -> dict[str, Any]:
    """What the registration row with the greatest start not above ``since`` declares; a missing row is not fusable."""
    below = [row for row in rows if row["since"] <= since]
    # The contrib LayerNormalization-1 shares the first row of its table, which starts later than it does.
    row = max(below, key=lambda r: int(r["since"])) if below else min(rows, key=lambda r: int(r["since"]), default=None)
    if row is None:
        return {"fusable": None}
    properties: dict[str, Any] = {"fusable": row["graph_fusable"]}
    if row["required_constant_cpu_inputs"]:
        properties["cpu_inputs"] = row["required_constant_cpu_inputs"]
    if row["required_input_count_for_graph"]:
        properties["inputs"] = int(row["required_input_count_for_graph"])
    if row["support_query"]:
        properties["query"] = row["support_query"].removeprefix("Query")
    return properties


def _intern(type_sets: dict[str, list[str]], names: list[str]) -> str:
    members = sorted(name[7:-1] if name.startswith("tensor(") else name for name in names)
    for known, existing in type_sets.items():
        if existing == members:
            return known
    type_sets[f"t{len(type_sets)}"] = members
    return f"t{len(type_sets) - 1}"


if __name__ == "__main__":
    table = compile_table(*(json.loads(Path(path).read_text(encoding="utf-8")) for path in sys.argv[1:3]))
    lines = [f' "{key}": {json.dumps(value, separators=(",", ":"))}' for key, value in table["kernels"].items()]
    sets = [f' "{key}": {json.dumps(value, separators=(",", ":"))}' for key, value in table["types"].items()]
    head = "".join(f'"{key}": {json.dumps(table[key])},\n' for key in ("source", "fusion_source"))
    print("{\n" + head + '"types": {\n' + ",\n".join(sets) + '\n},\n"kernels": {\n' + ",\n".join(lines) + "\n}\n}")
