"""Published .onnx files from packages, each with what a user would declare. They are fetched, never kept."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PUBLISHED", "Published", "fetch"]

_ASR = ("--length", "waveforms:1=T", "--length-input", "waveforms_lens=T", "--container", "8000")


@dataclass(frozen=True)
class Published:
    """One file of a package.

    Attributes:
        package: ``NAME==VERSION`` of the Python index, or ``NAME@VERSION`` of npm.
        member: its path in the package.
        options: of ``convert``; a chunk or a batch is fixed where there is no time axis.
    """

    package: str
    member: str
    options: tuple[str, ...]


def _asr(*names: str) -> dict[str, Published]:
    folder = "onnx_asr/preprocessors/data"
    return {f"onnx-asr {name}": Published("onnx-asr==0.12.0", f"{folder}/{name}.onnx", _ASR) for name in names}


def _silero(name: str, *options: str) -> Published:
    return Published("silero-vad==6.2.3", f"silero_vad/data/{name}.onnx", options)


def _mos(path: str, *options: str) -> Published:
    return Published("speechmos==0.0.1.1", f"speechmos/{path}.onnx", options)


_FRAMES = ("--length", "input:2=T", "--container", "100")
_OCR = "rapidocr_onnxruntime/models"
_CHUNK = ("--set", "sr=16000", "--set", "input:1=576")

PUBLISHED: dict[str, Published] = {
    **_asr(
        "gigaam_v2", "gigaam_v2_conv", "gigaam_v3", "gigaam_v3_conv", "kaldi", "kaldi_conv", "nemo80", "nemo128_conv",
        "wespeaker", "whisper80", "whisper128_conv", "resample_8_16", "resample_22_16", "resample_48_16",
    ),
    "silero_vad": _silero("silero_vad", *_CHUNK, "--set", "input:0=1", "--set", "state:1=1"),
    "silero_vad_16k_op15": _silero("silero_vad_16k_op15", *_CHUNK),
    "silero_vad_half": _silero("silero_vad_half", "--set", "input:1=576"),
    "silero_vad_op18_ifless": _silero("silero_vad_op18_ifless", *_CHUNK),
    "silero_vad_16k_sequence": _silero("silero_vad_16k_sequence", "--length", "input:0=T", "--container", "40"),
    "silero_vad_openvino_16k": _silero("silero_vad_openvino_16k"),
    "silero_vad_legacy": Published(
        "@ricky0123/vad-web@0.0.31", "package/dist/silero_vad_legacy.onnx",
        ("--set", "sr=16000", "--set", "input:1=1536"),
    ),
    "silero_vad_v6 (faster-whisper)": Published(
        "faster-whisper==1.2.1", "faster_whisper/assets/silero_vad_v6.onnx",
        ("--length", "input:0=T", "--container", "40"),
    ),
    "basic_pitch": Published(
        "basic-pitch==0.4.0", "basic_pitch/saved_models/icassp_2022/nmp.onnx", ("--batch-size", "1")
    ),
    "smart_turn_v3": Published(
        "pipecat-ai==1.14.0", "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx", ("--batch-size", "1")
    ),
    "swift_f0": Published(
        "swift-f0==0.3.0", "swift_f0/model.onnx", ("--length", "audio:1=T", "--container", "8000")
    ),
    "magika": Published("magika==1.0.3", "magika/models/standard_v3_3/model.onnx", ("--batch-size", "1")),
    "dnsmos sig": _mos("dnsmos_models/sig", "--batch-size", "1"),
    "dnsmos sig_bak_ovr": _mos("dnsmos_models/sig_bak_ovr", "--batch-size", "1"),
    "dnsmos model_v8": _mos("dnsmos_models/model_v8", "--batch-size", "1"),
    "aecmos (opset 9)": _mos("aecmos_models/Run_1663829550_Stage_0", *_FRAMES, "--shortest", "T=16"),
    "aecmos 48 kHz (opset 9)": _mos("aecmos_models/Run_1668423760_Stage_0", *_FRAMES, "--shortest", "T=16"),
    "plcmos_v2": _mos("plcmos_models/plcmos_v2", "--length", "degraded_audio:2=T", "--container", "100"),
    "rapidocr cls": Published(
        "rapidocr-onnxruntime==1.4.4", f"{_OCR}/ch_ppocr_mobile_v2.0_cls_infer.onnx",
        ("--set", "x:0=1", "--set", "x:2=48", "--set", "x:3=192"),
    ),
    "rapidocr rec": Published(
        "rapidocr-onnxruntime==1.4.4", f"{_OCR}/ch_PP-OCRv4_rec_infer.onnx",
        ("--length", "x:3=T", "--set", "x:2=48", "--container", "160"),
    ),
}  # fmt: skip


def fetch(item: Published, folder: Path) -> Path:
    """The file, from its package, which is downloaded into ``folder`` once."""
    place = folder / item.package.replace("/", "_")
    if not place.exists():
        place.mkdir(parents=True)
        if "==" in item.package:
            command = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--dest",
                str(place),
                item.package,
            ]
        else:
            command = ["npm", "pack", "--silent", "--pack-destination", str(place), item.package]
        subprocess.run(command, check=True, capture_output=True, timeout=600)
    target = folder / item.member.replace("/", "_")
    archive = next(path for path in place.iterdir() if path.suffix in (".whl", ".tgz"))
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as packed:
            target.write_bytes(packed.read(item.member))
    else:
        with tarfile.open(archive) as packed:
            member = packed.extractfile(item.member)
            assert member is not None
            target.write_bytes(member.read())
    return target
