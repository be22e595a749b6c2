"""PyTorch on the same card: the 70-block encoder with a padding mask, compiled, under one CUDA graph.

python -m tests.gpu.torch_bar OUT.json

Whole calls, numpy to numpy: the input is copied in, the graph replayed, the output copied out. Random weights. Which
kernel attention gets depends on how the mask is handed over, so each of ``MASKS`` is measured, and the fastest counts.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

STEPS, CALLS = 501, 60
MASKS: dict[str, Callable[[torch.dtype], torch.Tensor]] = {
    "dense": lambda dtype: torch.zeros(1, 1, STEPS, STEPS, device="cuda", dtype=dtype),
    "dense, rows aligned": lambda dtype: torch.zeros(1, 1, STEPS, 512, device="cuda", dtype=dtype)[..., :STEPS],
    "keys, rows aligned": lambda dtype: torch.zeros(1, 1, 1, 512, device="cuda", dtype=dtype)[..., :STEPS].expand(
        1, 1, STEPS, STEPS
    ),
    "keys, booleans": lambda dtype: torch.ones(1, 1, 1, STEPS, device="cuda", dtype=torch.bool),
}


class Block(nn.Module):
    """A SANM block as ``tests.gates.figures.sanm70`` has it, with a padding mask on the keys and on the memory."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.residual = width == 512
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(512)
        self.qkv, self.out = nn.Linear(width, 3 * 512), nn.Linear(512, 512)
        self.memory = nn.Conv1d(512, 512, 11, groups=512, bias=False, padding=5)
        self.up, self.down = nn.Linear(512, 2048), nn.Linear(2048, 512)

    def forward(self, x: torch.Tensor, bias: torch.Tensor, valid: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(self.first(x)).split(512, -1)
        memory = self.memory((v * valid).transpose(1, 2)).transpose(1, 2) + v
        q, k, v = (part.unflatten(-1, (4, 128)).transpose(1, 2) for part in (q, k, v))
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        y = self.out(attended.transpose(1, 2).flatten(2)) + memory
        x = x + y if self.residual else y
        return x + self.down(torch.relu(self.up(self.second(x))))


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(560), *(Block(512) for _ in range(69))])
        self.norm = nn.LayerNorm(512)

    def forward(self, x: torch.Tensor, bias: torch.Tensor, valid: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x, bias, valid)
        return self.norm(x)


def captured(dtype: torch.dtype, mask: str) -> dict[str, float]:
    """Milliseconds of a call (median), and seconds until it is ready."""
    torch.compiler.reset()
    start = time.perf_counter()
    torch.manual_seed(0)
    net = torch.compile(Encoder().eval().cuda().to(dtype))
    x = torch.randn(1, STEPS, 560, device="cuda")
    bias = MASKS[mask](dtype)
    valid = torch.ones(1, STEPS, 1, device="cuda", dtype=dtype)
    host = np.random.default_rng(0).standard_normal((1, STEPS, 560)).astype(np.float32)
    with torch.inference_mode():
        for _ in range(3):
            net(x.to(dtype), bias, valid)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = net(x.to(dtype), bias, valid)
        ready = time.perf_counter() - start

        def call() -> Any:
            x.copy_(torch.from_numpy(host))
            graph.replay()
            return y.float().cpu().numpy()

        for _ in range(5):
            call()
        spent = []
        for _ in range(CALLS):
            begin = time.perf_counter()
            call()
            spent.append(1e3 * (time.perf_counter() - begin))
    return {"call ms": float(np.median(spent)), "ready s": ready}


def main(out: str) -> int:
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}", flush=True)
    rows: dict[str, dict[str, Any]] = {}
    for name, dtype in (("fp32", torch.float32), ("fp16", torch.float16)):
        for mask in MASKS:
            found = {**captured(dtype, mask), "mask": mask}
            print(f"{name}: {json.dumps(found)}", flush=True)
            rows[name] = min(rows.get(name, found), found, key=lambda row: row["call ms"])
    Path(out).write_text(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
