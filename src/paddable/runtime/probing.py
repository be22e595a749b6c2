"""Whether a model runs on a provider, found out in a process of its own: one that dies is an answer, too."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

__all__ = ["answer", "why_not"]

SECONDS = 300
"""A driver that hangs is not waited for any longer; the slowest compilation that was seen took a minute."""

_MARK = "paddable-probe:"  # drivers write what they like on stdout


def why_not(path: str, provider: str, choices: Mapping[str, Any]) -> str:
    """Why the smallest graph of a model does not run on a provider; empty if it does.

    Args:
        path: of the bundle or file.
        provider: our name for it.
        choices: other arguments of ``load``.
    """
    if getattr(sys, "frozen", False):  # a packed program is no Python that could run a line of it
        return ""
    asked = json.dumps({"path": path, "provider": provider, **choices})
    command = [sys.executable, "-c", "from paddable.runtime.probing import answer; answer()"]
    where = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        child = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=SECONDS, env=where)
    except subprocess.TimeoutExpired:
        return f"no answer in {SECONDS} s"
    except OSError as error:
        return f"no process could be started to try it: {error.strerror}"
    said = [line.partition(_MARK)[2] for line in child.stdout.splitlines() if _MARK in line]
    if said:
        return str(json.loads(said[-1]))
    return f"the process that tried it ended with {_told(child.returncode)}"


def answer() -> None:
    """In the child: load what stdin says, run its smallest graph once, and say on stdout what stood in the way."""
    from paddable.errors import PaddableError
    from paddable.runtime.loading import load

    asked = json.load(sys.stdin)
    try:
        load(asked.pop("path"), asked.pop("provider"), **asked).warm_up(smallest=True)
        told = ""
    except PaddableError as error:
        told = str(error)
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
    print(_MARK + json.dumps(told), flush=True)


def _told(code: int) -> str:
    if code < 0:
        with suppress(ValueError):
            return signal.Signals(-code).name
    return f"code {code & 0xFFFFFFFF:#x}" if code > 255 or code < 0 else f"code {code}"
