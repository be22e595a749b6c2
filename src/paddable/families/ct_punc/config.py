"""Sizes and marks of a CT-Transformer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paddable.errors import RefusedError, UnreadableError
from paddable.families.checkpoints.settings import Settings
from paddable.families.layers.sanm import encoder_sizes

__all__ = ["CtPuncConfig"]


@dataclass(frozen=True)
class CtPuncConfig:
    """Sizes; the defaults are those of FunASR's ct-punc-c.

    Attributes:
        vocabulary: words and characters.
        input_size: channels of an embedding.
        size: channels of the encoder.
        heads: attention heads.
        hidden_size: inner channels of the feed-forward layers.
        blocks: encoder blocks.
        kernel_size: taps of the memory blocks.
        marks: what may follow a word; ``_`` is nothing.
        sentence_end: the mark that ends a sentence where the model does not.
    """

    vocabulary: int = 272727
    input_size: int = 256
    size: int = 256
    heads: int = 8
    hidden_size: int = 1024
    blocks: int = 4
    kernel_size: int = 11
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
        if config.get("model") != "CTTransformer":
            raise UnreadableError(f"model is {config.get('model')!r}, not CTTransformer", where=where)
        if config.get("jieba_usr_dict"):
            raise RefusedError(
                "it reads Chinese words as jieba cuts them",
                where=where,
                why="jieba_usr_dict is set, and no runtime here cuts words",
                fix="take a model that reads characters, such as ct-punc-c",
            )
        file = Settings(config, where)
        file.allow_only({"encoder": "SANMEncoder", "tokenizer": "CharTokenizer"})
        encoder, conf = file.section("encoder_conf"), file.section("model_conf")
        encoder.allow_only({"input_layer": "pe", "selfattention_layer_type": "sanm"})
        sizes = encoder_sizes(encoder, cls.size)
        if sizes.pop("tp_blocks", 0):
            raise encoder.wrong("tp_blocks", "none: SANMEncoder has no such blocks")
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
