"""Other exports of SenseVoiceSmall beside ours: nodes, Where, what padding does to the logits, and CPU time.

The same random weights in every graph, features in, one thread. Exits with 1 where our native graph is slower than an
export of the same function (upper 95% bound of the ratio above 1.05), or where our container changes the logits.
Usage: python tests/models/full_size/others.py FOLDER SHERPA, with a checkout of k2-fsa/sherpa-onnx.
"""

from __future__ import annotations

import importlib.util
import logging
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import MethodType

import numpy as np
import onnx
import onnxruntime
import torch
from funasr.models.sense_voice.export_meta import export_rebuild_model
from funasr.models.sense_voice.model import SenseVoiceSmall
from sense_voice import ENCODER, distance, random_weights
from torch import Tensor, nn

import paddable
from paddable.exporters.sense_voice import export_sense_voice
from paddable.models.sense_voice import SenseVoice, SenseVoiceConfig

Run = Callable[[np.ndarray, int], np.ndarray]
"""Features [1, T, 560] and how many of them are valid, to logits."""

BOX, VALID = 500, 50
"""30 s, and the 3 s of it that are speech."""

ZH, WITH_ITN = 3, 14
PAIRS = 21


def as_sherpa_calls_it(self: nn.Module, x: Tensor, x_length: Tensor, language: Tensor, text_norm: Tensor) -> Tensor:
    """What scripts/sense-voice/export-onnx.py of sherpa-onnx puts in place of FunASR's forward."""
    tags = self.embed(torch.tensor([[1, 2]])).repeat(x.size(0), 1, 1)
    x = torch.cat((self.embed(language).unsqueeze(1), tags, self.embed(text_norm).unsqueeze(1), x), dim=1)
    encoded = self.encoder(x, x_length + 4)
    return self.ctc.ctc_lo(encoded[0] if isinstance(encoded, tuple) else encoded)


