"""SenseVoiceSmall as other projects export it, rebuilt by their own code around the weights of ours.

Every export takes features. Where a project's script only runs with the published checkpoint, its module is loaded and
exported the way the script does it. ``write`` needs funasr, and a folder with a checkout of each project in CHECKOUTS.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import MethodType, ModuleType

import torch
from funasr.models.sense_voice.export_meta import export_rebuild_model
from funasr.models.sense_voice.model import SenseVoiceSmall
from sense_voice import ENCODER, WITH_ITN, ZH
from torch import Tensor, nn

__all__ = ["BOX", "VALID", "write"]

BOX, VALID = 500, 50
"""30 s, and the 3 s of it that are speech."""

CHECKOUTS = ("sherpa-onnx", "SenseVoice-ONNX", "sensevoice.axera")


def write(folder: Path, checkouts: Path, weights: dict[str, Tensor]) -> None:
    """Writes the graphs.

    Dynamic ones: funasr.onnx, sherpa.onnx, sensevoice-onnx.onnx. Of one size, each at VALID and at BOX:
    sherpa-static-*.onnx, axera-*.onnx.
    """
    original = SenseVoiceSmall(
        encoder="SenseVoiceEncoderSmall", encoder_conf={**ENCODER, "kernel_size": 11}, input_size=560, vocab_size=25055
    ).eval()
    original.load_state_dict(weights)
    _write_axera(folder, checkouts / CHECKOUTS[2], original)
    _write_sherpa(folder, original)
    _write_funasr(folder, original)
    _write_sherpa_static(folder, checkouts / CHECKOUTS[0], weights)
    _write_sensevoice_onnx(folder, checkouts / CHECKOUTS[1], original)


def _write_funasr(folder: Path, original: nn.Module) -> None:
    rebuilt = export_rebuild_model(original, max_seq_len=512, device="cpu")
    names, axes = rebuilt.export_input_names(), rebuilt.export_dynamic_axes()
    _export(rebuilt, rebuilt.export_dummy_inputs(), folder / "funasr.onnx", names, opset=14, axes=axes)


def _write_sherpa(folder: Path, original: nn.Module) -> None:
    def forward(self: nn.Module, x: Tensor, x_length: Tensor, language: Tensor, text_norm: Tensor) -> Tensor:
        """What scripts/sense-voice/export-onnx.py puts in place of FunASR's forward."""
        tags = self.embed(torch.tensor([[1, 2]])).repeat(x.size(0), 1, 1)
        x = torch.cat((self.embed(language).unsqueeze(1), tags, self.embed(text_norm).unsqueeze(1), x), dim=1)
        encoded = self.encoder(x, x_length + 4)
        return self.ctc.ctc_lo(encoded[0] if isinstance(encoded, tuple) else encoded)

    plain_forward = original.forward
    original.forward = MethodType(forward, original)
    names = ["x", "x_length", "language", "text_norm"]
    example = torch.randn(2, 100, 560), *(torch.tensor(row, dtype=torch.int32) for row in ([80, 100], [0, 3], [14, 15]))
    axes = {"x": {0: "N", 1: "T"}, **{name: {0: "N"} for name in names[1:]}}
    _export(original, example, folder / "sherpa.onnx", names, opset=13, axes=axes)
    original.forward = plain_forward


def _write_sherpa_static(folder: Path, checkout: Path, weights: dict[str, Tensor]) -> None:
    """The module behind the exports of one size: rknn, qnn, Ascend."""
    module = _load(checkout / "scripts/sense-voice/rknn/torch_model.py")
    model = module.SenseVoiceSmall(neg_mean=torch.zeros(560), inv_stddev=torch.ones(560)).eval()
    model.load_state_dict(weights)
    for frames in (VALID, BOX):
        example = torch.randn(1, frames, 560), torch.tensor([ZH, 1, 2, WITH_ITN])
        _export(model, example, folder / f"sherpa-static-{frames}.onnx", ["x", "prompt"], opset=14)


def _write_axera(folder: Path, checkout: Path, original: nn.Module) -> None:
    """One size, a mask from outside; the prompt's rows lie in another order, so its logits differ from the rest."""
    module = _load(checkout / "model_convert/export_onnx_v2.py")
    for frames in (VALID, BOX):
        model = module.SenseVoiceExport(original, frames).eval()
        mask = torch.ones(1, 1, frames + 4, dtype=torch.int32)
        example = torch.randn(1, frames, 560), mask, torch.tensor([ZH], dtype=torch.int32)
        _export(model, example, folder / f"axera-{frames}.onnx", ["speech", "mask", "language"], opset=17)


class _SenseVoiceOnnx(nn.Module):
    """Encoder and head in one graph; the project writes two, and takes the best classes instead of the logits."""

    def __init__(self, encoder: nn.Module, embed: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.encoder, self.embed, self.head = encoder, embed, head

    def forward(self, speech_feat: Tensor, mask: Tensor, prompt_ids: Tensor) -> Tensor:
        x = torch.cat([self.embed(prompt_ids), speech_feat], dim=1)
        full_mask = torch.cat([torch.ones((mask.size(0), 4), dtype=mask.dtype), mask], dim=1)
        return self.head(self.encoder(x, full_mask))


def _write_sensevoice_onnx(folder: Path, checkout: Path, original: nn.Module) -> None:
    module = _load(checkout / "sensevoice_onnx/export/model.py")
    encoder = module.SenseVoiceEncoderSmall(input_size=560, **ENCODER, kernel_size=11)
    encoder.load_state_dict(original.encoder.state_dict())
    model = _SenseVoiceOnnx(encoder, original.embed, original.ctc.ctc_lo).eval()
    names = ["speech_feat", "mask", "prompt_ids"]
    example = torch.randn(1, 17, 560), torch.ones(1, 17), torch.tensor([[ZH, 1, 2, WITH_ITN]])
    axes = {"speech_feat": {1: "T"}, "mask": {1: "T"}}
    # the project takes dynamo=True, which was not done with this module after 4 minutes; the function is the same
    _export(model, example, folder / "sensevoice-onnx.onnx", names, opset=18, axes=axes)


def _load(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module  # FunASR's register looks for the file of a class there
    spec.loader.exec_module(module)
    return module


def _export(
    module: nn.Module,
    example: tuple[Tensor, ...],
    file: Path,
    names: list[str],
    *,
    opset: int,
    axes: dict[str, dict[int, str]] | None = None,
) -> None:
    torch.onnx.export(
        module, example, file, opset_version=opset, input_names=names, dynamic_axes=axes, dynamo=False
    )  # fmt: skip
