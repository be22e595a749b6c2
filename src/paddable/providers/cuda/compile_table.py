"""Pack ONNX Runtime's list of CUDA kernels into the table that the placement model reads.

    python -m paddable.providers.cuda.compile_table OperatorKernels.md SOURCE > src/paddable/providers/cuda/kernels.json

``OperatorKernels.md`` is ONNX Runtime's own list, generated from its registries (``docs/OperatorKernels.md``).
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

__all__ = ["compile_table"]


def compile_table(text: str, source: str) -> dict[str, Any]:
    """``kernels`` maps ``domain:operator`` to [first version, last version or null, constraint to type set]."""
    section = text.split('<a name="cudaexecutionprovider"/>')[1].split("<a name=")[0]
    sets: dict[tuple[str, ...], str] = {}
    kernels: dict[str, list[list[Any]]] = {}
    domain = op = ""
    for line in section.splitlines():
        if found := re.match(r"\|\*\*Operator Domain:\*\* \*(.+?)\*", line):
            domain = "" if found[1] == "ai.onnx" else found[1]
            continue
        cells = line.split("|")
        if len(cells) != 6 or not re.match(r"\[?\d+", cells[3]):
            continue
        op = cells[1] or op
        first, *rest = map(int, re.findall(r"\d+", cells[3]))
        last = None if cells[3].endswith("+") else (rest or [first])[0]
        types = {}
        for constraint, members in re.findall(r"\*\*(\w+)\*\* = ([^*]+?)(?:<br/>|$)", cells[4]):
            names = tuple(
                sorted(re.findall(r"^(?:tensor\()?(.+?)\)?$", part.strip())[0] for part in members.split(", "))
            )
            types[constraint] = sets.setdefault(names, f"t{len(sets)}")
        kernels.setdefault(f"{domain}:{op}", []).append([first, last, types])
    return {"source": source, "types": {name: list(members) for members, name in sets.items()}, "kernels": kernels}


if __name__ == "__main__":
    table = compile_table(Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[2])
    body = {
        part: ",\n".join(f' "{key}": {json.dumps(value, separators=(",", ":"))}' for key, value in table[part].items())
        for part in ("types", "kernels")
    }
    print(f'{{\n"source": {json.dumps(table["source"])},')
    print(f'"types": {{\n{body["types"]}\n}},\n"kernels": {{\n{body["kernels"]}\n}}\n}}')
