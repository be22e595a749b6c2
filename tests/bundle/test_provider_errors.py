"""Errors of execution providers, in every spelling that users meet."""

from __future__ import annotations

import pytest

from paddable.bundle.provider_error_table import BY_CODE
from paddable.bundle.provider_errors import Explanation, explain


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
        ("2147942487", "80070057"),
        ("failed: 2289696773.", "887A0005"),
        ("hr = E_INVALIDARG", "80070057"),
        ("e_outofmemory", "8007000E"),
        ("E_NOTIMPL", "80004001"),
        ("返回E_FAIL错误", "80004005"),
        ("E_UNEXPECTED", "8000FFFF"),
        ("8000ffff Catastrophic failure", "8000FFFF"),
        ("DXGI_ERROR_DEVICE_REMOVED", "887A0005"),
        ("dxgi_error_device_hung", "887A0006"),
        ("DXGI_ERROR_DEVICE_RESET", "887A0007"),
        ("ERROR_UNHANDLED_EXCEPTION", "8007023E"),
        ("ERROR_GRAPHICS_INVALID_DISPLAY_ADAPTER", "C0262002"),
        ("-1071243262", "C0262002"),
        ("the gpu device instance has been suspended. Use GetDeviceRemovedReason", "887A0005"),
        ("'utf-8' codec can't decode byte 0x83 in position 0: invalid start byte", "80070057"),
        ("b2cecafdb4edcef3a1a3", "80070057"),
        (b"\xb2\xce\xca\xfd\xb4\xed\xce\xf3\xa1\xa3".decode("utf-8", "surrogateescape"), "80070057"),
        (b"\xb2\xbb\xd6\xa7\xb3\xd6\xb4\xcb\xbd\xd3\xbf\xda".decode("utf-8", "surrogateescape"), "80004002"),
        ("narrowing_error", "narrowing"),
        (r"D:\a\MLOperatorAuthorImpl.cpp(2853)\x.pyd", "recorded-shape"),
        ("MLOperatorAuthorImpl.cpp line 2818", "shape-inference"),
        ("MLOperatorAuthorImpl.cpp:2578", "run-time-shape"),
        ("MLOperatorAuthorImpl.cpp(1)", "operator-shapes"),
        ("AbiCustomRegistry.cpp(519)", "kernel-creation"),
        ("Unexpected input data type. Actual: (tensor(int32)), expected: (tensor(int64))", "wrong-type"),
    ],
)
def test_known(text: str, code: str) -> None:
    assert explain(text)[0].code == code


@pytest.mark.parametrize("entry", BY_CODE.values(), ids=lambda entry: entry.name)
def test_name_and_decimal_give_what_the_code_gives(entry: Explanation) -> None:
    number = int(entry.code, 16)
    for text in (entry.name, entry.name.lower(), f"0x{entry.code.lower()}", str(number), str(number - 2**32)):
        assert explain(text) == [entry]


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
    "text",
    [
        "",
        "all is well",
        "node 80070057123",
        "12345678",
        "sha 8007023E0f",
        "00 11 22 33 44 55",
        "\ud800",
        "\udcb2",
        "deadbeef" * 5,
        "TYPE_FAIL",
    ],
)
def test_unknown(text: str) -> None:
    assert explain(text) == []
