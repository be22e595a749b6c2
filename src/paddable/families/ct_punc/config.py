"""Sizes and marks of a CT-Transformer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paddable.errors import RefusedError
from paddable.families.checkpoints.settings import Settings
from paddable.families.layers.sanm import SanmSizes, plain_encoder_sizes

__all__ = ["CtPuncConfig"]


@dataclass(frozen=True)
class CtPuncConfig(SanmSizes):
    """Sizes, those of the encoder first, which reads embeddings; the defaults are those of FunASR's ct-punc-c.

    Attributes:
        vocabulary: words and characters.
        marks: what may follow a word; ``_`` is nothing.
        sentence_end: the mark that ends a sentence where the model does not.
    """

    input_size: int = 256
    size: int = 256
    heads: int = 8
    hidden_size: int = 1024
    blocks: int = 4
    vocabulary: int = 272727
    marks: tuple[str, ...] = ("<unk>", "_", "，", "。", "？", "、")
    sentence_end: int = 3

    @classmethod
    def from_funasr(cls, config: Mapping[str, Any], *, vocabulary: int, where: str = "config.yaml") -> CtPuncConfig:
        """Reads FunASR's config.yaml.

        Args:
            config: the parsed file.
            vocabulary: rows of the embedding; the weights say how many.
            where: the file.

        Raises:
            UnreadableError: the file describes another model, or holds a value that is not a size.
            RefusedError: the model reads words that jieba cuts.
        """
        file = Settings(config, where)
        file.one_of("model", "CTTransformer")
        if config.get("jieba_usr_dict"):
            raise RefusedError(
                "it reads Chinese words as jieba cuts them",
                where=where,
                why="jieba_usr_dict is set, and no runtime here cuts words",
                fix="take a model that reads characters, such as ct-punc-c",
            )
        file.allow_only({"encoder": "SANMEncoder", "tokenizer": "CharTokenizer"})
        encoder, conf = file.section("encoder_conf"), file.section("model_conf")
        sizes = plain_encoder_sizes(encoder, cls.size)
        embedded = conf.size("embed_unit", 128)
        for section, key, expected in (
            (encoder, "input_size", embedded),
            (conf, "att_unit", sizes["size"]),
        ):
            if section.size(key, expected) != expected:
                raise section.wrong(key, f"{expected}: what it reads has so many channels")
        marks = _marks(conf)
        return cls(
            vocabulary=vocabulary,
            input_size=embedded,
            **sizes,
            marks=marks,
            sentence_end=conf.size("sentence_end_id", 3, least=0, most=len(marks) - 1),
        )


def _marks(conf: Settings) -> tuple[str, ...]:
    marks = conf.get("punc_list")
    if not isinstance(marks, list) or not marks or not all(isinstance(mark, str) for mark in marks):
        raise conf.wrong("punc_list", "a list of punctuation marks")
    return tuple(marks)
