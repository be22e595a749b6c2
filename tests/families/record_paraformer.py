"""Records what FunASR's own Paraformer and BiCIF answer, for CI, which cannot install it.

    python -m tests.families.record_paraformer

Needs funasr 1.4.16 beside torch 2.13.0, and nothing else of Paddable than the weights and FunASR's configuration.
"""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from paddable.families.paraformer.model import Paraformer
from paddable.families.paraformer.weights import paraformer_from_folder

from ..api import checkpoints
from ..api.checkpoints import (
    PARAFORMER,
    PARAFORMER_PIECES,
    PARAFORMER_YAML,
    PLAIN_PARAFORMER,
    SEACO_YAML,
    VOCABULARY,
    randomised,
)

GOLDEN = Path(__file__).parent / "golden" / "paraformer.npz"
LENGTHS = (1, 2, 3, 5, 17, 50, 167)
CONFIGS = {"bicif": PARAFORMER, "plain": PLAIN_PARAFORMER}


def weights(kind: str) -> nn.Module:
    """Our model with small random weights that fire."""
    return randomised(Paraformer(CONFIGS[kind]))


def speech(length: int) -> torch.Tensor:
    """Random features [1, length, 560]; a length of its own content."""
    return torch.randn(1, length, 560, generator=torch.Generator().manual_seed(length))


def waves() -> dict[str, np.ndarray]:
    """Sounds at 16 kHz, in [-1, 1]."""
    noise, time = np.random.default_rng(0).standard_normal(40_000), np.arange(40_000) / 16_000
    made = {
        "syllables": 0.2 * noise * np.sin(4 * np.pi * time) ** 2,
        "silence": np.zeros(16_000),
        "one frame": 0.1 * noise[:400],
    }
    return {name: wave.astype(np.float32) for name, wave in made.items()}


def heard(folder: Path, wave: np.ndarray) -> torch.Tensor:
    """FunASR's features of a sound, as a checkpoint folder configures them."""
    from funasr.frontends.wav_frontend import WavFrontend

    front_end = WavFrontend(cmvn_file=str(folder / "am.mvn"), dither=0.0, **PARAFORMER_YAML["frontend_conf"])
    features: torch.Tensor = front_end(torch.from_numpy(wave)[None], torch.tensor([len(wave)]))[0]
    return features


HOTWORDS: dict[str, list[list[int]]] = {
    "none": [],
    "one": [[3, 4]],
    "several": [[3], [10, 11], [13, 14, 15, 16], [9, 8, 7, 6, 5, 4, 3, 13, 14, 15]],
    "many": [[3 + i % 17, 3 + i % 13] for i in range(49)],
}
"""Tokens of hotwords, without the one that stands for none."""


