"""Where a converted graph runs on DirectML, by the placement model: nodes, fused graphs, copies.

python -m tests.providers.converted FOLDER [MODEL.onnx:INPUT:AXIS:STEPS[:LENGTH_INPUT] ...]

FOLDER holds the graphs of shared/zoo.py; each is converted at twice the length that the script prints. Exits with 1 if
an error-level finding is left, a node is predicted on the CPU, or a graph splits into more pieces than
1 + 2 x recurrent nodes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import onnx
import onnx_ir as ir

from paddable.api.building import padded
from paddable.api.opened import open_model
from paddable.providers.report import lint_for

STEPS = {"encodec_decoder_ts": 50, "fun_asr_nano": 100, "hifigan": 50, "speech2text": 200, "speech2text_ts": 200}
RECURRENT = ("LSTM", "GRU", "RNN")


def placed(name: str, graph: onnx.ModelProto | ir.Model) -> bool:
    """Print where the converted graph runs; whether that is as few pieces as can be."""
    report = lint_for(graph, "directml")
    placement = report.placement
    assert placement is not None
    errors = sum(finding.severity == "error" for finding in report.findings)
    recurrent = sum(node.node.op in RECURRENT for node in placement.nodes)
    pieces = len(placement.islands) + len(placement.kernels)
    good = not errors and not placement.cpu_nodes and pieces <= 1 + 2 * recurrent
    print(f"{name}: {placement}; {errors} errors, {recurrent} recurrent{'' if good else '  <-- missed'}", flush=True)
    return good


def converted(path: Path, lengths: list[str], held: list[str], steps: int) -> bool:
    graph = padded(open_model(path, lengths, length_inputs=held), {"T": steps}, "directml").model
    return placed(path.stem, graph)


def main(folder: str, *others: str) -> int:
    good = True
    for path in sorted(Path(folder).glob("*.onnx")):
        axis = 2 if path.stem == "encodec_decoder_ts" else 1
        good &= converted(path, [f"x:{axis}=T"], [], 2 * STEPS.get(path.stem, 16000))
    for other in others:
        name, source, axis, steps, *held = other.split(":")
        good &= converted(Path(name), [f"{source}:{axis}=T"], [f"{item}=T" for item in held], int(steps))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
