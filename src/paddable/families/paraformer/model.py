"""Paraformer and BiCIF Paraformer: a recogniser that decodes every token at once.

A SAN-M encoder; a predictor that gives every step a weight, the weights of a token adding up to 1 (CIF); a decoder
that turns the rows of all tokens into classes in one pass. BiCIF has a second predictor at three times the rate, whose
fires are the time stamps. Gao et al., "Paraformer: Fast and accurate parallel transformer for non-autoregressive
end-to-end speech recognition" (2022), in the form of FunASR's ``Paraformer`` and ``BiCifParaformer``, whose parameter
names these are.

SeACo Paraformer is BiCIF with a second decoder, which looks at hotwords in place of the encoder. Shi et al., "SeACo-
Paraformer: A non-autoregressive ASR system with flexible and effective hotword customization ability" (2023).

The number of tokens is known only when the weights are. The token axis therefore has T rows, which no T steps can
overfill; ``token_count`` says how many are tokens, and rows behind them are 0.

Legend: B batch, S samples, T features (60 ms), U token rows, N hotwords, L tokens of one, C channels, H heads, D
channels of a head, V vocabulary.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from paddable.families.layers.sanm import SanmEncoder, attend, split_heads
from paddable.families.paraformer.cif import integrate_and_fire
from paddable.families.paraformer.config import HotwordConfig, ParaformerConfig, PredictorConfig, UpsamplingConfig

__all__ = ["NORM_EPSILON", "Paraformer"]

NORM_EPSILON = 1e-12


class Paraformer(nn.Module):
    """Paraformer from a waveform, or from features.

    Args:
        config: sizes.
        front_end: waveform to features; None where the model is fed features.
    """

    def __init__(self, config: ParaformerConfig, front_end: nn.Module | None = None) -> None:
        super().__init__()
        self.config = config
        self.front_end = front_end or nn.Identity()
        self.encoder = SanmEncoder(config, norm_epsilon=NORM_EPSILON)
        self.predictor = Predictor(config.size, config.predictor)
        self.decoder = Decoder(config)
        if config.hotwords is not None:
            self.decoder.embed = nn.ModuleList([nn.Embedding(config.vocabulary, config.size)])
            self.bias_encoder = nn.LSTM(config.size, config.size, num_layers=2, batch_first=True)
            self.seaco_decoder = Decoder(_of_hotwords(config, config.hotwords))
            self.hotword_output_layer = nn.Linear(config.size, config.vocabulary)

    def forward(
        self, sound: Tensor, hotwords_NL: Tensor | None = None, hotword_lengths_N: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        """Logits, number of tokens, weights and fires.

        Args:
            sound: waveform float32 [B, S] in [-1, 1] at 16 kHz, or features float32 [B, T, 560] without a front end.
            hotwords_NL: of SeACo: tokens of the hotwords, int64.
            hotword_lengths_N: of SeACo: how many tokens each has, int64; 0 where there is no hotword. ``logits`` are
                log-probabilities then, and without any hotword those of the decoder alone.

        Returns:
            ``logits`` float32 [B, T, V], rows from ``token_count`` on 0; ``token_count`` int64 [B]; ``alphas`` and
            ``fires`` float32 [B, T]; for BiCIF also ``us_alphas`` float32 [B, 3 T].
        """
        encoded_BTC = self.encoder(self.front_end(sound))
        heard_BTC = self.predictor.heard(encoded_BTC)
        alphas_BT = self.predictor.weights(heard_BTC)
        fired = integrate_and_fire(alphas_BT, self.config.predictor.tail_threshold)
        is_token_BU = torch.arange(alphas_BT.shape[1]) < fired.count_B[:, None]
        is_token_BU1, rows_BUC = is_token_BU[..., None], fired.shares_BUT @ encoded_BTC
        hidden_BUC = self.decoder(rows_BUC, encoded_BTC, is_token_BU1)
        logits_BUV = self.decoder.output_layer(hidden_BUC)
        if hotwords_NL is not None and hotword_lengths_N is not None:
            logits_BUV = self._with_hotwords(
                rows_BUC, hidden_BUC, logits_BUV, is_token_BU1, hotwords_NL, hotword_lengths_N
            )
        logits_BUV = torch.where(is_token_BU1, logits_BUV, 0.0)
        outputs = (logits_BUV, fired.count_B, alphas_BT, fired.fires_BT)
        if self.predictor.upsampling is None:
            return outputs
        return (*outputs, self.predictor.upsampled(encoded_BTC, heard_BTC))

    def _with_hotwords(
        self,
        rows_BUC: Tensor,
        hidden_BUC: Tensor,
        logits_BUV: Tensor,
        is_token_BU1: Tensor,
        hotwords_NL: Tensor,
        hotword_lengths_N: Tensor,
    ) -> Tensor:
        """Log-probabilities: of the second decoder where it hears a hotword, else of the first."""
        assert self.config.hotwords is not None
        states_NLC = self.bias_encoder(self.decoder.embed[0](hotwords_NL))[0]
        is_last_NL1 = (torch.arange(hotwords_NL.shape[1]) == hotword_lengths_N[:, None] - 1)[..., None]
        hotwords_BNC = torch.where(is_last_NL1, states_NLC, 0.0).sum(dim=1)[None]
        is_hotword_N = hotword_lengths_N > 0
        attended_BUC = self.seaco_decoder(rows_BUC, hotwords_BNC, is_token_BU1, is_hotword_N)
        attended_BUC = attended_BUC + self.seaco_decoder(hidden_BUC, hotwords_BNC, is_token_BU1, is_hotword_N)
        heard_BUV = torch.log_softmax(self.hotword_output_layer(attended_BUC), dim=-1)
        nothing_BU1 = heard_BUV.argmax(dim=-1, keepdim=True) == self.config.hotwords.nothing
        alone = torch.logical_or(nothing_BU1, torch.logical_not(is_hotword_N.any()))
        return torch.where(alone, torch.log_softmax(logits_BUV, dim=-1), heard_BUV)


def _of_hotwords(config: ParaformerConfig, hotwords: HotwordConfig) -> ParaformerConfig:
    """The sizes of the second decoder in the place of those of the first; it has no output layer."""
    return replace(
        config,
        decoder_heads=hotwords.heads,
        decoder_hidden_size=hotwords.hidden_size,
        decoder_blocks=hotwords.blocks,
        plain_blocks=hotwords.plain_blocks,
        decoder_kernel_size=hotwords.kernel_size,
        decoder_shift=hotwords.shift,
        vocabulary=0,
    )


class Predictor(nn.Module):
    """Weight of every step, from 0 to 1 (FunASR's ``CifPredictorV2``); at a higher rate too for BiCIF (``V3``)."""

    def __init__(self, size: int, config: PredictorConfig) -> None:
        super().__init__()
        self.config = config
        self.cif_conv1d = nn.Conv1d(size, size, config.left + config.right + 1)
        self.cif_output = nn.Linear(size, 1)
        self.upsampling = upsampling = config.upsampling
        if upsampling is not None:
            self.upsample_cnn = nn.ConvTranspose1d(size, size, upsampling.times, upsampling.times)
            if upsampling.recurrent:
                self.blstm = nn.LSTM(size, size, batch_first=True, bidirectional=True)
            self.cif_output2 = nn.Linear(2 * size if upsampling.recurrent else size, 1)

    def heard(self, x_BTC: Tensor) -> Tensor:
        """Each step with its neighbours."""
        x_BCT = functional.pad(x_BTC.transpose(1, 2), (self.config.left, self.config.right))
        return torch.relu(self.cif_conv1d(x_BCT)).transpose(1, 2)

    def weights(self, heard_BTC: Tensor) -> Tensor:
        """Weight of each step, float32 [B, T]."""
        return _weights(self.cif_output(heard_BTC), self.config)

    def upsampled(self, x_BTC: Tensor, heard_BTC: Tensor) -> Tensor:
        """Weight of each step at the higher rate, float32 [B, 3 T]; their sum is not yet the number of tokens."""
        assert self.upsampling is not None
        read_BTC = heard_BTC if self.upsampling.behind_convolution else x_BTC
        up_BTC = self.upsample_cnn(read_BTC.transpose(1, 2)).transpose(1, 2)
        if self.upsampling.recurrent:
            up_BTC = self.blstm(up_BTC)[0]
        return _weights(self.cif_output2(up_BTC), self.upsampling)


def _weights(scores_BT1: Tensor, config: PredictorConfig | UpsamplingConfig) -> Tensor:
    return torch.relu(torch.sigmoid(scores_BT1) * config.smooth_factor - config.noise_threshold).squeeze(-1)


class Decoder(nn.Module):
    """Rows of tokens: memory over the tokens, attention to the encoder, feed-forward first; then, apart, to classes.

    ``decoders2``, blocks without attention, exist in configurations with more blocks than attention layers, and
    ``embed`` in a SeACo model alone, whose hotwords it embeds.
    """

    embed: nn.ModuleList

    def __init__(self, config: ParaformerConfig) -> None:
        super().__init__()
        self.decoders = nn.ModuleList(
            DecoderBlock(config, config.decoder_shift, attends=True) for _ in range(config.decoder_blocks)
        )
        self.decoders2 = nn.ModuleList(DecoderBlock(config, 0, attends=False) for _ in range(config.plain_blocks))
        self.decoders3 = nn.ModuleList([LastBlock(config)])
        self.after_norm = nn.LayerNorm(config.size, eps=NORM_EPSILON)
        if config.vocabulary:
            self.output_layer = nn.Linear(config.size, config.vocabulary)

    def forward(
        self, x_BUC: Tensor, encoded_BTC: Tensor, is_token_BU1: Tensor, is_step_T: Tensor | None = None
    ) -> Tensor:
        """What the output layer reads [B, U, C].

        Args:
            x_BUC: rows of tokens.
            encoded_BTC: what they look at.
            is_token_BU1: rows that are no token are 0 for the memories.
            is_step_T: which of the steps are there; None for all.
        """
        for block in [*self.decoders, *self.decoders2]:
            x_BUC = block(x_BUC, encoded_BTC, is_token_BU1, is_step_T)
        hidden_BUC: Tensor = self.after_norm(self.decoders3[0](x_BUC))
        return hidden_BUC


class DecoderBlock(nn.Module):
    """Feed-forward, memory and, where it attends, attention to the encoder.

    The residual goes around feed-forward and memory together.
    """

    def __init__(self, config: ParaformerConfig, shift: int, *, attends: bool) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(config.size, eps=NORM_EPSILON)
        self.feed_forward = DecoderFeedForward(config.size, config.decoder_hidden_size)
        self.norm2 = nn.LayerNorm(config.size, eps=NORM_EPSILON)
        self.self_attn = DecoderMemory(config.size, config.decoder_kernel_size, shift)
        self.attends = attends
        if attends:
            self.norm3 = nn.LayerNorm(config.size, eps=NORM_EPSILON)
            self.src_attn = CrossAttention(config.size, config.decoder_heads)

    def forward(self, x_BUC: Tensor, encoded_BTC: Tensor, is_token_BU1: Tensor, is_step_T: Tensor | None) -> Tensor:
        memory_BUC: Tensor = self.self_attn(self.norm2(self.feed_forward(self.norm1(x_BUC))), is_token_BU1)
        x_BUC = x_BUC + memory_BUC
        if self.attends:
            attended_BUC: Tensor = self.src_attn(self.norm3(x_BUC), encoded_BTC, is_step_T)
            x_BUC = x_BUC + attended_BUC
        return x_BUC


class LastBlock(nn.Module):
    """A feed-forward layer without a residual."""

    def __init__(self, config: ParaformerConfig) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(config.size, eps=NORM_EPSILON)
        self.feed_forward = DecoderFeedForward(config.size, config.decoder_hidden_size)

    def forward(self, x_BUC: Tensor) -> Tensor:
        out_BUC: Tensor = self.feed_forward(self.norm1(x_BUC))
        return out_BUC


class DecoderFeedForward(nn.Module):
    """Linear, ReLU, norm, linear without bias."""

    def __init__(self, size: int, hidden_size: int) -> None:
        super().__init__()
        self.w_1 = nn.Linear(size, hidden_size)
        self.norm = nn.LayerNorm(hidden_size, eps=NORM_EPSILON)
        self.w_2 = nn.Linear(hidden_size, size, bias=False)

    def forward(self, x_BUC: Tensor) -> Tensor:
        out_BUC: Tensor = self.w_2(self.norm(torch.relu(self.w_1(x_BUC))))
        return out_BUC


class DecoderMemory(nn.Module):
    """A depthwise convolution over the tokens, added to its own input; rows that are no token are 0 for it."""

    def __init__(self, size: int, kernel_size: int, shift: int) -> None:
        super().__init__()
        self.fsmn_block = nn.Conv1d(size, size, kernel_size, groups=size, bias=False)
        self.look_back = (kernel_size - 1) // 2 + shift
        self.look_ahead = kernel_size - 1 - self.look_back

    def forward(self, x_BUC: Tensor, is_token_BU1: Tensor) -> Tensor:
        x_BCU = torch.where(is_token_BU1, x_BUC, 0.0).transpose(1, 2)
        remembered_BCU: Tensor = self.fsmn_block(functional.pad(x_BCU, (self.look_back, self.look_ahead)))
        return (x_BCU + remembered_BCU).transpose(1, 2)


class CrossAttention(nn.Module):
    """Multi-head attention from the tokens to the encoder's steps."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.size, self.heads = size, heads
        self.linear_q = nn.Linear(size, size)
        self.linear_k_v = nn.Linear(size, 2 * size)
        self.linear_out = nn.Linear(size, size)

    def forward(self, x_BUC: Tensor, encoded_BTC: Tensor, is_step_T: Tensor | None) -> Tensor:
        key_BTC, value_BTC = self.linear_k_v(encoded_BTC).split(self.size, dim=-1)
        query_BHUD, key_BHTD, value_BHTD = (
            split_heads(x, self.heads) for x in (self.linear_q(x_BUC), key_BTC, value_BTC)
        )
        query_BHUD = query_BHUD * query_BHUD.shape[-1] ** -0.5
        scores_BHUT = query_BHUD @ key_BHTD.transpose(-2, -1)
        if is_step_T is not None:  # the lowest number, not -inf: where none is there, nothing becomes NaN
            scores_BHUT = torch.where(is_step_T, scores_BHUT, torch.finfo(scores_BHUT.dtype).min)
        out_BUC: Tensor = self.linear_out(attend(scores_BHUT, value_BHTD))
        return out_BUC
