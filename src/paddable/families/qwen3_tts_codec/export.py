"""Native ONNX of the Qwen3-TTS codec decoder: the whole utterance, and one step of a stream.

The programs are in memory and not yet written: the caller owns files, precision and the weights that graphs share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from paddable.bundle.state import STEP_METADATA_KEY, StepSpec
from paddable.errors import RefusedError
from paddable.families.family import Described, Family, Loaded
from paddable.families.layers.streaming import StepForm, declare_states
from paddable.families.qwen3_tts_codec.config import CodecConfig
from paddable.families.qwen3_tts_codec.model import Decoder
from paddable.families.qwen3_tts_codec.spec import QWEN3_TTS_CODEC
from paddable.families.qwen3_tts_codec.weights import codec_folder, decoder_from_checkpoint
from paddable.families.tracing.native import OPSET, quiet

if TYPE_CHECKING:
    import onnx_ir as ir
    from torch.onnx import ONNXProgram

__all__ = ["FAMILY", "export_step", "export_whole", "step_spec"]


def export_whole(decoder: Decoder) -> ONNXProgram:
    """The whole-utterance graph: ``codes`` i64[1, F, Q] to ``wav`` [1, samples_per_frame * F], F symbolic, F >= 1.

    Raises:
        RefusedError: the exporter fixed the number of frames.
    """
    frames = torch.export.Dim("F", min=1)
    program = _export(decoder, (_example(decoder, 5),), ["codes"], ["wav"], ({1: frames},))
    for value in (*program.model.graph.inputs, *program.model.graph.outputs):
        if value.shape is None or isinstance(value.shape[1], int):
            raise RefusedError(f"the exporter fixed the number of frames, shape {value.shape}", where=str(value.name))
    return program


def export_step(decoder: Decoder, frames: int) -> ONNXProgram:
    """The step graph for chunks of at most ``frames`` frames; every shape in it is fixed.

    Inputs ``codes`` i64[1, frames, Q], ``ilens`` i64[1] and ``state_*``. Outputs ``wav`` [1, samples], ``wav_length``
    i64[1] and ``next_state_*``. The metadata holds the :class:`StepSpec`.

    Raises:
        RefusedError: a dimension stayed symbolic.
    """
    form = StepForm(decoder, decoder.config.samples_per_frame, axis=1).eval()
    spec = step_spec(decoder, frames)
    inputs = [spec.input, "ilens", *(state.input_name for state in spec.states)]
    outputs = [spec.output, f"{spec.output}_length", *(state.output_name for state in spec.states)]
    example = (_example(decoder, frames), torch.tensor([frames]), *form.initial())
    program = _export(form, example, inputs, outputs, None)
    for node in program.model.graph:
        for value in node.outputs:
            if value.shape is None or not value.shape.is_static():
                raise RefusedError(f"shape {value.shape} is not fixed", where=str(node.name))
    program.model.metadata_props[STEP_METADATA_KEY] = spec.to_json()
    return program


def step_spec(decoder: Decoder, frames: int) -> StepSpec:
    """What a runtime must know of the step graph."""
    config = decoder.config
    return StepSpec(
        steps=frames,
        input="codes",
        axis=1,
        output="wav",
        output_axis=1,
        output_rate=config.samples_per_frame,
        states=StepForm(decoder, config.samples_per_frame, axis=1).states,
        low=0,
        high=config.codebook_size - 1,
        sample_rate=config.sample_rate,
    )


def _example(decoder: Decoder, frames: int) -> torch.Tensor:
    return torch.zeros(1, frames, decoder.config.num_quantizers, dtype=torch.int64)


def _export(
    module: torch.nn.Module,
    example: tuple[torch.Tensor, ...],
    inputs: list[str],
    outputs: list[str],
    dynamic_shapes: object,
) -> ONNXProgram:
    with quiet():
        program = torch.onnx.export(
            module,
            example,
            input_names=inputs,
            output_names=outputs,
            dynamic_shapes=dynamic_shapes,  # type: ignore[arg-type]
            opset_version=OPSET,
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    for node in program.model.graph:
        if node.op_type == "ConvTranspose":
            # The exporter writes the default, [0]; DirectML refuses the attribute in one dimension (80070057).
            node.attributes.pop("output_padding", None)
    return program


def _load(folder: Path, choices: Mapping[str, Any]) -> Loaded:
    decoder = decoder_from_checkpoint(folder)
    config = decoder.config
    step_graphs = {f"step-{frames}.onnx": _step(decoder, frames) for frames in choices["chunks"]}
    about = {
        "sample_rate": config.sample_rate,
        "step_graphs": tuple(step_graphs),
        "units": {"wav_length": f"samples at {config.sample_rate} Hz", "F": f"frames of {config.samples_per_frame}"},
    }
    return Loaded(
        lambda: export_whole(decoder).model_proto,
        config.sample_rate / config.samples_per_frame,
        about,
        step_graphs=step_graphs,
    )


def _step(decoder: Decoder, frames: int) -> Callable[[], ir.Model]:
    return lambda: export_step(decoder, frames).model


def _describe(folder: Path) -> Described:
    config = CodecConfig.from_file(codec_folder(folder) / "config.json")
    with torch.device("meta"):  # shapes alone
        states = declare_states(Decoder(config))
    return Described({**asdict(config), "samples_per_frame": config.samples_per_frame}, states)


FAMILY = Family(QWEN3_TTS_CODEC, _load, _describe)
