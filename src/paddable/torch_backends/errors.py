"""The errors of a backend, told as what they are: the operator, its arguments, the module, and the real text."""

from __future__ import annotations

import sys

from paddable.errors import PaddableError

__all__ = ["BackendError", "real_text"]


class BackendError(PaddableError, RuntimeError):
    """An operator failed on a backend. Also a RuntimeError, as PyTorch's own are."""


_CODE_PAGES = ("cp936", "cp1251", "cp932", "cp949", "cp950", "cp1252")
"""Tried in this order where the system's own code page is not to be had; the first that knows every byte is taken."""


def real_text(error: BaseException) -> str:
    """What an exception says, without the advice that PyTorch appends to a missing operator.

    torch-directml hands on the system's text for an HRESULT in the ANSI code page, and Python decodes it as UTF-8: on a
    Windows that is not English, every failure reads ``'utf-8' codec can't decode byte 0xb2 in position 0``. The bytes
    are still in the exception.
    """
    if isinstance(error, UnicodeDecodeError):
        return _decoded(error.object)
    text = str(error)
    return text.partition(" This could be because the operator doesn't exist")[0].strip()


def _decoded(raw: bytes) -> str:
    for page in (("mbcs",) if sys.platform == "win32" else ()) + _CODE_PAGES:
        try:
            return raw.decode(page).strip("\0\r\n ")
        except (UnicodeDecodeError, LookupError):
            continue
    return raw.decode("ascii", "backslashreplace")
