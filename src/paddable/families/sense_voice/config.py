"""Sizes of a SenseVoice model, and its prompt table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paddable.families.checkpoints.settings import Settings
from paddable.families.layers.sanm import SanmSizes, encoder_sizes, stacking

__all__ = ["LANGUAGES", "TEXT_NORMS", "SenseVoiceConfig"]

LANGUAGES = {"auto": 0, "zh": 3, "en": 4, "yue": 7, "ja": 11, "ko": 12, "nospeech": 13}
"""Row of the prompt table for each language."""

TEXT_NORMS = {"withitn": 14, "woitn": 15}
"""Row of the prompt table for text with and without inverse text normalisation (punctuation, digits)."""


@dataclass(frozen=True)
class SenseVoiceConfig(SanmSizes):
    """Sizes, those of the encoder first; the defaults are SenseVoiceSmall's.

    Attributes:
        tp_blocks: encoder blocks after the norm.
        vocabulary: CTC classes, the blank (0) included.
        prompts: rows of the prompt table.
        stack: log-mel frames in one feature.
        stride: log-mel frames between two features.
    """

    tp_blocks: int = 20
    vocabulary: int = 25055
    prompts: int = 16
    stack: int = 7
    stride: int = 6

    @classmethod
    def from_funasr(cls, config: Mapping[str, Any], *, vocabulary: int, where: str = "config.yaml") -> SenseVoiceConfig:
        """Reads FunASR's config.yaml.

        Args:
            config: the parsed file.
            vocabulary: CTC classes; config.yaml does not say, the weights do.
            where: the file.

        Raises:
            UnreadableError: the file describes another model, or holds a value that is not a size.
        """
        file = Settings(config, where)
        file.one_of("model", "SenseVoiceSmall")
        return cls(
            **encoder_sizes(file.section("encoder_conf"), cls.size),
            **stacking(file, stack=cls.stack, stride=cls.stride),
            vocabulary=vocabulary,
        )