def hotword_inputs(hotwords: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """As the graph takes them: with the beginning of a sentence for none, where there are some."""
    rows, lengths = torch.zeros(50, 10, dtype=torch.int64), torch.zeros(50, dtype=torch.int64)
    for row, tokens in enumerate([*hotwords, [1]] if hotwords else []):
        rows[row, : len(tokens)], lengths[row] = torch.tensor(tokens), len(tokens)
    return rows, lengths


@torch.no_grad()
def with_hotwords(theirs: nn.Module, sound: torch.Tensor, hotwords: list[list[int]]) -> np.ndarray:
    """Log-probabilities of the original's ``inference``."""
    encoded, lengths = theirs.encode(sound, torch.tensor([sound.shape[1]]))
    embeddings, count, _, _ = theirs.calc_predictor(encoded, lengths)
    given = [*hotwords, [theirs.sos]] if hotwords else None
    told: np.ndarray = theirs._seaco_decode_with_ASF(
        encoded, lengths, embeddings, count.round().long(), hw_list=given
    ).numpy()
    return told


def original(kind: str, state: dict[str, torch.Tensor]) -> nn.Module:
    """FunASR's class with these weights. The decoder's embedding is the one key that only training reads."""
    import funasr.models.bicif_paraformer.cif_predictor
    import funasr.models.paraformer.cif_predictor
    import funasr.models.paraformer.decoder
    import funasr.models.sanm.encoder  # noqa: F401
    from funasr.models.bicif_paraformer.model import BiCifParaformer
    from funasr.models.paraformer.model import Paraformer as Original
    from funasr.models.seaco_paraformer.model import SeacoParaformer

    said = copy.deepcopy(SEACO_YAML if kind == "seaco" else PARAFORMER_YAML)
    if kind == "plain":
        said["predictor"] = "CifPredictorV2"
        said["predictor_conf"] = {
            key: said["predictor_conf"][key] for key in ("idim", "threshold", "l_order", "r_order", "tail_threshold")
        }
    parts = {key: said[key] for key in said if key.startswith(("encoder", "decoder", "predictor", "seaco"))}
    classes = {"bicif": BiCifParaformer, "plain": Original, "seaco": SeacoParaformer}
    made = classes[kind](**parts, **said.get("model_conf", {}), ctc_weight=0.0, input_size=560, vocab_size=VOCABULARY)
    keys = made.load_state_dict(state, strict=False)
    idle = [] if kind == "seaco" else ["decoder.embed.0.weight"]
    assert keys.missing_keys == idle and not keys.unexpected_keys, keys
    return made.eval()


@torch.no_grad()
def answers(theirs: nn.Module, kind: str, sound: torch.Tensor) -> dict[str, Any]:
    """What the original's own ``inference`` computes on the way from features to time stamps."""
    from funasr.utils.timestamp_tools import ts_prediction_lfr6_standard

    length = sound.shape[1]
    encoded, lengths = theirs.encode(sound, torch.tensor([length]))
    embeddings, count, alphas, peaks = theirs.calc_predictor(encoded, lengths)
    count = count.round().long()
    told: dict[str, Any] = {
        "token_count": count.numpy(),
        "alphas": alphas[:, :length].numpy(),
        "fires": np.flatnonzero(peaks[0, :length].numpy() >= 1),
        "logits": np.zeros((1, 0, VOCABULARY), np.float32),
        "times": np.zeros((0, 2), np.int64),
    }
    if count < 1:
        return told
    told["logits"] = theirs.decoder(encoded, lengths, embeddings, count)[0].numpy()
    best = [int(token) for token in told["logits"][0].argmax(axis=1) if token > 2]  # blank, <s> and </s> write nothing
    tokens = [PARAFORMER_PIECES[token] for token in best]
    if kind == "bicif":
        _, _, weights, sums = theirs.calc_predictor_timestamp(encoded, lengths, count)
        told["us_alphas"] = weights.numpy().copy()
        _, times = ts_prediction_lfr6_standard(weights[0], sums[0], tokens)
    else:  # as FunASR calls it: the fires for weights and the weights for fires
        _, times = ts_prediction_lfr6_standard(peaks[0].clone(), alphas[0].clone(), tokens, upsample_rate=1)
    told["times"] = np.array(times, np.int64).reshape(-1, 2)
    return told


def texts() -> list[dict[str, Any]]:
    """Rows of pieces with what FunASR writes; without pieces that it loses (a word that goes on at the end)."""
    from funasr.utils import postprocess_utils

    random = np.random.default_rng(0)
    pieces = ["一", "二", "十", "3", "4", "@", "hel@@ lo", "world", "a", "b", "C", "it's", "don@@ 't", "é"]
    rows = []
    for _ in range(300):
        row = " ".join(random.choice(pieces, random.integers(1, 8))).split()
        times = [[100 * i, 100 * i + 100] for i in range(len(row))]
        text, _ = postprocess_utils.sentence_postprocess(list(row))
        _, timed, words = postprocess_utils.sentence_postprocess(list(row), copy.deepcopy(times))
        rows.append({"pieces": row, "text": text, "words": words, "times": timed})
    return rows


def main() -> None:
    arrays = {}
    for kind in CONFIGS:
        theirs = original(kind, weights(kind).state_dict())
        for length in LENGTHS:
            for name, array in answers(theirs, kind, speech(length)).items():
                arrays[f"{kind}/{length}/{name}"] = array
    with tempfile.TemporaryDirectory() as place:
        folder = checkpoints.paraformer(Path(place) / "checkpoint")
        theirs = original("bicif", paraformer_from_folder(folder).state_dict())
        for wave, sound in waves().items():
            for name, array in answers(theirs, "bicif", heard(folder, sound)).items():
                arrays[f"{wave}/{name}"] = array
        folder = checkpoints.seaco(Path(place) / "seaco")
        theirs = original("seaco", paraformer_from_folder(folder).state_dict())
        for name, hotwords in HOTWORDS.items():
            for length in (5, 50):
                arrays[f"hotwords/{name}/{length}"] = with_hotwords(theirs, speech(length), hotwords)
    GOLDEN.parent.mkdir(exist_ok=True)
    np.savez_compressed(GOLDEN, **arrays)
    (GOLDEN.parent / "paraformer_texts.json").write_text(json.dumps(texts(), ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
