"""Records what FunASR's own CT-Transformer writes, for CI, which cannot install it.

    python -m tests.families.record_ct_punc

Needs funasr 1.4.16 beside torch 2.13.0, and nothing else of Paddable than the weights and FunASR's configuration.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from paddable.families.ct_punc.model import CtPunc

from ..api.checkpoints import CT_PUNC, CT_PUNC_PIECES, CT_PUNC_YAML, randomised

GOLDEN = Path(__file__).parent / "golden" / "ct_punc.json"
KINDS = ("any mark", "hardly an end", "commas alone")


def weights(kind: str) -> CtPunc:
    """Our model with small random weights, which put ends of sentences often, seldom or never."""
    model: CtPunc = randomised(CtPunc(CT_PUNC))
    bias = model.decoder.bias.data
    if kind != "any mark":
        bias[1] += 1
        bias[[3, 4]] -= 1.5 if kind == "hardly an end" else 99
        bias[[0, 5]] -= 99
    return model


def rows(length: int) -> torch.Tensor:
    """Random words [1, length]; a length of its own content."""
    return torch.randint(CT_PUNC.vocabulary, (1, length), generator=torch.Generator().manual_seed(length))


def texts() -> list[str]:
    """Of 1 to 400 words and characters, some outside the table, with spaces here and there."""
    random = np.random.default_rng(0)
    pieces = [*CT_PUNC_PIECES[2:], "x", "十", "iPhone", "."]
    made = []
    for length in (*range(1, 30), 40, 41, 60, 99, 230, 400):
        chosen = random.choice(pieces, length)
        made.append("".join(piece + random.choice(["", " "], p=[0.3, 0.7]) for piece in chosen))
    return made


def original(state: dict[str, torch.Tensor]) -> nn.Module:
    """FunASR's class with these weights."""
    import funasr.models.sanm.encoder  # noqa: F401
    from funasr.models.ct_transformer.model import CTTransformer

    said = copy.deepcopy(CT_PUNC_YAML)
    made = CTTransformer(
        encoder=said["encoder"], encoder_conf=said["encoder_conf"], vocab_size=CT_PUNC.vocabulary, **said["model_conf"]
    )
    made.load_state_dict(state)
    return made.eval()


@torch.no_grad()
def written(theirs: nn.Module, text: str) -> str:
    """What the original's own ``inference`` makes of a text."""
    from funasr.tokenizer.char_tokenizer import CharTokenizer

    tokenizer = CharTokenizer(token_list=CT_PUNC_PIECES, unk_symbol="<unk>")
    results, _ = theirs.inference([text], key=["a"], tokenizer=tokenizer, device="cpu")
    told: str = results[0]["text"]
    return told


def main() -> None:
    told: dict[str, Any] = {"texts": texts(), "written": {}, "scores": {}}
    for kind in KINDS:
        theirs = original(weights(kind).state_dict())
        told["written"][kind] = [written(theirs, text) for text in texts()]
        with torch.no_grad():
            for length in (1, 2, 17, 200):
                scores = theirs.punc_forward(rows(length), torch.tensor([length]))[0]
                told["scores"][f"{kind}/{length}"] = scores.numpy().round(7).tolist()
    GOLDEN.write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
