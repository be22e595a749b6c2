"""What an app needs of Paddable and no import statement names: PyInstaller reads this file when it meets the package.

The runtime alone; what compiles graphs is left out, and so are the packages that it imports.
"""

from __future__ import annotations

from importlib.util import find_spec

from paddable.errors import EXTRAS

hiddenimports = [
    "paddable.runtime",  # `paddable.load` looks it up by name
    *(name for name in ("onnxruntime", *EXTRAS["audio"]) if find_spec(name)),
]
excludedimports = ["paddable.api", "paddable.cli"]
