"""Errors of execution providers, in every spelling that users meet."""

from __future__ import annotations

import pytest

from paddable.bundle.provider_errors import explain


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("8007023E", "8007023E"),
        ("0x8007023e", "8007023E"),
        ("[ONNXRuntimeError] : 6 : Exception(2) tid(1f4) 80070057 The parameter is incorrect.", "80070057"),
        ("RuntimeError: -2147024809", "80070057"),
        ("HRESULT: 0x887A0005 (GetDeviceRemovedReason)", "887A0005"),
        ("'utf-8' codec can't decode byte 0xb2 in position 0: invalid start byte", "80070057"),
        ("'utf-8' codec can't decode byte 0xcf in position 0: invalid continuation byte", "80070057"),
        ("参数错误。", "80070057"),
        ("b2 ce ca fd b4 ed ce f3", "80070057"),
        (r"b'\xb2\xbb\xd6\xa7\xb3\xd6\xb4\xcb\xbd\xd3\xbf\xda'", "80004002"),
        (
            "0xcf, 0xe0, 0xf0, 0xe0, 0xec, 0xe5, 0xf2, 0xf0, 0x20, 0xe7, 0xe0, 0xe4, 0xe0, 0xed, 0x20, 0xed, 0xe5, "
            "0xe2, 0xe5, 0xf0, 0xed, 0xee",
            "80070057",
        ),
        ("80004002 No such interface supported", "80004002"),
        ("Specified provider 'DmlExecutionProvider' is not in available provider names.", "provider-missing"),
        ("Could not find an implementation for Gelu(20) node with name 'g'", "no-kernel"),
        ("Attempt to replace the existing tensor", "optimised-model"),
        ("Got invalid dimensions for input: x for the following indices", "wrong-shape"),
        ("Unexpected input data type. Actual: (tensor(int32)), expected: (tensor(int64))", "wrong-type"),
    ],
)
def test_known(text: str, code: str) -> None:
    assert explain(text)[0].code == code


@pytest.mark.parametrize("page", ["gbk", "cp932", "cp949"])
def test_undecoded_bytes(page: str) -> None:
    sentence = {"gbk": "参数错误。", "cp932": "パラメーターが間違っています。", "cp949": "매개 변수가 틀립니다."}[page]
    try:
        sentence.encode(page).decode("utf-8")
    except UnicodeDecodeError as error:
        assert explain(error)[0].name == "E_INVALIDARG"
    else:
        pytest.fail("the bytes decoded")


@pytest.mark.parametrize(
    "text", ["", "all is well", "node 80070057123", "12345678", "sha 8007023E0f", "00 11 22 33 44 55"]
)
def test_unknown(text: str) -> None:
    assert explain(text) == []
