"""SenseVoiceSmall: CTC recogniser of speech, language, emotion and audio events.

Four prompt rows (language, event, emotion, text normalisation) in front of the features, a SAN-M encoder, one linear
CTC head. The first four outputs are the rich tags, the rest is speech. After FunASR's ``SenseVoiceSmall``, whose
parameter names these are.

Legend: B batch, S samples, T features (60 ms), P = T + 4 rows with the prompt, C channels, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from paddable.families.layers.sanm import CtcHead, SanmEncoder
from paddable.families.sense_voice.config import SenseVoiceConfig

__all__ = ["SenseVoice"]

EVENT_AND_EMOTION = (1, 2)


class SenseVoice(nn.Module):
    """SenseVoice from a waveform, or from features.

    Args:
        config: sizes.
        front_end: waveform to features; None where the model is fed features.
    """

    def __init__(self, config: SenseVoiceConfig, front_end: nn.Module | None = None) -> None:
        super().__init__()
        self.config = config
        self.front_end = front_end or nn.Identity()
        self.embed = nn.Embedding(config.prompts, config.input_size)
        self.encoder = SanmEncoder(config, config.tp_blocks)
        self.ctc = CtcHead(config.size, config.vocabulary)

    def forward(self, sound: Tensor, language_B: Tensor, textnorm_B: Tensor) -> tuple[Tensor, Tensor]:
        """Encoder output and CTC logits.

        Args:
            sound: waveform float32 [B, S] in [-1, 1] at 16 kHz, or features float32 [B, T, 560] without a front end.
            language_B: int64 [B], values of ``config.LANGUAGES``.
            textnorm_B: int64 [B], values of ``config.TEXT_NORMS``.

        Returns:
            float32 [B, T + 4, C] and float32 [B, T + 4, V].
        """
        speech_BTC = self.front_end(sound)
        fixed_B2 = torch.tensor([EVENT_AND_EMOTION]).expand(language_B.shape[0], 2)
        prompt_B4 = torch.cat([language_B[:, None], fixed_B2, textnorm_B[:, None]], dim=1)
        x_BPC = torch.cat([self.embed(prompt_B4), speech_BTC], dim=1)
        encoded_BPC = self.encoder(x_BPC)
        return encoded_BPC, self.ctc(encoded_BPC)
