"""What DirectML and Windows say: codes, their sentences in several languages, and places in the provider's source.

Plain data; ``explain`` finds it in a text. Each entry says who met it.
"""

from __future__ import annotations

from paddable.bundle.provider_errors.explanation import Explanation

__all__ = ["BY_CODE", "BY_NAME", "CODE_PAGES", "DEVICE_CODES", "FIRST_BYTES", "PLACES", "SENTENCES"]

_RAN = "measured: onnxruntime-directml 1.24.4"

_HRESULTS = (
    Explanation(
        "80070057",
        "E_INVALIDARG",
        "an argument is invalid",
        "a recorded shape that the run contradicts, a one-dimensional ConvTranspose with output_padding, a static "
        "Reshape with allowzero=1 and -1, more than 8 axes, or a DirectML.dll older than the runtime",
        "run `paddable lint --target directml` on the model; it names the node",
        f"{_RAN} (lines 2853, 2818, 519 of the provider); reported: microsoft/onnxruntime#18666, onnxruntime-genai#521",
    ),
    Explanation(
        "8007023E",
        "ERROR_UNHANDLED_EXCEPTION",
        "a C++ exception without a code inside the provider",
        "Reshape with allowzero=1 and a -1 in its target, as PyTorch's dynamo exporter writes every view",
        "run `paddable lint --target directml --fix`, which drops allowzero where it changes nothing",
        f"{_RAN} and onnxruntime-windowsml 1.30",
    ),
    Explanation(
        "887A0001",
        "DXGI_ERROR_INVALID_CALL",
        "the graphics runtime was called in a wrong state",
        "a fused graph that failed to execute",
        "set ep.dml.disable_graph_fusion=1 to find the node, and report it with the model",
        "reported: onnxruntime-genai#863",
    ),
    Explanation(
        "887A0002",
        "DXGI_ERROR_NOT_FOUND",
        "no such device",
        "a device_id beyond the number of adapters",
        "leave device_id out, or list the adapters and choose one that is there",
        _RAN,
    ),
    Explanation(
        "887A0004",
        "DXGI_ERROR_UNSUPPORTED",
        "the device or the feature level is not supported",
        "no Direct3D 12 device, or a DirectML.dll older than the runtime",
        "update the driver; make sure that the DirectML.dll of the package is the one that is loaded",
        f"{_RAN}; reported: the provider's documentation",
    ),
    Explanation(
        "887A0005",
        "DXGI_ERROR_DEVICE_REMOVED",
        "the device is gone ('the GPU device instance has been suspended')",
        "a driver reset after a dispatch that took too long, exhausted memory, or two runs of one session at once",
        "recreate the session (or the process); run one thread a session; try a smaller container",
        "reported: microsoft/onnxruntime#22700, microsoft/DirectML#95, #550",
    ),
    Explanation(
        "887A0006",
        "DXGI_ERROR_DEVICE_HUNG",
        "the device took too long and was reset",
        "one dispatch longer than the system's limit (two seconds on Windows)",
        "use a smaller container, update the driver",
        "reported: microsoft/onnxruntime#28495",
    ),
    Explanation(
        "887A0007",
        "DXGI_ERROR_DEVICE_RESET",
        "the device was reset by a bad command or by another program",
        "another program's fault, or a driver's",
        "recreate the session; update the driver",
        "reported: microsoft/onnxruntime#28495",
    ),
    Explanation(
        "887A0020",
        "DXGI_ERROR_DRIVER_INTERNAL_ERROR",
        "the driver failed inside",
        "a driver bug, often in one operator's fast path",
        "update the driver; set ep.dml.disable_graph_fusion=1 to find the node",
        "reported: microsoft/onnxruntime#28495",
    ),
    Explanation(
        "8007000E",
        "E_OUTOFMEMORY",
        "memory is exhausted",
        "GPU memory, often large temporaries of attention at a long container",
        "use a smaller container or half precision; close other sessions",
        "reported: the provider's documentation",
    ),
    Explanation(
        "80004001",
        "E_NOTIMPL",
        "not implemented",
        "a software or partial Direct3D 12 device",
        "choose a real adapter",
        f"{_RAN} on a stub device",
    ),
    Explanation(
        "80004002",
        "E_NOINTERFACE",
        "no such interface",
        "a DirectML.dll or a Windows older than what the runtime asks for (before Windows 10 2004 a debugger also "
        "shows it of DXCore, where it is harmless)",
        "update Windows; make sure that the DirectML.dll of the package is the one that is loaded",
        "reported: microsoft/onnxruntime#6457, microsoft/DirectML#89",
    ),
    Explanation(
        "80004005",
        "E_FAIL",
        "unspecified failure",
        "several threads in one session, or on one device",
        "use one lock a session, and one a device if that is not enough",
        "reported: microsoft/onnxruntime#25577",
    ),
    Explanation(
        "8000FFFF",
        "E_UNEXPECTED",
        "catastrophic failure",
        "not known of this provider: Windows says it where nothing else fits",
        "run `paddable lint --target directml` on the model; set ep.dml.disable_graph_fusion=1 to find the node",
        "reported: Windows' list of codes; never met here",
    ),
    Explanation(
        "C0262002",
        "ERROR_GRAPHICS_INVALID_DISPLAY_ADAPTER",
        "the adapter is a software one",
        "the provider refuses the Basic Render driver (WARP)",
        "choose a hardware adapter, or run on the CPU",
        "reported: the provider's source",
    ),
)

