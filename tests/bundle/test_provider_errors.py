"""Errors of execution providers, in every spelling that users meet."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest

from paddable.bundle.provider_errors import Explanation, explain
from paddable.bundle.provider_errors.messages import OF_PROVIDERS, OF_THE_RUNTIME
from paddable.bundle.provider_errors.windows import BY_CODE


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
        (
            "MemcpyToHost node. MLOperatorAuthorImpl.cpp(2429) Exception(3) 887A0006 The GPU will not respond",
            "887A0006",
        ),
        ("Input (h) has a dynamic shape ({-1,256}) but the runtime shape ({0,256}) has zero elements.", "coreml-empty"),
        ("model_builder.cc:768 RegisterModelInputOutput Unable to get shape for output: /S_0", "coreml-no-shape"),
        ("partial_shape.cpp: Cannot get length of dynamic dimension", "openvino-dynamic"),
        ("[NPU_VCL] Compiler returned msg: Upper bounds were not specified", "openvino-dynamic"),
        ("Input shape:{293,101,256}, cannot be reshaped to the requested shape", "frozen-size"),
        ("UNSUPPORTED_NODE_DYNAMIC: Cannot infer squeeze dimensions from a dynamic shape.", "tensorrt-squeeze"),
        ("Network has dynamic or shape inputs, but no optimization profile has been defined.", "tensorrt-profile"),
        ("Failed to finalize QNN graph. at location qnn_model.cc:152 FinalizeGraphs", "qnn-finalize"),
        ("QNN graph execute error. Error code: 6031", "qnn-run"),
        ("Buffer size (3185049600) exceeds the max buffer size limit (1073741824)", "webgpu-buffer"),
        ("nodes have not been partitioned to the WebGpuExecutionProvider", "capture-partition"),
        ("Attempting to broadcast an axis by a dimension other than 1. 4 by 32", "sizes-disagree"),
        ("concat.cc:157 Non concat axis dimensions must match: Axis 2 has mismatched dimensions", "sizes-disagree"),
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


def test_a_device_that_failed_is_not_told_as_a_shape() -> None:
    """The place is then only where the failure was noticed."""
    codes = [entry.code for entry in explain("MLOperatorAuthorImpl.cpp(2429) 887A0006")]
    assert codes == ["887A0006"]


def test_an_index_beyond_a_table_in_the_words_of_the_runtime() -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 17]> g (int64[N] i) => (float[N] y)
        <float[3] t = {1, 2, 3}> { y = Gather(t, i) }"""
    )
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    with pytest.raises(Exception, match="out of data bounds") as caught:
        session.run(None, {"i": np.array([7], np.int64)})
    assert explain(caught.value)[0].code == "index-out-of-table"


def test_no_two_messages_share_a_name() -> None:
    names = [entry.code for _, entry in (*OF_PROVIDERS, *OF_THE_RUNTIME)]
    assert len(set(names)) == len(names)
