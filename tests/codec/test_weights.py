"""The loader takes every decoder tensor or says which one does not fit."""

from __future__ import annotations

import json
from pathlib import Path

import codec_synthetic as synthetic
import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from paddable.errors import RefusedError, UnreadableError
from paddable.families.qwen3_tts_codec.config import CodecConfig
from paddable.families.qwen3_tts_codec.model import Decoder
from paddable.families.qwen3_tts_codec.weights import decoder_from_checkpoint

BOOK = "decoder.quantizer.rvq_rest.vq.layers.4._codebook"


def two_books_that_make_up_for_each_other(arrays: dict[str, np.ndarray]) -> None:
    for book, size in ((BOOK, 60), (BOOK.replace("layers.4", "layers.5"), 68)):
        arrays[f"{book}.embedding_sum"] = np.zeros((size, 8), np.float32)
        arrays[f"{book}.cluster_usage"] = np.ones(size, np.float32)


def write(folder: Path, arrays: dict[str, np.ndarray], config: dict[str, object] | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config or synthetic.outer_config(synthetic.TINY)))
    save_file(arrays | {"encoder.layer.weight": np.zeros(3, np.float32)}, folder / "model.safetensors")
    return folder


@torch.no_grad()
def test_checkpoint_on_disk_gives_the_same_decoder(tmp_path: Path, tiny: Decoder) -> None:
    loaded = decoder_from_checkpoint(write(tmp_path, synthetic.checkpoint(synthetic.TINY)))
    codes = torch.from_numpy(synthetic.codes(synthetic.TINY, 9))
    assert torch.equal(loaded(codes), tiny(codes))
    assert loaded.config == tiny.config and not loaded.training


def test_released_checkpoint_has_271_tensors_that_all_fit() -> None:
    shapes = synthetic.shapes(synthetic.RELEASED)
    assert len(shapes) == 271
    with torch.device("meta"):
        decoder = Decoder(CodecConfig.from_dict(synthetic.RELEASED | {"sample_rate": 24000}))
    idle = sum(int(np.prod(shape)) for name, shape in shapes.items() if "input_proj" in name and "rvq" in name)
    usage = sum(int(np.prod(shape)) for name, shape in shapes.items() if "cluster_usage" in name)
    total = sum(int(np.prod(shape)) for shape in shapes.values())
    assert sum(p.numel() for p in decoder.parameters()) == total - idle - usage


@torch.no_grad()
def test_codebooks_are_sums_over_clamped_usage(tiny: Decoder) -> None:
    arrays = synthetic.checkpoint(synthetic.TINY)
    book = "decoder.quantizer.rvq_rest.vq.layers.4._codebook"
    usage = arrays[f"{book}.cluster_usage"]
    assert (usage < 1e-5).any()
    entries = arrays[f"{book}.embedding_sum"] / np.maximum(usage, np.float32(1e-5))[:, None]
    np.testing.assert_array_equal(tiny.quantizer.table[5 * 64 : 6 * 64].numpy(), entries)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.pop("decoder.pre_conv.conv.bias"), r"1 missing: decoder\.pre_conv\.conv\.bias;"),
        (
            lambda a: a.pop("decoder.quantizer.rvq_first.vq.layers.0._codebook.embedding_sum"),
            r"1 missing: decoder\.quantizer\.rvq_first\.vq\.layers\.0\._codebook\.embedding_sum;",
        ),
        (lambda a: a.update({"decoder.extra": np.zeros(2, np.float32)}), r"1 unexpected: decoder\.extra;"),
        (
            lambda a: a.update({"decoder.pre_conv.conv.bias": np.zeros(5, np.float32)}),
            r"decoder\.pre_conv\.conv\.bias \[5\] instead of \[16\]",
        ),
        (
            lambda a: a.pop("decoder.quantizer.rvq_rest.output_proj.weight"),
            r"1 missing: decoder\.quantizer\.rvq_rest\.output_proj\.weight;",
        ),
        (
            lambda a: a.update({f"{BOOK}.embedding_sum": np.zeros((64, 9), np.float32)}),
            r"layers\.4\._codebook\.embedding_sum \[64, 9\] instead of \[64, 8\]",
        ),
        (
            lambda a: a.update({f"{BOOK}.cluster_usage": np.ones(1, np.float32)}),
            r"cluster_usage \[1\] instead of \[64\]",
        ),
        (two_books_that_make_up_for_each_other, r"layers\.4\._codebook.* \[60.*layers\.5\._codebook.* \[68"),
        (lambda a: a[f"{BOOK}.embedding_sum"].__setitem__((3, 2), np.nan), r"NaN or infinity in .*layers\.4\._codeb"),
        (lambda a: a[f"{BOOK}.cluster_usage"].__setitem__(0, np.inf), r"NaN or infinity in .*cluster_usage"),
        (
            lambda a: a.update({"decoder.pre_conv.conv.bias": np.zeros(16, np.int32)}),
            r"not floats of 16 bits or more: decoder\.pre_conv\.conv\.bias is int32",
        ),
    ],
)
def test_a_tensor_that_does_not_fit_is_named(tmp_path: Path, change: object, message: str) -> None:
    arrays = synthetic.checkpoint(synthetic.TINY)
    change(arrays)  # type: ignore[operator]
    with pytest.raises(UnreadableError, match=message):
        decoder_from_checkpoint(write(tmp_path, arrays))


