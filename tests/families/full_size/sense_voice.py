"""SenseVoiceSmall and Fun-ASR-Nano at full size with random weights, one thread; exits with 1 where a figure is missed.

Parity with FunASR 1.4.16 from features and from recorded speech, and CPU time against FunASR's own ONNX export of the
same weights. Needs about 8 GB and some minutes. Usage: python tests/families/full_size/sense_voice.py SHARED_FOLDER
"""

from __future__ import annotations

import logging
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from funasr.frontends.wav_frontend import WavFrontend
from funasr.models.fun_asr_nano.ctc import CTC
from funasr.models.llm_asr.adaptor import Transformer
from funasr.models.sense_voice.export_meta import export_forward, export_rebuild_model
from funasr.models.sense_voice.model import SenseVoiceEncoderSmall, SenseVoiceSmall
from torch import nn

from paddable.audio import read_am_mvn, read_audio
from paddable.families.fun_asr_nano.config import FunAsrNanoConfig
from paddable.families.fun_asr_nano.model import FunAsrNano
from paddable.families.layers.front_end import KaldiFrontEnd
from paddable.families.sense_voice.config import LANGUAGES, TEXT_NORMS, SenseVoiceConfig
from paddable.families.sense_voice.export import export_sense_voice
from paddable.families.sense_voice.model import SenseVoice

ENCODER = {"output_size": 512, "attention_heads": 4, "linear_units": 2048, "num_blocks": 50, "tp_blocks": 20}
FRAMES = (1, 5, 17, 83, 206, 500)
SECONDS = (0.3, 1.0, 5.0, 12.34, 30.0)
ZH, WITH_ITN = LANGUAGES["zh"], TEXT_NORMS["withitn"]
missed: list[str] = []


def gate(name: str, value: float, limit: float) -> None:
    print(f"{name}: {value:.3g} (limit {limit:g})", flush=True)
    if not value <= limit:
        missed.append(name)


