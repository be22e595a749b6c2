"""A 70-block SANM encoder at SenseVoice size, random weights: time, memory, and padded against native on the CPU.

python -m tests.gates.figures.sanm70 export FILE [rows]  writes the model (needs torch); "rows": with a free batch axis
python -m tests.gates.figures.sanm70 compile FILE OUT  analysis and rewriting against onnx's load and save; peak memory
python -m tests.gates.figures.sanm70 convert FILE OUT  as paddable convert --target cpu writes it, unjudged
python -m tests.gates.figures.sanm70 pairs FILE OUT    CPU time of 21 interleaved pairs at full length, one thread
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

STEPS = 500
PAIRS = 21


def export(file: str, rows: str = "") -> int:
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.residual = width == 512
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(512)
            self.qkv, self.out = nn.Linear(width, 3 * 512), nn.Linear(512, 512)
            self.memory = nn.Conv1d(512, 512, 11, groups=512, bias=False, padding=5)
            self.up, self.down = nn.Linear(512, 2048), nn.Linear(2048, 512)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            q, k, v = self.qkv(self.first(x)).split(512, -1)
            memory = self.memory(v.transpose(1, 2)).transpose(1, 2) + v
            q, k, w = (part.unflatten(-1, (4, 128)).transpose(1, 2) for part in (q * 128**-0.5, k, v))
            attended = torch.softmax(q @ k.transpose(-1, -2), -1) @ w
            y = self.out(attended.transpose(1, 2).flatten(2)) + memory
            x = x + y if self.residual else y
            return x + self.down(torch.relu(self.up(self.second(x))))

    torch.manual_seed(0)
    model = nn.Sequential(Block(560), *(Block(512) for _ in range(69)), nn.LayerNorm(512)).eval()
    program = torch.onnx.export(
        model,
        (torch.randn(2 if rows else 1, 100, 560),),
        dynamo=True,
        dynamic_shapes=(dict.fromkeys((0, 1) if rows else (1,), torch.export.Dim.DYNAMIC),),
        input_names=["x"],
        output_names=["y"],
        opset_version=18,
        verbose=False,
    )
    assert program is not None
    program.save(file)
    return 0


def compile_(file: str, out: str) -> int:
    import resource

    from paddable.api.opened import open_model
    from paddable.graph.io.write import write_model
    from paddable.padding.rewrite.rewrite import rewrite

    opened = open_model(file, ["x:1=T"])
    start = time.perf_counter()
    model = rewrite(opened.analyse(), {"T": STEPS})
    ours = time.perf_counter() - start
    write_model(model, Path(out), external_data=False, force=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    size = Path(file).stat().st_size
    del opened, model

    import onnx

    start = time.perf_counter()
    onnx.save(onnx.load(file), out + ".copy")
    theirs = time.perf_counter() - start
    Path(out + ".copy").unlink()
    print(
        f"analysis and rewriting {ours:.1f} s, onnx.load + onnx.save {theirs:.1f} s; peak {peak / size:.2f} of the file"
    )
    return 1 if ours > 3 * theirs or peak > 2.2 * size else 0


def convert(file: str, out: str) -> int:
    from paddable.api import convert as convert_model

    convert_model(file, ["x:1=T"], containers=[STEPS], out=out, target="cpu", verify=False, force=True)
    return 0


def pairs(native: str, padded: str) -> int:
    import numpy as np
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    sessions = [ort.InferenceSession(file, options, providers=["CPUExecutionProvider"]) for file in (native, padded)]
    x = np.random.default_rng(0).standard_normal((1, STEPS, 560)).astype(np.float32)
    feeds = [{"x": x}, {"x": x, "ilens": np.array([STEPS], np.int64)}]
    for session, feed in zip(sessions, feeds, strict=True):
        session.run(None, feed)
    ratios = []
    for number in range(PAIRS):
        spent = [0.0, 0.0]
        for which in (0, 1) if number % 2 else (1, 0):
            start = time.process_time()
            sessions[which].run(None, feeds[which])
            spent[which] = time.process_time() - start
        ratios.append(spent[1] / spent[0])
    drawn = np.random.default_rng(1).choice(ratios, (2000, PAIRS))
    low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
    print(f"padded / native, CPU time of {PAIRS} pairs: median {np.median(ratios):.3f}, 95% [{low:.3f}, {high:.3f}]")
    return 1 if high > 1.05 else 0


if __name__ == "__main__":
    sys.exit({"export": export, "compile": compile_, "convert": convert, "pairs": pairs}[sys.argv[1]](*sys.argv[2:]))
