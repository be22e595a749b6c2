"""The dtype contract: what a caller hands over becomes what the graph declares, without loss, or an error says why not.

Allowed: the declared type; integers and whole numbers to an integer type that holds them; a float type to another
(float64 to float32 rounds, as every audio library expects; a finite number never becomes infinite). Not allowed:
integers to floats, because 16-bit sound has to be scaled by 1/32768, and fractions to integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.errors import MisuseError

__all__ = ["DTYPES", "as_declared"]

DTYPES: dict[str, np.dtype[Any]] = {
    f"tensor({onnx})": np.dtype(numpy)
    for onnx, numpy in (
        ("float", "float32"),
        ("double", "float64"),
        ("string", "object"),
        *((name, name) for name in ("float16", "bool", "int8", "int16", "int32", "int64")),
        *((name, name) for name in ("uint8", "uint16", "uint32", "uint64")),
    )
}
"""ONNX Runtime's name of a type to numpy's."""


def as_declared(name: str, value: Any, declared: np.dtype[Any]) -> NDArray[Any]:
    """``value`` as an array of the declared type.

    Args:
        name: the input, for the error.
        value: an array, a number, or nested sequences of numbers.
        declared: the type that the graph declares.

    Raises:
        MisuseError: the values cannot be had in that type without loss.
    """
    if isinstance(value, np.ma.MaskedArray):
        why = "the model would take what is masked for valid"
        raise MisuseError("a masked array", where=f"input {name!r}", why=why, fix="cut or fill what is masked")
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise MisuseError(
            "the rows have unequal shapes", where=f"input {name!r}", fix="give a list of arrays"
        ) from error
    if array.dtype == declared or declared == np.object_:
        return array.astype(declared, copy=False)
    kind, wanted = array.dtype.kind, declared.kind
    if wanted in "iu" and kind in "iuf":
        return _as_integer(name, array, declared)
    if wanted == "f" and kind == "f":
        with np.errstate(over="ignore"):
            cast = array.astype(declared)
        if np.isinf(cast).sum() != np.isinf(array).sum():
            raise MisuseError(f"values too large for {declared}", where=f"input {name!r}", fix="scale them down")
        return cast
    if wanted == "f" and kind in "iu":
        sound = array.dtype == np.int16 and array.ndim <= 2  # features have an axis more
        fix = f"16-bit sound: {name} / 32768 as {declared}" if sound else f"convert them first: astype({declared})"
        raise MisuseError(f"{array.dtype} values, but the model wants {declared}", where=f"input {name!r}", fix=fix)
    raise MisuseError(f"{array.dtype} values, but the model wants {declared}", where=f"input {name!r}")


def _as_integer(name: str, array: NDArray[Any], declared: np.dtype[Any]) -> NDArray[Any]:
    if array.dtype.kind == "f":
        fractions = array[~(np.isfinite(array) & (array == np.round(array)))]
        if fractions.size:
            raise MisuseError(
                f"{fractions.flat[0]!s} is not a whole number",
                where=f"input {name!r}",
                why=f"the model wants {declared}",
            )
    limits = np.iinfo(declared)
    if array.size and (int(array.min()) < limits.min or int(array.max()) > limits.max):
        raise MisuseError(
            f"values outside {limits.min}..{limits.max}", where=f"input {name!r}", why=f"they do not fit {declared}"
        )
    return array.astype(declared)
