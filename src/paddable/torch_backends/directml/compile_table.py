"""Sort the measured cases of torch-directml by fault, into the small table that ships with the product.

    python -m paddable.torch_backends.directml.compile_table CASES.json > torch_directml.json

``CASES.json`` holds what 1,083 calls gave on a real torch-directml, each against the CPU in one process. Every case
that is not right must belong to exactly one fault of `TORCH_DIRECTML`, or the script says which one does not. The order
of the patterns decides: a narrower one stands before a wider one.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

__all__ = ["PATTERNS", "compile_table", "fault_of"]

PATTERNS: tuple[tuple[str, str], ...] = (
    (r"inference_mode", "inference-mode"),
    (r"autocast_fp16", "autocast"),
    (r"load_map_location|torch\.load|state_dict_save_load", "load"),
    (r"device='(dml|directml)", "device-name"),
    (r"mixed_device_add", "two-devices"),
    (r"\.numpy\(\)", "numpy"),
    (r"bfloat16", "bfloat16"),
    (r"stft|istft|rfft|complex|polar", "complex"),
    (r"LSTM", "lstm"),
    (r"GRU", "gru"),
    (r"float64 sin", "float64-sine"),
    (r"float64 (add )?accuracy|cumsum float64 accuracy|float64 add accuracy", "float64-in-float32"),
    (r"^full 2\.5|zeros/ones/full", "full-of-floats"),
    (r"float\*bool then conv1d|conv1d_(bool|int64)", "convolution-of-integers"),
    (r"\*=?bool|bool\*|\* bool|mul_?\((\w+,bool|bool,\w+)\)", "number-times-bool"),
    (r"masked_fill_", "masked-fill-of-view"),
    (r"sub\(\w+,uint8\)|-uint8", "minus-uint8"),
    (r"sub\((\w+,bool|bool,\w+)\)", "cpu-refuses-too"),
    (r"floordiv\(\w+,bool\)", "floor-divide-by-bool"),
    (r"floordiv", "floor-divide-of-two-dtypes"),
    (r"where\(", "where-of-two-dtypes"),
    (r"pow\(", "pow-of-bytes"),
    (r"uint8\.sum", "sum-of-uint8"),
    (r"fp16_sum_overflow", "sum-of-halves"),
    (r"bool\.max", "bool-max"),
    (r"\bcat_0d|gather_int32|view_after_transpose", "cpu-refuses-too"),
    (r"empty slice|empty\)|^x\[:,5:5\]|^x\[:,9:\]", "empty-slice"),
    (r"cat_zero_length|empty cat", "cat-with-empty"),
    (r"empty pad", "pad-empty"),
    (r"empty layer_norm", "layer-norm-of-empty"),
    (r"empty repeat", "repeat-no-times"),
    (r"zero_size_(matmul|linear)|empty linear|embedding_empty|empty embedding", "product-of-empty"),
    (r"sum\(\d?\) of an empty", "sum-of-nothing"),
    (r"argmax of \[0", "argmax-of-nothing"),
    (r"scatter_add_(zeros|expanded)", "scatter-add-longer-than-target"),
    (r"scatter_add", "scatter-add-repeated"),
    (r"^one_hot|^scatter (partially|-1)", "scatter-in-part"),
    (r"out_of_range|negative_idx", "index-out-of-range"),
    (r"^eye|median dim|kthvalue", "empty-result"),
    (r"outpad", "output-padding"),
    (r"conv_transpose1d.groups", "transposed-convolution-in-groups"),
    (r"avg_pool", "avg-pool-ceil"),
    (r"max_pool", "max-pool-ceil"),
    (r"pad_mixed", "pad-of-mixed-sign"),
    (r"PReLU 4d", "prelu-of-four-axes"),
    (r"prelu", "prelu-of-several-weights"),
    (r"layer_norm_2dims", "layer-norm-of-two-axes"),
    (r"repeat_5d", "repeat-of-five-axes"),
    (r"cdist p1", "distance-of-order-1"),
    (r"quantile", "quantile"),
    (r"F\.pad|ConstantPad", "pad-nothing"),
    (r"y\[|pad_sequence|pad_list|narrow|chunk|split|squeeze write|\+=", "write-into-view-of-view"),
)
"""Patterns in the name of a case, and the fault; `cpu-refuses-too` is none of the backend's."""

_WITHOUT_FLOAT64 = (
    (r"^full 2\.5|zeros/ones/full", "full-of-doubles"),
    (r"1\.0-|rsub|1-bool_mask_float", "float-minus-tensor"),
    (r"", "float64"),
)


def fault_of(name: str, patterns: tuple[tuple[str, str], ...] = PATTERNS) -> str:
    """The fault that a case shows, by its name.

    Raises:
        LookupError: no pattern fits.
    """
    for pattern, code in patterns:
        if re.search(pattern, name):
            return code
    raise LookupError(f"no fault is known for the case {name!r}")


def compile_table(measured: dict[str, Any]) -> dict[str, Any]:
    """The table: ``faults`` by code, with cases and texts; ``on_the_cpu`` lists operators."""
    faults: dict[str, dict[str, Any]] = {}
    on_the_cpu: set[str] = set()
    for record in measured["records"]:
        if record["outcome"] == "ok":
            on_the_cpu.update(record.get("cpu_fallback", ()))
        else:
            _add(faults, fault_of(record["name"]), record)
        if "without_float64" in record:
            _add(faults, fault_of(record["name"], _WITHOUT_FLOAT64), record["without_float64"])
    faults.pop("cpu-refuses-too", None)
    return {
        "source": f"{measured['about']['software']}; {measured['about']['device']}",
        "cases": measured["about"]["outcomes"],
        "faults": dict(sorted(faults.items())),
        "on_the_cpu": sorted(on_the_cpu),
    }


def _add(faults: dict[str, dict[str, Any]], code: str, outcome: dict[str, Any]) -> None:
    entry = faults.setdefault(code, {"cases": 0, "outcomes": {}, "messages": []})
    entry["cases"] += 1
    entry["outcomes"][outcome["outcome"]] = entry["outcomes"].get(outcome["outcome"], 0) + 1
    message = outcome.get("message", "").partition(" This could be because")[0]
    if message and message not in entry["messages"] and len(entry["messages"]) < 3:
        entry["messages"].append(message)


if __name__ == "__main__":
    table = compile_table(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    lines = [f' "{code}": {json.dumps(entry, separators=(",", ":"))}' for code, entry in table.pop("faults").items()]
    print(json.dumps(table, indent=1, ensure_ascii=False)[:-2] + ',\n "faults": {\n' + ",\n".join(lines) + "\n }\n}")
