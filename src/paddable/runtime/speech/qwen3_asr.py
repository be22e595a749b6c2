"""Qwen3-ASR: a clip to the embeddings that its language model takes in place of the audio placeholders.

The hand-over to transformers: a prompt with one audio token for each row of ``encode``'s result, the prompt's word
embeddings with those rows put in the places of the audio tokens, ``model(inputs_embeds=...)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.audio import whisper
from paddable.errors import MisuseError
from paddable.runtime.session.session import Unjudged
from paddable.runtime.speech.answers import finite

__all__ = ["Qwen3AsrEncoding"]


class Qwen3AsrEncoding:
    """The encoder on a session.

    Args:
        session: of a converted encoder, made by ``paddable.load``; it takes ``mel`` or ``audio``.
    """

    def __init__(self, session: Unjudged) -> None:
        self.session = session

    def encode(self, audio: NDArray[Any]) -> NDArray[np.float32]:
        """Embeddings of one clip.

        Args:
            audio: floats [S] in [-1, 1] at 16 kHz, mono, at least one sample; under half a second it is filled up
                with zeros, as both originals do. A peak above 1 is scaled to 1, as qwen-asr does.

        Returns:
            float32 [L, E], 13 rows a second.

        Raises:
            MisuseError: not one row of finite floats, or longer than every container.
            PaddableError: NaN or infinity among the embeddings.
        """
        audio = np.asarray(audio)
        if audio.ndim != 1 or not len(audio) or audio.dtype.kind != "f" or not np.isfinite(audio).all():
            raise MisuseError(
                f"an array of shape {list(audio.shape)} and type {audio.dtype}",
                where="audio",
                why="the encoder takes one row of finite samples in [-1, 1] at 16 kHz",
                fix="read the file with paddable.audio.read_audio",
            )
        audio = audio / max(1.0, float(np.abs(audio).max()))
        metadata = self.session.metadata
        takes_waveform = metadata is not None and any(s.input == "audio" for s in metadata.symbols.values())
        feeds = {"audio": audio.astype(np.float32)[None]} if takes_waveform else {"mel": whisper.log_mel(audio)[None]}
        embeddings: NDArray[np.float32] = finite(self.session.run(feeds)["embeddings"][0], "embeddings")
        return embeddings
