"""SenseVoice against FunASR's own class, and its export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from torch import nn

from paddable.audio import Cmvn, FrontEnd
from paddable.families.layers.front_end import KaldiFrontEnd
from paddable.families.sense_voice.config import LANGUAGES, TEXT_NORMS, SenseVoiceConfig
from paddable.families.sense_voice.export import export_sense_voice
from paddable.families.sense_voice.model import SenseVoice

CONFIG = SenseVoiceConfig(size=64, heads=4, hidden_size=96, blocks=3, tp_blocks=2, vocabulary=50)
LENGTHS = [1, 2, 5, 6, 11, 50]


@pytest.fixture(scope="module")
def model(randomise: Callable[[nn.Module], nn.Module]) -> nn.Module:
    return randomise(SenseVoice(CONFIG))


def prompt(language: str = "zh", norm: str = "withitn") -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor([LANGUAGES[language]]), torch.tensor([TEXT_NORMS[norm]])


@pytest.fixture(scope="module")
def original(model: nn.Module) -> nn.Module:
    pytest.importorskip("funasr")
    from funasr.models.sense_voice.model import SenseVoiceSmall

    conf = {"output_size": 64, "attention_heads": 4, "linear_units": 96, "num_blocks": 3, "tp_blocks": 2}
    theirs = SenseVoiceSmall(
        encoder="SenseVoiceEncoderSmall", encoder_conf={**conf, "kernel_size": 11}, input_size=560, vocab_size=50
    )
    theirs.load_state_dict(model.state_dict())  # strict: no key missing, none left over
    return theirs.eval()


@pytest.mark.original
@torch.no_grad()
def test_equal_to_funasr(model: nn.Module, original: nn.Module) -> None:
    from funasr.models.sense_voice.export_meta import export_forward

    for length in LENGTHS:
        speech = torch.randn(1, length, 560, generator=torch.Generator().manual_seed(length))
        for language, norm in (("auto", "woitn"), ("ko", "withitn")):
            encoded, logits = model(speech, *prompt(language, norm))
            wanted, lengths = export_forward(original, speech.clone(), torch.tensor([length]), *prompt(language, norm))
            assert lengths.tolist() == [length + 4] and encoded.shape[1] == length + 4
            assert (logits - wanted).abs().max() <= 1e-6 * wanted.abs().max()


@pytest.mark.original
@torch.no_grad()
def test_prompt_table_is_funasrs(original: nn.Module) -> None:
    assert original.lid_dict == LANGUAGES and original.textnorm_dict == TEXT_NORMS


@torch.no_grad()
def test_every_block_runs_its_feed_forward_layer(model: nn.Module) -> None:
    called: Counter[str] = Counter()
    layers = {name: layer for name, layer in model.named_modules() if name.endswith("feed_forward")}
    hooks = [layer.register_forward_hook(lambda *_, name=name: called.update([name])) for name, layer in layers.items()]
    model(torch.randn(1, 7, 560), *prompt())
    for hook in hooks:
        hook.remove()
    assert "encoder.encoders0.0.feed_forward" in layers
    assert called == dict.fromkeys(layers, 1) and len(layers) == 5


@torch.no_grad()
def test_every_parameter_matters(model: nn.Module) -> None:
    speech = torch.randn(1, 7, 560)
    before = model(speech, *prompt())[1]
    for name, parameter in model.named_parameters():
        if name == "embed.weight":
            continue  # only the rows of the prompt
        if name.endswith("linear_q_k_v.bias"):
            continue  # its middle third, the keys' bias, cancels in the softmax
        kept = parameter.data.clone()
        parameter.data += 0.1
        assert not torch.equal(model(speech, *prompt())[1], before), name
        parameter.data = kept


@pytest.fixture(scope="module")
def exported(model: nn.Module) -> onnx.ModelProto:
    return export_sense_voice(model)


def session(graph: onnx.ModelProto) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])


@torch.no_grad()
def test_export_runs_at_every_length(model: nn.Module, exported: onnx.ModelProto) -> None:
    runner = session(exported)
    for length in LENGTHS:
        speech = torch.randn(1, length, 560)
        language, norm = prompt("en", "woitn")
        wanted = model(speech, language, norm)
        feeds = {"speech": speech.numpy(), "language": language.numpy(), "textnorm": norm.numpy()}
        for ours, theirs in zip(runner.run(["enc_output", "ctc_logits"], feeds), wanted, strict=True):
            assert ours.shape == theirs.shape
            assert np.abs(ours - theirs.numpy()).max() <= 1e-5 * np.abs(ours).max()


def dims(value: onnx.ValueInfoProto) -> list[int | str]:
    return [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]


def test_signature(exported: onnx.ModelProto) -> None:
    graph = exported.graph
    assert {value.name: dims(value) for value in graph.input} == {
        "speech": [1, "T", 560],
        "language": [1],
        "textnorm": [1],
    }
    assert {value.name: dims(value) for value in graph.output} == {
        "enc_output": [1, "T + 4", 64],
        "ctc_logits": [1, "T + 4", 50],
    }
    assert exported.opset_import[0].version == 18


def test_no_allowzero_and_no_mask(exported: onnx.ModelProto) -> None:
    assert not any(attribute.name == "allowzero" for node in exported.graph.node for attribute in node.attribute)
    assert not {"Where", "Expand", "Tile", "ConstantOfShape", "If"} & {node.op_type for node in exported.graph.node}


def test_weights_keep_their_names(model: nn.Module, exported: onnx.ModelProto) -> None:
    stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in exported.graph.initializer}
    for name, parameter in model.named_parameters():
        if f"{name}.T" in stored:
            assert np.array_equal(stored[f"{name}.T"], parameter.detach().numpy().T), name
        else:
            assert np.array_equal(stored[name], parameter.detach().numpy()), name


@torch.no_grad()
def test_waveform_entry(model: nn.Module, randomise: Callable[[nn.Module], nn.Module]) -> None:
    random = np.random.default_rng(0)
    cmvn = Cmvn(random.standard_normal(560).astype("f") - 10, random.uniform(0.2, 0.4, 560).astype("f"))
    listening = SenseVoice(CONFIG, KaldiFrontEnd(7, 6, cmvn)).eval()
    listening.load_state_dict(model.state_dict())
    graph = export_sense_voice(listening)
    assert dims(graph.graph.input[0]) == [1, "S"]
    runner = session(graph)
    for samples in (400, 401, 1_359, 1_360, 8_000, 20_001):
        audio = (0.1 * random.standard_normal((1, samples))).astype(np.float32)
        language, norm = prompt()
        features = listening.front_end(torch.from_numpy(audio))
        wanted = model(features, language, norm)[1].numpy()
        feeds = {"audio": audio, "language": language.numpy(), "textnorm": norm.numpy()}
        logits = runner.run(["ctc_logits"], feeds)[0]
        assert np.abs(logits - wanted).max() <= 1e-4 * np.abs(wanted).max()
        assert (logits.argmax(-1) == wanted.argmax(-1)).all()


@torch.no_grad()
def test_features_in_numpy_say_the_same(model: nn.Module, signals: dict[str, np.ndarray]) -> None:
    cmvn = Cmvn(np.full(560, -10.0, np.float32), np.full(560, 0.3, np.float32))
    in_graph, in_numpy = KaldiFrontEnd(cmvn=cmvn), FrontEnd(cmvn=cmvn)
    for name, audio in signals.items():  # silence, constants and drifts among them
        ours = model(in_graph(torch.from_numpy(audio)[None]), *prompt())[1]
        wanted = model(torch.from_numpy(in_numpy(audio))[None], *prompt())[1]
        assert torch.equal(ours.argmax(-1), wanted.argmax(-1)), name
        assert (ours - wanted).abs().max() <= 1e-4 * wanted.abs().max(), name