def test_damaged_weights_and_absent_files_are_one_line(tmp_path: Path) -> None:
    folder = write(tmp_path / "a", synthetic.checkpoint(synthetic.TINY))
    (folder / "model.safetensors").write_bytes(b"\x10\0\0\0\0\0\0\0{nonsense")
    with pytest.raises(UnreadableError, match=r"model\.safetensors: not a readable safetensors file"):
        decoder_from_checkpoint(folder)
    with pytest.raises(UnreadableError, match="speech_tokenizer"):
        decoder_from_checkpoint(tmp_path / "nowhere")


def test_defaults_of_the_original_class_are_not_used(tmp_path: Path) -> None:
    config = synthetic.outer_config({k: v for k, v in synthetic.TINY.items() if k != "codebook_dim"})
    with pytest.raises(UnreadableError, match=r"missing: decoder_config\.codebook_dim"):
        decoder_from_checkpoint(write(tmp_path, synthetic.checkpoint(synthetic.TINY), config))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"num_key_value_heads": 1}, RefusedError),
        ({"hidden_act": "gelu"}, RefusedError),
        ({"rope_scaling": {"rope_type": "linear", "factor": 2}}, RefusedError),
    ],
)
def test_other_architectures_are_refused(change: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error, match=next(iter(change))):
        CodecConfig.from_dict(synthetic.TINY | change | {"sample_rate": 24000})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sliding_window": "six"}, r"config\.json: decoder_config\.sliding_window is 'six', expected a whole number"),
        ({"sliding_window": 0}, "sliding_window is 0, expected a whole number from 1"),
        ({"num_attention_heads": 2.0}, "num_attention_heads is 2.0, expected"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers is 1000000000, expected"),
        ({"upsample_rates": 6}, "upsample_rates is 6, expected a list"),
        ({"upsample_rates": [3, -2]}, "upsample_rates is .3, -2., expected a list"),
        ({"attention_bias": "no"}, "attention_bias is 'no', expected true or false"),
        ({"rope_theta": -1}, "rope_theta is -1, expected a number above 0"),
        ({"decoder_dim": 18}, "decoder_dim is 18, expected a multiple of 4"),
        ({"head_dim": 7}, "head_dim is 7, expected a multiple of 2"),
    ],
)
def test_a_value_that_is_no_size_is_named(tmp_path: Path, change: dict[str, object], message: str) -> None:
    (tmp_path / "config.json").write_text(
        json.dumps(synthetic.outer_config(synthetic.TINY) | {"decoder_config": synthetic.TINY | change})
    )
    with pytest.raises(UnreadableError, match=message) as caught:
        decoder_from_checkpoint(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("change", [{"decoder_config": [1]}, {"decoder_config": None}, {"output_sample_rate": "24k"}])
def test_the_outer_settings_are_named_too(tmp_path: Path, change: dict[str, object]) -> None:
    (tmp_path / "config.json").write_text(json.dumps(synthetic.outer_config(synthetic.TINY) | change))
    with pytest.raises(UnreadableError, match=rf"config\.json: .*{next(iter(change))}"):
        decoder_from_checkpoint(tmp_path)


def test_rates_must_multiply_to_the_declared_one(tmp_path: Path) -> None:
    config = synthetic.outer_config(synthetic.TINY) | {"decode_upsample_rate": 1920}
    with pytest.raises(UnreadableError, match="product of the rates, 24"):
        decoder_from_checkpoint(write(tmp_path, synthetic.checkpoint(synthetic.TINY), config))


def test_another_model_is_refused_by_its_type(tmp_path: Path) -> None:
    arrays, config = synthetic.checkpoint(synthetic.TINY), synthetic.outer_config(synthetic.TINY)
    decoder_from_checkpoint(write(tmp_path, arrays, config | {"model_type": "qwen3_tts_tokenizer_12hz"}))
    with pytest.raises(UnreadableError, match="model_type is 'qwen3_tts_tokenizer_25hz', not qwen3_tts_tokenizer_12hz"):
        decoder_from_checkpoint(write(tmp_path, arrays, config | {"model_type": "qwen3_tts_tokenizer_25hz"}))
