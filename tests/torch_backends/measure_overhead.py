"""What `fallback` costs where it has nothing to replace, as a ratio: ``python measure_overhead.py [FRAMES] [WIDTH]``.

A 50-block Transformer encoder with a feed-forward part of four times the width, on the CPU, float32, random weights.
The two are run in turn, and the fastest of nine runs each are compared, so that a busy machine matters less.
"""

from __future__ import annotations

import sys
import time

import torch
from torch import nn

from paddable.torch_backends import fallback


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.heads, self.qkv, self.out = 4, nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.memory = nn.Conv1d(width, width, 11, padding=5, groups=width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        memory = self.memory((v * mask).transpose(1, 2)).transpose(1, 2) + v
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (q, k, v))
        mixed = nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        x = x + self.out(mixed) + memory
        return x + self.down(torch.relu(self.up(self.norm2(x))))


def main(frames: int = 100, width: int = 512) -> None:
    torch.manual_seed(0)
    blocks = nn.ModuleList([Block(width) for _ in range(50)]).eval()
    x, mask = torch.randn(1, frames, width), torch.ones(1, frames, 1)

    def run() -> float:
        started = time.perf_counter()
        y = x
        for block in blocks:
            y = block(y, mask)
        return time.perf_counter() - started

    plain, inside = [], []
    with torch.no_grad():
        run()
        for _ in range(9):
            plain.append(run())
            with fallback("cpu", backend="torch-directml") as report:
                inside.append(run())
            assert not report.replaced
    a, b = min(plain), min(inside)
    print(f"{frames} frames, width {width}: {1000 * a:.0f} ms plain, {1000 * b:.0f} ms inside, ratio {b / a:.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