def sherpa_static(checkout: Path, weights: dict[str, Tensor]) -> nn.Module:
    """The module behind sherpa-onnx's exports of one fixed size (rknn, qnn)."""
    spec = importlib.util.spec_from_file_location("sherpa", checkout / "scripts/sense-voice/rknn/torch_model.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = module.SenseVoiceSmall(neg_mean=torch.zeros(560), inv_stddev=torch.ones(560)).eval()
    model.load_state_dict(weights)
    return model


def write_all(folder: Path, checkout: Path) -> None:
    """ours.onnx, ours/ (a container of 30 s), funasr.onnx, sherpa.onnx, and sherpa's fixed sizes of 3 and 30 s."""
    ours = random_weights(SenseVoice(SenseVoiceConfig()))
    onnx.save_model(export_sense_voice(ours), folder / "ours.onnx", save_as_external_data=True, location="ours.bin")
    paddable.convert(folder / "ours.onnx", ["speech:1=T"], containers=[BOX], out=folder / "ours", verify=False)

    def legacy(module: nn.Module, example: tuple[Tensor, ...], file: str, names: list[str], axes: dict) -> None:
        torch.onnx.export(
            module, example, folder / file, opset_version=14, input_names=names, dynamic_axes=axes, dynamo=False
        )  # fmt: skip

    for seconds, frames in ((3, VALID), (30, BOX)):
        static = sherpa_static(checkout, ours.state_dict())
        example = torch.randn(1, frames, 560), torch.tensor([ZH, 1, 2, WITH_ITN])
        legacy(static, example, f"sherpa-{seconds}.onnx", ["x", "prompt"], {})
    original = SenseVoiceSmall(
        encoder="SenseVoiceEncoderSmall", encoder_conf={**ENCODER, "kernel_size": 11}, input_size=560, vocab_size=25055
    ).eval()
    original.load_state_dict(ours.state_dict())
    plain_forward = original.forward
    original.forward = MethodType(as_sherpa_calls_it, original)
    names = ["x", "x_length", "language", "text_norm"]
    example = torch.randn(2, 100, 560), *(torch.tensor(row, dtype=torch.int32) for row in ([80, 100], [0, 3], [14, 15]))
    legacy(original, example, "sherpa.onnx", names, {"x": {0: "N", 1: "T"}, **{name: {0: "N"} for name in names[1:]}})
    original.forward = plain_forward
    rebuilt = export_rebuild_model(original, max_seq_len=512, device="cpu")
    legacy(
        rebuilt,
        rebuilt.export_dummy_inputs(),
        "funasr.onnx",
        rebuilt.export_input_names(),
        rebuilt.export_dynamic_axes(),
    )


def session(file: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def runner(folder: Path, name: str) -> Run:
    """A graph behind one call."""
    opened = session(folder / name)

    def numbers(*values: int, dtype: type = np.int32) -> list[np.ndarray]:
        return [np.array([value], dtype) for value in values]

    def feeds(features: np.ndarray, valid: int) -> dict[str, np.ndarray]:
        if name.startswith("ours"):
            language, norm = numbers(ZH, WITH_ITN, dtype=np.int64)
            given = {"speech": features, "language": language, "textnorm": norm}
            return given | ({"ilens": np.array([valid])} if name != "ours.onnx" else {})
        if name.startswith("sherpa-"):
            return {"x": features, "prompt": np.array([ZH, 1, 2, WITH_ITN], np.int64)}
        inputs = [value.name for value in opened.get_inputs()]
        return dict(zip(inputs, [features, *numbers(valid, ZH, WITH_ITN)], strict=True))

    title = "ctc_logits" if name.startswith("ours") else opened.get_outputs()[0].name
    return lambda features, valid: opened.run([title], feeds(features, valid))[0]


def show_padding(folder: Path) -> float:
    """Prints the table; gives the error of our container."""
    features = np.random.default_rng(0).standard_normal((1, VALID, 560)).astype(np.float32)
    box = np.concatenate([features, np.zeros((1, BOX - VALID, 560), np.float32)], axis=1)
    static = f"ours/cpu-fp32-{BOX}.onnx"
    errors = {}
    print(f"| graph | nodes | Where | logits of {VALID} frames in {BOX} | cosine |\n|---|---|---|---|---|")
    pairs = {"ours.onnx": static, "funasr.onnx": "funasr.onnx", "sherpa.onnx": "sherpa.onnx"}
    for own, padded in {**pairs, "sherpa-3.onnx": "sherpa-30.onnx"}.items():
        wanted = runner(folder, own)(features, VALID)
        got = runner(folder, padded)(box, VALID)[:, : VALID + 4]
        error = float(np.abs(got - wanted).max() / np.abs(wanted).max())
        a, b = got.astype(np.float64).ravel(), wanted.astype(np.float64).ravel()
        cosine = float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
        nodes = [node.op_type for node in onnx.load(folder / padded, load_external_data=False).graph.node]
        print(f"| {padded} | {len(nodes)} | {nodes.count('Where')} | {error:.1e} | {cosine:.6f} |", flush=True)
        errors[padded] = error
    return errors[static]


def show_time(folder: Path) -> float:
    """Prints ratios of ours to each; gives the worst upper bound."""
    random, worst = np.random.default_rng(0), 0.0
    ours = runner(folder, "ours.onnx")
    for other in ("funasr.onnx", "sherpa.onnx"):
        theirs = runner(folder, other)
        for frames, name in ((83, "5 s"), (500, "30 s")):
            features = random.standard_normal((1, frames, 560)).astype(np.float32)
            apart = distance(ours(features, frames), theirs(features, frames))
            times: dict[Run, list[float]] = {ours: [], theirs: []}
            for pair in range(PAIRS):
                for run in (ours, theirs) if pair % 2 else (theirs, ours):
                    started = time.process_time()
                    run(features, frames)
                    times[run].append(time.process_time() - started)
            ratios = np.array(times[ours]) / np.array(times[theirs])
            bound = float(np.quantile(np.median(random.choice(ratios, (2_000, PAIRS)), axis=1), 0.95))
            worst = max(worst, bound)
            told = f"{statistics.median(times[ours]):.3f} s, ratio {np.median(ratios):.3f}, 95% bound {bound:.3f}"
            print(f"{name} against {other}: logits apart by {apart:.1e} of scale; {told}", flush=True)
    return worst


def main() -> None:
    folder, checkout = Path(sys.argv[1]), Path(sys.argv[2])
    logging.disable(logging.INFO)
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, onnxruntime {onnxruntime.__version__}, onnx {onnx.__version__}")
    if not (folder / "funasr.onnx").exists():
        folder.mkdir(parents=True, exist_ok=True)
        with torch.no_grad():
            write_all(folder, checkout)
    error, bound = show_padding(folder), show_time(folder)
    if error > 1e-5 or bound > 1.05:
        sys.exit(f"missed: padding {error:.1e} (1e-5 allowed), time {bound:.3f} (1.05 allowed)")


if __name__ == "__main__":
    main()