BY_CODE = {entry.code: entry for entry in _HRESULTS}
BY_NAME = {entry.name: entry.code for entry in _HRESULTS}
DEVICE_CODES = ("887A0005", "887A0006", "887A0007", "887A0020", "8007000E")
"""The device failed or its memory ran out: the place in the source is where it was noticed, and says nothing more."""

# What Windows says for a code, in languages whose code pages Python fails to decode as UTF-8.
SENTENCES = dict.fromkeys(
    (
        "The parameter is incorrect",
        "参数错误",
        "參數錯誤",
        "パラメーターが間違っています",
        "매개 변수가 틀립니다",
        "Falscher Parameter",
        "Paramètre incorrect",
        "El parámetro no es correcto",
        "Параметр задан неверно",
    ),
    "80070057",
) | {
    "No such interface supported": "80004002",
    "不支持此接口": "80004002",
    "GPU device instance has been suspended": "887A0005",
    "GPU will not respond to more commands, most likely because of an invalid command": "887A0006",
    "GPU will not respond to more commands, most likely because some other application": "887A0007",
    "The specified device interface or feature level is not supported": "887A0004",
    "Not enough memory resources are available to complete this operation": "8007000E",
    "Unspecified error": "80004005",
    "Catastrophic failure": "8000FFFF",
}

FIRST_BYTES = {"b2": ("80070057", "80004002")} | dict.fromkeys(("83", "b0", "b8", "cf"), ("80070057",))
"""All that Python shows of an undecoded sentence: 0xb2 begins both of GBK's, the others those of cp932 (Japanese), big5
(traditional Chinese), cp949 (Korean) and cp1251 (Russian)."""
CODE_PAGES = ("gbk", "big5", "cp932", "cp949", "cp1252", "cp1251")

# Where in the provider's source it stopped. Line numbers are those of 1.24.4; of another line the file still tells.
PLACES: tuple[tuple[str, Explanation], ...] = (
    (
        r"MLOperatorAuthorImpl\.cpp\W{0,3}(?:line )?2853\b",
        Explanation(
            "recorded-shape",
            "80070057 in MLOperatorAuthorImpl.cpp(2853)",
            "a shape that the model records is not the shape of the run",
            "a value or an output annotated with a fixed size, or a static Reshape with allowzero=1 and -1",
            "run `paddable lint --target directml --fix`, which clears such annotations",
            _RAN,
        ),
    ),
    (
        r"MLOperatorAuthorImpl\.cpp\W{0,3}(?:line )?2818\b",
        Explanation(
            "shape-inference",
            "80070057 in MLOperatorAuthorImpl.cpp(2818)",
            "the provider's own shape inference refused a node",
            "a one-dimensional ConvTranspose with output_padding, even [0]",
            "run `paddable lint --target directml --fix`, which drops it where it is 0",
            _RAN,
        ),
    ),
    (
        r"MLOperatorAuthorImpl\.cpp\W{0,3}(?:line )?(?:2578|2597)\b",
        Explanation(
            "run-time-shape",
            "8007023E in MLOperatorAuthorImpl.cpp(2578, 2597)",
            "the shape of an output could not be computed during a run",
            "Reshape with allowzero=1 and a -1 in its target, which becomes a size of 4294967295",
            "run `paddable lint --target directml --fix`, which drops allowzero where it changes nothing",
            f"{_RAN} and onnxruntime-windowsml 1.30",
        ),
    ),
    (
        r"MLOperatorAuthorImpl\.cpp(?!\W{0,3}(?:line )?(?:2853|2818|2578|2597)\b)",
        Explanation(
            "operator-shapes",
            "MLOperatorAuthorImpl.cpp",
            "the provider stopped where it works out shapes",
            "a recorded shape that the run contradicts, ConvTranspose with output_padding, Reshape with allowzero=1",
            "run `paddable lint --target directml` on the model; it names the node",
            f"{_RAN}, where lines 2578, 2597, 2818 and 2853 were met",
        ),
    ),
    (
        r"AbiCustomRegistry\.cpp|DmlGraphFusionHelper\.cpp",
        Explanation(
            "kernel-creation",
            "AbiCustomRegistry.cpp, DmlGraphFusionHelper.cpp",
            "the provider could not create a kernel or a fused graph",
            "a value of more than 8 axes, or attributes that its kernel refuses",
            "run `paddable lint --target directml` on the model; it names the node",
            _RAN,
        ),
    ),
)
