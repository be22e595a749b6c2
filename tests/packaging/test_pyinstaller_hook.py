"""What an app imports by name only is in the hook that PyInstaller finds in the wheel."""

from __future__ import annotations

import ast
import runpy
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import paddable

PACKAGE = Path(paddable.__file__).parent
BY_NAME = ("import_module", "import_extra")


def test_the_wheel_tells_pyinstaller_where_the_hook_is(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, function = project["entry-points"]["pyinstaller40"]["hook-dirs"].partition(":")
    (folder,) = getattr(import_module(module), function)()
    assert (Path(folder) / "hook-paddable.py").is_file()


def test_every_package_that_the_runtime_imports_by_name_is_in_it() -> None:
    named = {"paddable.runtime"}
    for path in (*PACKAGE.glob("runtime/**/*.py"), *PACKAGE.glob("audio/*.py"), *PACKAGE.glob("bundle/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in BY_NAME:
                (name, *_) = node.args
                assert isinstance(name, ast.Constant), f"{path}: a name that is computed"
                named.add(name.value)
    hook = runpy.run_path(str(PACKAGE / "__pyinstaller/hook-paddable.py"))
    assert {"onnxruntime", "soundfile", "soxr", "sentencepiece"} <= named
    assert {name for name in named if find_spec(name)} <= set(hook["hiddenimports"])
