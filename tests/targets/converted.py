"""Where a converted graph runs on DirectML, by the placement model: nodes, fused graphs, copies.

python -m tests.targets.converted FOLDER [MODEL.onnx:INPUT:AXIS:STEPS[:LENGTH_INPUT] ...]

FOLDER holds the graphs of shared/zoo.py; each is converted at twice the length that the script prints. Exits with 1 if
an error-level finding is left, a node is predicted on the CPU, or a graph splits into more pieces than
1 + 2 x recurrent nodes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from paddable.build.converting import padded
from paddable.build.opened import open_model
from paddable.targets.report import lint_for

STEPS = {"encodec_decoder_ts": 50, "fun_asr_nano": 100, "hifigan": 50, "speech2text": 200, "speech2text_ts": 200}
RECURRENT = ("LSTM", "GRU", "RNN")


def placed(path: Path, lengths: list[str], held: list[str], steps: int) -> bool:
    graph, _ = padded(open_model(path, lengths, length_inputs=held), {"T": steps}, "directml")
    report = lint_for(graph, "directml")
    placement = report.placement
    assert placement is not None
    errors = sum(finding.severity == "error" for finding in report.findings)
    recurrent = sum(node.op_type in RECURRENT for node in graph.graph)
    text = str(placement)
    pieces = int(text.split(" in ")[1].split()[0]) + int(text.split(" fused graphs, ")[1].split()[0])
    on_cpu = int(text.split("of their own, ")[1].split()[0])
    good = not errors and not on_cpu and pieces <= 1 + 2 * recurrent
    print(f"{path.stem}: {text}; {errors} errors, {recurrent} recurrent{'' if good else '  <-- missed'}", flush=True)
    return good


def main(folder: str, *others: str) -> int:
    good = True
    for path in sorted(Path(folder).glob("*.onnx")):
        axis = 2 if path.stem == "encodec_decoder_ts" else 1
        good &= placed(path, [f"x:{axis}=T"], [], 2 * STEPS.get(path.stem, 16000))
    for other in others:
        name, source, axis, steps, *held = other.split(":")
        good &= placed(Path(name), [f"{source}:{axis}=T"], [f"{item}=T" for item in held], int(steps))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
