"""The other side of ``apart``: runs one model for a parent process, which outlives what this one does not.

Started as a file, it imports nothing of Paddable, so that it costs NumPy and ONNX Runtime alone.
"""

from __future__ import annotations

import pickle
import sys
from typing import Any

import onnxruntime as ort

__all__: list[str] = []


_FOLDER_OF_WEIGHTS = "session.model_external_initializers_file_folder_path"


def _session(source: str | bytes, folder: str, without: list[str], level: str) -> Any:
    options = ort.SessionOptions()
    if folder:
        options.add_session_config_entry(_FOLDER_OF_WEIGHTS, folder)
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.enable_cpu_mem_arena = False
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    return ort.InferenceSession(source, options, providers=["CPUExecutionProvider"], disabled_optimizers=without)


def _answer(
    sessions: dict[str, Any], model: tuple[str | bytes, str, list[str]], level: str, feeds: dict[str, Any] | None
) -> object:
    """Outputs by name, none where there is nothing to run, or the text of what went wrong."""
    try:
        if level not in sessions:
            sessions[level] = _session(*model, level)
        if feeds is None:
            return {}
        session = sessions[level]
        names = [output.name for output in session.get_outputs()]
        return dict(zip(names, session.run(None, feeds), strict=True))
    except Exception as error:  # the classes are onnxruntime's own and have no common base
        return str(error).strip().split("\n", 1)[0] or type(error).__name__


def _serve() -> None:
    model = pickle.load(sys.stdin.buffer)
    sessions: dict[str, Any] = {}
    while True:
        try:
            level, feeds = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(_answer(sessions, model, level, feeds), sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _serve()
