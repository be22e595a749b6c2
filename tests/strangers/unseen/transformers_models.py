"""Architectures of transformers 5.24, small and with random weights, each as a function of one tensor."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch
import transformers as tf
from torch import Tensor, nn

Case = tuple[nn.Module, Tensor, int]
"""A module, an example of its input, and the axis of that input which is time. Axis 0 counts rows."""

SMALL = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
    "vocab_size": 100, "max_position_embeddings": 512,
}  # fmt: skip
WAVE = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
    "conv_dim": (16, 16, 16), "conv_stride": (5, 4, 2), "conv_kernel": (10, 8, 4),
    "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4,
}  # fmt: skip


class Seen(nn.Module):
    """A module seen through one function of one tensor."""

    def __init__(self, module: nn.Module, function: Callable[[Any, Tensor], Tensor]) -> None:
        super().__init__()
        self.module, self.function = module, function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(self.module, x)


def _hidden(module: nn.Module, x: Tensor, axis: int = 1) -> Case:
    return Seen(module, lambda m, x: m(x).last_hidden_state), x, axis


def _wave(name: str, **more: Any) -> Case:
    config, model = getattr(tf, f"{name}Config"), getattr(tf, f"{name}Model")
    return _hidden(model(config(**{**WAVE, **more})), 0.1 * torch.randn(2, 4000))


def _text(kind: str, **more: Any) -> Case:
    config = tf.AutoConfig.for_model(kind, **{**SMALL, **more})
    model = tf.AutoModel.from_config(config, attn_implementation="eager")
    if getattr(config, "is_encoder_decoder", False) or kind in ("t5", "umt5", "longt5"):
        model = model.get_encoder()
    return _hidden(model, torch.randint(3, 90, (2, 24)))


def _causal(kind: str, **more: Any) -> Case:
    config = tf.AutoConfig.for_model(kind, **{**SMALL, "use_cache": False, **more})
    model = tf.AutoModel.from_config(config, attn_implementation="eager")
    return Seen(model, lambda m, x: m(x, use_cache=False).last_hidden_state), torch.randint(3, 90, (2, 24)), 1


def _part(kind: str, name: str) -> Any:
    return getattr(import_module(f"transformers.models.{kind}.modeling_{kind}"), name)


def _config(kind: str, name: str) -> Any:
    return getattr(import_module(f"transformers.models.{kind}.configuration_{kind}"), name)


def parakeet() -> Case:
    config = tf.ParakeetEncoderConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, num_mel_bins=40,
        subsampling_conv_channels=8,
    )  # fmt: skip
    return _hidden(tf.ParakeetEncoder(config), torch.randn(2, 160, 40))


def lasr() -> Case:
    config = tf.LasrEncoderConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, num_mel_bins=40,
        subsampling_conv_channels=8,
    )  # fmt: skip
    return _hidden(tf.LasrEncoder(config), torch.randn(2, 160, 40))


def granite_speech() -> Case:
    config = _config("granite_speech", "GraniteSpeechEncoderConfig")(
        input_dim=40, num_layers=2, hidden_dim=32, num_heads=4, dim_head=8, output_dim=10, context_size=16,
        max_pos_emb=32,
    )  # fmt: skip
    return _hidden(_part("granite_speech", "GraniteSpeechCTCEncoder")(config), torch.randn(2, 64, 40))


def moonshine() -> Case:
    config = tf.MoonshineConfig(
        vocab_size=100, hidden_size=32, intermediate_size=64, encoder_num_hidden_layers=2, decoder_num_hidden_layers=1,
        encoder_num_attention_heads=4, decoder_num_attention_heads=4,
    )  # fmt: skip
    return _hidden(tf.MoonshineModel(config).encoder, 0.1 * torch.randn(2, 8000))


def omniasr() -> Case:
    config = _config("omniasr", "OmniASRAudioConfig")(**WAVE)
    model = _part("omniasr", "OmniASRAudioModel")(config)
    return Seen(model, lambda m, x: m(x[:, None]).last_hidden_state), 0.1 * torch.randn(2, 4000), 1


def glmasr() -> Case:
    config = _config("glmasr", "GlmAsrEncoderConfig")(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_mel_bins=40
    )
    return _hidden(_part("glmasr", "GlmAsrEncoder")(config), torch.randn(2, 40, 120), 2)


def seamless(version: str) -> Case:
    config = getattr(tf, f"SeamlessM4T{version}Config")(
        vocab_size=100, t2u_vocab_size=100, hidden_size=32, speech_encoder_layers=2, speech_encoder_attention_heads=4,
        speech_encoder_intermediate_size=64, feature_projection_input_dim=40, encoder_layers=1, decoder_layers=1,
        speech_encoder_chunk_size=16,
    )  # fmt: skip
    kind = "seamless_m4t_v2" if version else "seamless_m4t"
    return _hidden(_part(kind, f"SeamlessM4T{version}SpeechEncoder")(config), torch.randn(2, 64, 40))


def wav2vec2_bert() -> Case:
    config = tf.Wav2Vec2BertConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        feature_projection_input_dim=40, conv_depthwise_kernel_size=7,
    )  # fmt: skip
    return _hidden(tf.Wav2Vec2BertModel(config), torch.randn(2, 64, 40))


def speecht5() -> Case:
    config = tf.SpeechT5Config(
        **{**WAVE, "hidden_size": 32}, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=64,
        decoder_layers=1, decoder_attention_heads=4, decoder_ffn_dim=64,
    )  # fmt: skip
    prenet = _part("speecht5", "SpeechT5EncoderWithSpeechPrenet")(config)
    return _hidden(tf.SpeechT5Model(config, prenet, None).encoder, 0.1 * torch.randn(2, 4000))


def fastspeech2_hifigan() -> Case:
    config = tf.FastSpeech2ConformerHifiGanConfig(model_in_dim=20, upsample_initial_channel=32)
    model = tf.FastSpeech2ConformerHifiGan(config)
    for weight in (p for p in model.parameters() if p.dim() > 1):  # the library's own start gives an output of 1e-9
        nn.init.kaiming_normal_(weight, nonlinearity="linear")
    return Seen(model, lambda m, x: 0.1 * m(x)), torch.randn(2, 50, 20), 1


def fastspeech2_conformer() -> Case:
    config = tf.FastSpeech2ConformerConfig(
        hidden_size=32, vocab_size=60, num_mel_bins=20, encoder_layers=2, encoder_num_attention_heads=4,
        decoder_layers=2, decoder_num_attention_heads=4, encoder_linear_units=64, decoder_linear_units=64,
    )  # fmt: skip
    encoder = tf.FastSpeech2ConformerModel(config).encoder
    return Seen(encoder, lambda m, x: m(x, return_dict=True).last_hidden_state), torch.randint(3, 50, (2, 24)), 1


def dac(part: str) -> Case:
    config = tf.DacConfig(encoder_hidden_size=8, decoder_hidden_size=64, hidden_size=32, downsampling_ratios=(2, 4, 5))
    model = tf.DacModel(config)
    if part == "encoder":
        return Seen(model.encoder, lambda m, x: m(x)), 0.1 * torch.randn(2, 1, 2000), 2
    return Seen(model.decoder, lambda m, x: m(x)), torch.randn(2, model.config.hidden_size, 30), 2


def encodec_encoder() -> Case:
    config = tf.EncodecConfig(num_filters=4, hidden_size=16, codebook_dim=16, codebook_size=64)
    return Seen(tf.EncodecModel(config).encoder, lambda m, x: m(x)), 0.1 * torch.randn(2, 1, 3200), 2


def mimi(part: str) -> Case:
    config = tf.MimiConfig(
        hidden_size=32, num_filters=4, upsampling_ratios=[5, 4], codebook_dim=16, codebook_size=32, upsample_groups=32,
        vector_quantization_hidden_dimension=16, num_hidden_layers=2, intermediate_size=64, num_attention_heads=4,
        num_key_value_heads=4, head_dim=8, num_quantizers=4, sliding_window=16,
    )  # fmt: skip
    model = tf.MimiModel(config)
    if part == "encoder":
        return Seen(model.encoder, lambda m, x: _first(m(x))), 0.1 * torch.randn(2, 1, 2000), 2
    if part == "transformer":
        return Seen(model.encoder_transformer, lambda m, x: m(x, use_cache=False)[0]), torch.randn(2, 24, 32), 1
    return Seen(model.decoder, lambda m, x: _first(m(x))), torch.randn(2, 32, 30), 2


def _first(found: Any) -> Tensor:
    return found if isinstance(found, Tensor) else next(value for value in found.values() if isinstance(value, Tensor))


def vits(part: str) -> Case:
    config = tf.VitsConfig(
        vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, ffn_dim=64, flow_size=16,
        spectrogram_bins=33, upsample_initial_channel=32, upsample_rates=(4, 4), upsample_kernel_sizes=(8, 8),
    )  # fmt: skip
    model = tf.VitsModel(config)
    if part == "text":
        text = Seen(model.text_encoder, lambda m, x: m(x, torch.ones_like(x)[..., None].float()).last_hidden_state)
        return text, torch.randint(3, 50, (2, 24)), 1
    if part == "flow":
        return Seen(model.flow, lambda m, x: m(x, torch.ones_like(x[:, :1]), reverse=True)), torch.randn(2, 16, 40), 2
    return Seen(model.decoder, lambda m, x: m(x)), torch.randn(2, 16, 30), 2


def clvp() -> Case:
    config = tf.ClvpEncoderConfig(
        vocab_size=100, hidden_size=32, intermediate_size=64, projection_dim=16, num_hidden_layers=2,
        num_attention_heads=4, use_rotary_embedding=False,
    )  # fmt: skip
    return _hidden(_part("clvp", "ClvpEncoder")(config), torch.randint(3, 90, (2, 24)))


def dia() -> Case:
    config = tf.DiaEncoderConfig(
        vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4, head_dim=8,
        intermediate_size=64,
    )  # fmt: skip
    return Seen(_part("dia", "DiaEncoder")(config), lambda m, x: m(x)[0]), torch.randint(3, 90, (2, 24)), 1


def csm() -> Case:
    config = tf.CsmConfig(
        num_codebooks=4, vocab_size=60, text_vocab_size=60, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=8,
    )  # fmt: skip
    model = _part("csm", "CsmBackboneModel")(config)
    return Seen(model, lambda m, x: m(inputs_embeds=x, use_cache=False).last_hidden_state), torch.randn(2, 24, 32), 1


def musicgen() -> Case:
    config = tf.MusicgenDecoderConfig(
        vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=64, num_codebooks=2
    )
    decoder = _part("musicgen", "MusicgenModel")(config).decoder
    return Seen(decoder, lambda m, x: m(inputs_embeds=x, use_cache=False).last_hidden_state), torch.randn(2, 24, 32), 1


def vibevoice() -> Case:
    config = _config("vibevoice_acoustic_tokenizer", "VibeVoiceAcousticTokenizerConfig")(
        hidden_size=16, num_filters=4, downsampling_ratios=(2, 4), depths=(1, 1, 1)
    )
    model = _part("vibevoice_acoustic_tokenizer", "VibeVoiceAcousticTokenizerModel")(config)
    return Seen(model.encoder, lambda m, x: m(x).latents), 0.1 * torch.randn(2, 1, 800), 2


TRANSFORMERS: dict[str, Callable[[], Case]] = {
    "sew": lambda: _wave("SEW", squeeze_factor=2),
    "sew_d": lambda: _wave("SEWD", squeeze_factor=2, max_position_embeddings=64, position_buckets=32),
    "wavlm": lambda: _wave("WavLM", num_buckets=32, max_bucket_distance=80),
    "unispeech": lambda: _wave("UniSpeech"),
    "wav2vec2_bert": wav2vec2_bert,
    "parakeet": parakeet,
    "lasr": lasr,
    "granite_speech": granite_speech,
    "moonshine": moonshine,
    "omniasr": omniasr,
    "glmasr": glmasr,
    "seamless_m4t": lambda: seamless(""),
    "seamless_m4t_v2": lambda: seamless("v2"),
    "speecht5": speecht5,
    "fastspeech2_hifigan": fastspeech2_hifigan,
    "fastspeech2_conformer": fastspeech2_conformer,
    "dac_encoder": lambda: dac("encoder"),
    "dac_decoder": lambda: dac("decoder"),
    "encodec_encoder": encodec_encoder,
    "mimi_encoder": lambda: mimi("encoder"),
    "mimi_transformer": lambda: mimi("transformer"),
    "mimi_decoder": lambda: mimi("decoder"),
    "vits_text": lambda: vits("text"),
    "vits_flow": lambda: vits("flow"),
    "vits_decoder": lambda: vits("decoder"),
    "clvp": clvp,
    "dia": dia,
    "csm": csm,
    "musicgen": musicgen,
    "vibevoice": vibevoice,
    "bert": lambda: _text("bert"),
    "electra": lambda: _text("electra", embedding_size=32),
    "albert": lambda: _text("albert", embedding_size=16),
    "roformer": lambda: _text("roformer", embedding_size=32),
    "deberta_v2": lambda: _text("deberta-v2", relative_attention=True, pos_att_type=["c2p", "p2c"], position_buckets=16,
                                max_relative_positions=-1, norm_rel_ebd="layer_norm", share_att_key=True),
    "squeezebert": lambda: _text("squeezebert", embedding_size=32),
    "convbert": lambda: _text("convbert", embedding_size=32),
    "modernbert": lambda: _text("modernbert", pad_token_id=0),
    "t5": lambda: _text("t5", d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4),
    "umt5": lambda: _text("umt5", d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4),
    "gpt2": lambda: _causal("gpt2", n_embd=32, n_layer=2, n_head=4, n_positions=512),
    "gpt_neox": lambda: _causal("gpt_neox"),
    "bloom": lambda: _causal("bloom", n_layer=2, n_head=4),
    "llama": lambda: _causal("llama", num_key_value_heads=2),
    "gemma2": lambda: _causal("gemma2", num_key_value_heads=2, head_dim=8, sliding_window=8),
    "qwen3": lambda: _causal("qwen3", num_key_value_heads=2, head_dim=8),
    "mpt": lambda: _causal("mpt", d_model=32, n_heads=4, n_layers=2, max_seq_len=512),
    "falcon": lambda: _causal("falcon", num_kv_heads=4, new_decoder_architecture=False, alibi=True),
}  # fmt: skip