def distance(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Largest difference over the scale of theirs; infinite where the best class of a frame differs."""
    if not (ours.argmax(-1) == theirs.argmax(-1)).all():
        return float("inf")
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def random_weights(module: nn.Module) -> nn.Module:
    torch.manual_seed(0)
    for parameter in module.parameters():
        if parameter.ndim == 1:
            parameter.data += 0.1 * torch.randn_like(parameter)
    return module.eval()


def speech(shared: Path, seconds: float) -> np.ndarray:
    clips = [read_audio(path).samples for path in sorted((shared / "audio").glob("*/*.wav"))]
    return np.concatenate(clips)[: round(seconds * 16_000)]


@torch.no_grad()
def compare_with_funasr(ours: SenseVoice, theirs: SenseVoiceSmall, shared: Path, folder: Path) -> None:
    language, norm = torch.tensor([ZH]), torch.tensor([WITH_ITN])
    for frames in FRAMES:
        features = torch.randn(1, frames, 560)
        wanted = export_forward(theirs, features.clone(), torch.tensor([frames]), language, norm)[0]
        gate(f"SenseVoice, {frames} frames", distance(ours(features, language, norm)[1].numpy(), wanted.numpy()), 1e-4)

    shift, scale = np.linspace(-8, -14, 560), np.linspace(0.35, 0.22, 560)
    lines = [f"{tag} 560 560\n<LearnRateCoef> 0 [ {' '.join(map(str, row))} ]" for tag, row in
             (("<AddShift>", shift), ("<Rescale>", scale))]  # fmt: skip
    (folder / "am.mvn").write_text("<Nnet>\n" + "\n".join(lines) + "\n</Nnet>\n")
    front_end = WavFrontend(str(folder / "am.mvn"), lfr_m=7, lfr_n=6, dither=0.0)
    listening = KaldiFrontEnd(7, 6, read_am_mvn(folder / "am.mvn"))
    for seconds in SECONDS:
        audio = torch.from_numpy(speech(shared, seconds))[None]
        features, lengths = front_end(audio, torch.tensor([audio.shape[1]]))
        wanted = export_forward(theirs, features.clone(), lengths, language, norm)[0]
        logits = ours(listening(audio), language, norm)[1]
        gate(f"SenseVoice, {seconds} s of speech", distance(logits.numpy(), wanted.numpy()), 1e-4)


@torch.no_grad()
def compare_nano() -> None:
    ours = random_weights(FunAsrNano(FunAsrNanoConfig()))
    adaptor = {"downsample_rate": 1, "encoder_dim": 512, "ffn_dim": 2048, "attention_heads": 8}
    theirs = nn.ModuleDict(
        {
            "audio_encoder": SenseVoiceEncoderSmall(560, kernel_size=11, **ENCODER),
            "audio_adaptor": Transformer(llm_dim=1024, n_layer=2, **adaptor),
            "ctc_decoder": Transformer(llm_dim=512, n_layer=5, **adaptor),
            "ctc": CTC(odim=60515, encoder_output_size=512, blank_id=60514),
        }
    ).eval()
    theirs.load_state_dict(ours.state_dict())
    for frames in FRAMES:
        features, lengths = torch.randn(1, frames, 560), torch.tensor([frames])
        encoded, _ = theirs["audio_encoder"](features.clone(), lengths)
        wanted = (
            encoded,
            theirs["audio_adaptor"](encoded, lengths)[0],
            theirs["ctc"].ctc_lo(theirs["ctc_decoder"](encoded, lengths)[0]),
        )
        for name, result, original in zip(("encoder", "adaptor", "ctc"), ours(features), wanted, strict=True):
            gate(f"Fun-ASR-Nano {name}, {frames} frames", distance(result.numpy(), original.numpy()), 1e-4)


def sessions(ours: SenseVoice, theirs: SenseVoiceSmall, folder: Path) -> tuple[Callable, Callable]:
    started = time.time()
    graph = export_sense_voice(ours)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"export {time.time() - started:.0f} s, {len(graph.graph.node)} nodes, peak {peak:.1f} GB", flush=True)
    onnx.save_model(graph, folder / "ours.onnx", save_as_external_data=True, location="ours.bin")
    original = export_rebuild_model(theirs, max_seq_len=512, device="cpu")
    with torch.no_grad():
        torch.onnx.export(
            original,
            original.export_dummy_inputs(),
            folder / "theirs.onnx",
            opset_version=14,
            input_names=original.export_input_names(),
            output_names=original.export_output_names(),
            dynamic_axes=original.export_dynamic_axes(),
            dynamo=False,
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    native, exported = (
        onnxruntime.InferenceSession(folder / name, options, providers=["CPUExecutionProvider"])
        for name in ("ours.onnx", "theirs.onnx")
    )
    prompt = {"language": np.array([ZH]), "textnorm": np.array([WITH_ITN])}
    narrow = {name: value.astype(np.int32) for name, value in prompt.items()}

    def run_ours(features: np.ndarray) -> np.ndarray:
        return native.run(["ctc_logits"], {"speech": features, **prompt})[0]

    def run_theirs(features: np.ndarray) -> np.ndarray:
        lengths = np.array([features.shape[1]], np.int32)
        return exported.run(["ctc_logits"], {"speech": features, "speech_lengths": lengths, **narrow})[0]

    return run_ours, run_theirs


def compare_time(run_ours: Callable, run_theirs: Callable, pairs: int = 21) -> None:
    random = np.random.default_rng(0)
    for frames in FRAMES:
        features = random.standard_normal((1, frames, 560)).astype(np.float32)
        gate(f"our ONNX and FunASR's, {frames} frames", distance(run_ours(features), run_theirs(features)), 1e-4)
    for frames, name in ((83, "5 s"), (500, "30 s")):
        features = random.standard_normal((1, frames, 560)).astype(np.float32)
        times: dict[Callable, list[float]] = {run_ours: [], run_theirs: []}
        for pair in range(-1, pairs):
            for run in (run_ours, run_theirs) if pair % 2 else (run_theirs, run_ours):
                started = time.process_time()
                run(features)
                times[run].append(time.process_time() - started)
        ratios = np.array(times[run_ours][1:]) / np.array(times[run_theirs][1:])
        medians = np.median(random.choice(ratios, (2_000, pairs)), axis=1)
        print(f"{name}: {statistics.median(times[run_ours]):.3f} s, ratio {np.median(ratios):.3f}")
        gate(f"{name}: upper 95% bound of the ratio", float(np.quantile(medians, 0.95)), 1.05)


def main() -> None:
    shared = Path(sys.argv[1])
    logging.disable(logging.INFO)
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, onnxruntime {onnxruntime.__version__}, onnx {onnx.__version__}")
    ours = random_weights(SenseVoice(SenseVoiceConfig()))
    theirs = SenseVoiceSmall(
        encoder="SenseVoiceEncoderSmall",
        encoder_conf={**ENCODER, "kernel_size": 11},
        input_size=560,
        vocab_size=25055,
    ).eval()
    theirs.load_state_dict(ours.state_dict())
    with tempfile.TemporaryDirectory() as name:
        compare_with_funasr(ours, theirs, shared, Path(name))
        compare_time(*sessions(ours, theirs, Path(name)))
    del ours, theirs
    compare_nano()
    if missed:
        sys.exit("missed: " + ", ".join(missed))


if __name__ == "__main__":
    main()
