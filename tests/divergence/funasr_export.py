"""Our SenseVoice graph with a wrong weight in one block of 50, against FunASR's own export of the same random weights.

Needs funasr 1.4.16 beside torch 2.13.0. The width is 64, so that it is a matter of seconds.

python -m tests.divergence.funasr_export write FOLDER     ours.onnx, and theirs.onnx by FunASR's code
python -m tests.divergence.funasr_export probe FOLDER     a wrong weight in block 17 of ours, in each of its matrices
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

import paddable

SIZES = {"output_size": 64, "attention_heads": 4, "linear_units": 128, "num_blocks": 50, "tp_blocks": 20}
OURS = {"size": 64, "heads": 4, "hidden_size": 128, "blocks": 50, "tp_blocks": 20, "vocabulary": 100}
BLOCK, FRAMES = 17, 83


def write(folder: Path) -> None:
    import torch
    from funasr.models.sense_voice.export_meta import export_rebuild_model
    from funasr.models.sense_voice.model import SenseVoiceSmall

    from paddable.families.sense_voice.config import SenseVoiceConfig
    from paddable.families.sense_voice.export import export_sense_voice
    from paddable.families.sense_voice.model import SenseVoice

    torch.manual_seed(0)
    ours = SenseVoice(SenseVoiceConfig(**OURS)).eval()
    for parameter in ours.parameters():
        if parameter.ndim == 1:
            parameter.data += 0.1 * torch.randn_like(parameter)
    onnx.save(export_sense_voice(ours), folder / "ours.onnx")
    conf = {**SIZES, "kernel_size": 11}
    theirs = SenseVoiceSmall(encoder="SenseVoiceEncoderSmall", encoder_conf=conf, input_size=560, vocab_size=100).eval()
    theirs.load_state_dict(ours.state_dict())
    rebuilt = export_rebuild_model(theirs, max_seq_len=512, device="cpu")
    with torch.no_grad():
        torch.onnx.export(
            rebuilt,
            rebuilt.export_dummy_inputs(),
            folder / "theirs.onnx",
            opset_version=14,
            input_names=rebuilt.export_input_names(),
            output_names=rebuilt.export_output_names(),
            dynamic_axes=rebuilt.export_dynamic_axes(),
            dynamo=False,
        )


def probe(folder: Path) -> int:
    rng = np.random.default_rng(0)
    np.savez(
        folder / "x.npz",
        speech=rng.standard_normal((1, FRAMES, 560)).astype(np.float32),
        speech_lengths=np.array([FRAMES], np.int32),
        language=np.array([3]),
        textnorm=np.array([14]),
    )
    right = paddable.probe(folder / "ours.onnx", folder / "theirs.onnx", inputs=folder / "x.npz")
    print("as exported:", right.verdict, dict(right.matched))
    missed = not right.ok
    model = onnx.load(folder / "ours.onnx")
    weights = [t for t in model.graph.initializer if f".{BLOCK - 1}." in t.name and len(t.dims) > 1]
    nodes = {name: node for node in model.graph.node for name in node.input}
    for tensor in weights:
        faulty = onnx.ModelProto()
        faulty.CopyFrom(model)
        target = next(t for t in faulty.graph.initializer if t.name == tensor.name)
        array = numpy_helper.to_array(target).copy()
        array.flat[7] += 0.5
        target.CopyFrom(numpy_helper.from_array(array, target.name))
        onnx.save(faulty, folder / "faulty.onnx")
        report = paddable.probe(folder / "faulty.onnx", folder / "theirs.onnx", inputs=folder / "x.npz")
        named = report.fork is not None and tensor.name in nodes and nodes[tensor.name].name in report.fork.nodes
        missed |= not named
        print("named" if named else "MISSED", tensor.name, "->", report.verdict[:230], flush=True)
    return int(missed or not weights)


if __name__ == "__main__":
    what, place = sys.argv[1], Path(sys.argv[2])
    raise SystemExit(write(place) if what == "write" else probe(place))
