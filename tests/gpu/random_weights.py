"""Writes the weight file of a bundle with random numbers, where the real one is too large to be carried along.

python -m tests.gpu.random_weights BUNDLE

The graphs say where each tensor lies in the file and what shape it has. Matrices keep the variance
of what they multiply, tables of embeddings are normal, kernels shrink a little (deep stacks of residual convolutions
would amplify rounding), vectors are 0.1 plus a little noise so that no branch is dead; tables of integers count up.
Constants below a kilobyte lie inside the graphs and stay as they are.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx


def write(folder: Path) -> None:
    tensors: dict[tuple[str, int], tuple[int, onnx.TensorProto]] = {}
    for graph in sorted(folder.glob("*.onnx")):
        for tensor in onnx.load(graph, load_external_data=False).graph.initializer:
            if tensor.data_location == onnx.TensorProto.EXTERNAL:
                where = {entry.key: entry.value for entry in tensor.external_data}
                tensors[where["location"], int(where["offset"])] = (int(where["length"]), tensor)
    random = np.random.default_rng(0)
    for (location, offset), (length, tensor) in sorted(tensors.items(), key=lambda item: item[0]):
        data = _numbers(tensor, random).tobytes()
        if len(data) != length:
            raise ValueError(f"{tensor.name}: {len(data)} bytes for {length}")
        path = folder / location
        with path.open("r+b" if path.exists() else "w+b") as file:
            file.seek(offset)
            file.write(data)


def _numbers(tensor: onnx.TensorProto, random: np.random.Generator) -> np.ndarray:
    dims = list(tensor.dims)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
    if np.issubdtype(dtype, np.integer):
        return np.arange(np.prod(dims), dtype=dtype).reshape(dims)
    noise = random.standard_normal(dims, np.float32)
    if sum(size > 1 for size in dims) < 2:
        return (0.1 + 0.02 * noise).astype(dtype)
    if len(dims) == 2:
        is_table = dims[0] > 8 * dims[1]
        return (noise * (1 if is_table else dims[0] ** -0.5)).astype(dtype)
    return (0.6 * noise * np.prod(dims[1:]) ** -0.5).astype(dtype)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
