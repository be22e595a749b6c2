"""Five families at their own widths with few layers and random weights, in every precision; for ``families_run``.

``PYTHONPATH=src:tests/codec python tests/precision/families_make.py OUT``. Writes OUT/<family>/<form>-<precision>.onnx,
the native graph and a container for OpenVINO, five seconds each, and inputs.npz with what goes in and the fp32 answer.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import codec_synthetic
import numpy as np
import onnx
import torch

from paddable.api.opened import open_model
from paddable.api.precisions import measure_native, padded_in_each
from paddable.api.staging import staging
from paddable.families.fun_asr_nano.config import AdaptorConfig, FunAsrNanoConfig
from paddable.families.fun_asr_nano.export import export_fun_asr_nano
from paddable.families.fun_asr_nano.model import FunAsrNano
from paddable.families.paraformer.config import ParaformerConfig
from paddable.families.paraformer.export import export_paraformer
from paddable.families.paraformer.model import Paraformer
from paddable.families.qwen3_asr.config import Qwen3AsrConfig
from paddable.families.qwen3_asr.export import export_qwen3_asr
from paddable.families.qwen3_asr.model import Qwen3AsrEncoder
from paddable.families.qwen3_tts_codec.config import CodecConfig
from paddable.families.qwen3_tts_codec.export import export_whole
from paddable.families.qwen3_tts_codec.weights import decoder_from_arrays
from paddable.families.sense_voice.config import SenseVoiceConfig
from paddable.families.sense_voice.export import export_sense_voice
from paddable.families.sense_voice.model import SenseVoice
from paddable.gates.engine import Array, Engine
from paddable.graph.io.write import write_model
from paddable.precision import PRECISIONS, in_precision

Native = tuple[str, onnx.ModelProto, str, dict[str, Array], str]
"""Name, native graph, its length, five seconds of input, and the output that is judged."""

RANDOM = np.random.default_rng(0)


def natives() -> Iterator[Native]:
    """The families."""
    torch.manual_seed(0)
    speech = {"speech": features(1, 84, 560)}
    tasks = {"language": np.array([0]), "textnorm": np.array([15])}
    sense_voice = SenseVoice(SenseVoiceConfig(blocks=4, tp_blocks=2))
    yield "SenseVoice", export_sense_voice(sense_voice.eval()), "speech:1=T", speech | tasks, "ctc_logits"
    nano = FunAsrNano(FunAsrNanoConfig(blocks=3, tp_blocks=2, adaptor=AdaptorConfig(blocks=1), ctc_decoder=None))
    yield "Fun-ASR-Nano", export_fun_asr_nano(nano.eval()), "speech:1=T", speech, "adaptor_output"
    paraformer = Paraformer(ParaformerConfig(blocks=4, decoder_blocks=3))
    yield "Paraformer", export_paraformer(paraformer.eval()), "speech:1=T", speech, "alphas"
    qwen = Qwen3AsrEncoder(Qwen3AsrConfig(layers=3))
    yield "Qwen3-ASR", export_qwen3_asr(qwen.eval()), "mel:2=T", {"mel": features(1, 128, 500)}, "embeddings"
    sizes = codec_synthetic.SMALL | {
        "latent_dim": 256, "codebook_dim": 256, "decoder_dim": 384, "hidden_size": 256, "intermediate_size": 512,
        "head_dim": 64, "num_attention_heads": 4, "num_key_value_heads": 4,
    }  # fmt: skip
    tensors = {name: torch.from_numpy(array) for name, array in codec_synthetic.checkpoint(sizes).items()}
    decoder = decoder_from_arrays(CodecConfig.from_dict(sizes | {"sample_rate": 24000}), tensors)
    codes = RANDOM.integers(0, sizes["codebook_size"], (1, 62, sizes["num_quantizers"]))
    yield "Qwen3-TTS codec", export_whole(decoder.eval()).model_proto, "codes:1=F", {"codes": codes}, "wav"


def features(*shape: int) -> Array:
    """Normalised features."""
    return np.clip(1.5 * RANDOM.standard_normal(shape), -4, 4).astype(np.float32)


def main(out: Path) -> None:
    """Write every family in every precision."""
    for name, proto, length, feeds, output in natives():
        if (folder := out / name).exists():
            continue
        (folder / "examples").mkdir(parents=True)
        for number in range(3):
            drawn = {key: features(*array.shape) if array.dtype.kind == "f" else array for key, array in feeds.items()}
            np.savez(folder / "examples" / f"{number}.npz", **drawn)
        onnx.save(proto, folder / "native.onnx")
        opened = open_model(folder / "native.onnx", [length])
        axis, symbol = length.partition(":")[2].split("=")
        container = {symbol: feeds[length.partition(":")[0]].shape[int(axis)]}
        with staging(None) as stage:
            known = measure_native(opened, [container], list(PRECISIONS), stage.lending, examples=folder / "examples")
            for graph in padded_in_each(opened, container, "openvino", known, lend=stage.lending):
                precision = graph.metadata.precision
                write_model(graph.model, folder / f"container-{precision}.onnx")
                found = known[precision]
                print(name, precision, "kept", len(found.kept), "fixed", len(found.fixed), flush=True)
                twin = in_precision(opened.model, precision, found.kept, found.fixed)
                write_model(twin, folder / f"native-{precision}.onnx")
        want = Engine(folder / "native.onnx").run(feeds)
        np.savez(folder / "inputs.npz", **feeds, ilens=np.array([container[symbol]]), want=want[output])
        (folder / "output.txt").write_text(output)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
