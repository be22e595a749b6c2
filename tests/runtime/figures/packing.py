"""What packing clips into one container could gain on a GPU: an upper bound, since no mask and no proof is paid for.

python -m tests.runtime.figures.packing

The 70 blocks of SenseVoice, random weights, in PyTorch under CUDA graphs, which is what a captured container is. A
folder of clips is recognised in three ways: each in the smallest container that holds it; rows of one container, as
many as have the frames of one call; packed into a container, first fit, longest first, with the gap that the memory of
a block reads. Times are medians of a captured call; the time of a folder is the sum of its calls.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
import torch
from torch import nn

from paddable.families.layers.sanm import SanmEncoder
from paddable.families.sense_voice.config import SenseVoiceConfig

STOCKS = {"four": (34, 84, 167, 501), "twelve": (34, 43, 55, 71, 90, 115, 147, 188, 240, 307, 392, 501)}
"""Containers of 2, 5, 10 and 30 s, and a row of them that grows by the same factor."""
GAP = 5
CLIPS = 500
SPANS = {"1 to 30 s": (17, 500), "1 to 10 s": (17, 167), "1 to 5 s": (17, 84), "1 to 2 s": (17, 34)}


def captured(blocks: nn.Module, rows: int, steps: int) -> float:
    """Milliseconds of a captured call."""
    x = torch.randn(rows, steps, SenseVoiceConfig().input_size, dtype=next(blocks.parameters()).dtype)
    for _ in range(3):
        blocks(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        blocks(x)
    times: list[float] = []
    for _ in range(30):
        start = time.perf_counter()
        graph.replay()
        torch.cuda.synchronize()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def bins(clips: list[int], size: int) -> int:
    """Containers that the clips fill, first fit, longest first."""
    room: list[int] = []
    for steps in sorted(clips, reverse=True):
        at = next((i for i, left in enumerate(room) if left >= steps + GAP), None)
        if at is None:
            room.append(size - steps)
        else:
            room[at] -= steps + GAP
    return len(room)


@torch.no_grad()
def main() -> None:
    torch.set_default_device("cuda")
    print(torch.cuda.get_device_name(), torch.__version__)
    for dtype in (torch.float32, torch.float16):
        made = SanmEncoder(SenseVoiceConfig(), 20).eval().to(dtype)
        norms = (made.after_norm, *made.tp_encoders, made.tp_norm)
        blocks = nn.Sequential(*made.encoders0, *made.encoders, *norms)
        alone = {steps: captured(blocks, 1, steps) for steps in STOCKS["twelve"] + STOCKS["four"]}
        for frames in (501, 2004, 8016):
            packed = captured(blocks, frames // 501, 501)
            for stock, containers in STOCKS.items():
                rows_of = {steps: frames // steps for steps in containers}
                rows = {steps: captured(blocks, count, steps) for steps, count in rows_of.items()}
                for name, (least, most) in SPANS.items():
                    rng = np.random.default_rng(0)
                    clips = [int(n) for n in np.exp(rng.uniform(np.log(least), np.log(most), CLIPS))]
                    held = [next(steps for steps in containers if steps >= n) for n in clips]
                    one = sum(alone[steps] for steps in held)
                    by_rows = sum(-(-held.count(steps) // rows_of[steps]) * rows[steps] for steps in containers)
                    together = -(-bins(clips, 501) // (frames // 501)) * packed
                    print(
                        f"{dtype}, {stock} containers, {frames} frames a call, {name}: alone {one:.0f} ms, "
                        f"rows {by_rows:.0f} ms, packed {together:.0f} ms, gain {min(one, by_rows) / together:.2f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
