"""Bad arguments for every parameter of every function.

    python -m tests.stub.sweep API LIBRARY PROGRESS

prints, as JSON, the number of calls and what went wrong. PROGRESS is a file that says which call is under
way, should it be the last one.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import re
import resource
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy

from . import APIS, source
from .build import Parameter, asks_for_a_size, attribute_types, by_hand, declared, is_aggregate
from .record import Stub
from .values import case, enums, format_of, handles

driver, runtime, nvml = source("driver"), source("runtime-13"), source("nvml")
UNNAMED = "this does not say which function and parameter"
REFUSALS = (TypeError, ValueError, OverflowError)


class Stranger(handles.Pointer):  # type: ignore[misc, name-defined]
    """A handle that no function takes."""


BAD: dict[str, Any] = {
    "None": None,
    "str": "str",
    "bytes": b"bytes",
    "float": 1.5,
    "1e300": 1e300,
    "True": True,
    "-1": -1,
    "2**31": 2**31,
    "2**32": 2**32,
    "2**63": 2**63,
    "2**64": 2**64,
    "int64": numpy.int64(5),
    "uint8": numpy.uint8(5),
    "float32": numpy.float32(1.5),
    "short": bytearray(1),
    "read-only": memoryview(bytes(64)),
    "strided": numpy.arange(64)[::2],
    "stranger": Stranger(5),
    "object": object(),
    "empty": [],
    "list of str": ["x"],
    "tuple": (),
}

MEMORY = 2 << 30
"""The address space of a sweep: a buffer of 2**31 bytes, which takes seconds to clear, is refused at once."""
A_NUMBER = ("True", "-1", "2**31", "2**32", "2**63", "2**64", "int64", "uint8")
NOT_A_NUMBER = set(BAD) - {*A_NUMBER, "None", "stranger"}


def refused(p: Parameter) -> dict[str, type[Exception]]:
    """What must not pass for a parameter, and the error that must say so."""
    always: dict[str, type[Exception]] = {"str": TypeError, "object": TypeError}
    aggregate = is_aggregate(p.cls)
    if p.variants:
        return always
    if aggregate and not p.count:
        wrong = {name: TypeError for name in BAD if name != "None"}
        return wrong if p.c.stars else {**wrong, "None": TypeError}  # type: ignore[return-value]
    if p.c.stars == 2 and p.cls is ctypes.c_char:
        return {**always, **dict.fromkeys(("short", "strided", "float", *A_NUMBER), TypeError)}
    if p.count:
        wrong = {**always, "short": ValueError, "strided": ValueError, "float": TypeError}
        if p.cls not in (None, ctypes.c_char):
            wrong |= dict.fromkeys(A_NUMBER, TypeError) | {"empty": ValueError, "tuple": ValueError}
        elif p.c.stars == 1 and not p.c.const:
            wrong["read-only"] = ValueError
        if p.cls is None:
            wrong |= {"-1": OverflowError, "2**64": OverflowError, "True": TypeError}
        return wrong
    if p.c.stars == 1 and p.cls is ctypes.c_char and p.c.const:
        return always | dict.fromkeys(("float", "1e300", *A_NUMBER), TypeError)
    if p.c.stars and p.role in ("input", "address"):
        wrong = always | {"float": TypeError, "2**64": OverflowError, "True": TypeError}
        return wrong | ({"short": ValueError} if p.role == "address" else {})
    if issubclass(p.cls, (ctypes.c_float, ctypes.c_double)):
        wrong = dict.fromkeys(("None", "str", "bytes", "short", "object", "empty"), TypeError)
        return wrong | {"1e300": OverflowError}
    wrong = dict.fromkeys(NOT_A_NUMBER, TypeError) | {"1e300": OverflowError, "2**64": OverflowError}
    if not issubclass(p.cls, handles.Pointer):  # numbers lose their fraction, with a warning
        del wrong["float"], wrong["float32"]
    if issubclass(p.cls, handles.Handle):
        wrong["stranger"] = TypeError
    else:
        wrong["None"] = TypeError
    if issubclass(p.cls, enums.Enum):
        return wrong | {"2**32": OverflowError, "2**63": OverflowError}  # type: ignore[return-value]
    code = format_of(p)
    if code.isupper():
        wrong["-1"] = OverflowError
    if code in "iIhHbB":
        wrong |= {"2**32": OverflowError, "2**63": OverflowError}
    if code == "?":
        wrong |= dict.fromkeys(A_NUMBER[1:], OverflowError)
    if code == "i":
        wrong["2**31"] = OverflowError
    return wrong  # type: ignore[return-value]


class Target(NamedTuple):
    """A function to call.

    arguments: right ones. refused: what each parameter must not take. names: what messages may call a
    parameter. big: the parameters that count outputs, for which there may be no memory.
    """

    name: str
    function: Any
    arguments: dict[str, Any]
    refused: dict[str, dict[str, type[Exception]]]
    names: set[str]
    big: set[str]


BY_HAND: dict[str, dict[str, Any]] = {
    "nvrtcGetPTX": {"prog": 1, "ptx": None},
    "nvrtcGetCUBIN": {"prog": 1, "cubin": None},
    "nvrtcGetNVVM": {"prog": 1, "nvvm": None},
    "nvrtcGetLTOIR": {"prog": 1, "LTOIR": None},
    "nvrtcGetOptiXIR": {"prog": 1, "optixir": None},
    "nvrtcGetTileIR": {"prog": 1, "TileIR": None},
    "nvrtcGetProgramLog": {"prog": 1, "log": None},
    "nvmlDeviceGetFieldValues": {"device": 1, "valuesCount": 1, "values": [nvml.nvmlFieldValue_t()]},
    "nvmlDeviceClearFieldValues": {"device": 1, "valuesCount": 1, "values": [nvml.nvmlFieldValue_t()]},
    "nvJitLinkGetErrorLog": {"handle": 1, "log": None},
    "nvJitLinkGetInfoLog": {"handle": 1, "log": None},
    "cudaGetDeviceProperties": {"device": 0},
    "cudaChooseDevice": {"prop": runtime.cudaDeviceProp()},
    "cudaStreamGetCaptureInfo": {"stream": 1},
    "cudaStreamUpdateCaptureDependencies": {
        "stream": 1, "dependencies": [1], "dependencyData": None, "numDependencies": 1, "flags": 0,
    },
    "cudaLaunchKernel": {
        "func": 1, "gridDim": runtime.dim3(), "blockDim": runtime.dim3(), "args": 0,
        "sharedMem": 0, "stream": 1,
    },
    "cudaLaunchCooperativeKernel": {
        "func": 1, "gridDim": runtime.dim3(), "blockDim": runtime.dim3(), "args": 0,
        "sharedMem": 0, "stream": 1,
    },
    "cudaMemcpyBatchAsync": {
        "dsts": [1], "srcs": [1], "sizes": [1], "count": 1,
        "attrs": [runtime.cudaMemcpyAttributes()], "attrsIdxs": [0], "numAttrs": 1, "stream": 1,
    },
    "cudaMemcpy3DBatchAsync": {
        "numOps": 1, "opList": [runtime.cudaMemcpy3DBatchOp()], "flags": 0, "stream": 1,
    },
    "cudaMemPrefetchAsync": {
        "devPtr": 1, "count": 1, "location": runtime.cudaMemLocation(), "flags": 0, "stream": 1,
    },
    "cudaMemAdvise": {"devPtr": 1, "count": 1, "advice": 1, "location": runtime.cudaMemLocation()},
    "cudaMemGetLocationInfo": {
        "ptr": 1, "size": 4, "summaryGranularity": 4, "samplingGranularity": 1,
        "location_out": [runtime.cudaMemLocation()],
    },
    "cudaMemRangeGetAttribute": {"dataSize": 4, "attribute": 1, "devPtr": 1, "count": 1},
    "cudaMemRangeGetAttributes": {
        "dataSizes": [4], "attributes": [1], "numAttributes": 1, "devPtr": 1, "count": 1,
    },
    "getLocalRuntimeVersion": {},
    "cudaGraphMemFreeNodeGetParams": {"node": 1},
    "cudaGraphGetEdges": {"graph": 1, "numEdges": 1},
    "cudaGraphNodeGetDependencies": {"node": 1, "pNumDependencies": 1},
    "cudaGraphNodeGetDependentNodes": {"node": 1, "pNumDependentNodes": 1},
    "cudaGraphAddDependencies": {
        "graph": 1, "from_": [1], "to": [1], "edgeData": None, "numDependencies": 1,
    },
    "cudaGraphRemoveDependencies": {
        "graph": 1, "from_": [1], "to": [1], "edgeData": None, "numDependencies": 1,
    },
    "cudaGraphAddNode": {
        "graph": 1, "pDependencies": [1], "dependencyData": None, "numDependencies": 1,
        "nodeParams": runtime.cudaGraphNodeParams(),
    },
    "cuCtxCreate": {"ctxCreateParams": None, "flags": 0, "dev": 0},
    "cuMemcpyBatchAsync": {
        "dsts": [1], "srcs": [1], "sizes": [1], "count": 1,
        "attrs": [driver.CUmemcpyAttributes()], "attrsIdxs": [0], "numAttrs": 1, "hStream": 1,
    },
    "cuMemcpy3DBatchAsync": {
        "numOps": 1, "opList": [driver.CUDA_MEMCPY3D_BATCH_OP()], "flags": 0, "hStream": 1,
    },
    "cuMemPrefetchAsync": {
        "devPtr": 1, "count": 1, "location": driver.CUmemLocation(), "flags": 0, "hStream": 1,
    },
    "cuMemAdvise": {"devPtr": 1, "count": 1, "advice": 1, "location": driver.CUmemLocation()},
    "cuMemGetLocationInfo": {
        "ptr": 1, "size": 4, "summaryGranularity": 4, "samplingGranularity": 1,
        "location_out": [driver.CUmemLocation()],
    },
    "cuMemRangeGetAttribute": {"dataSize": 4, "attribute": 1, "devPtr": 1, "count": 1},
    "cuMemRangeGetAttributes": {
        "dataSizes": [4], "attributes": [1], "numAttributes": 1, "devPtr": 1, "count": 1,
    },
    "cuPointerGetAttributes": {"numAttributes": 1, "attributes": [1], "ptr": 1},
    "cuStreamGetCaptureInfo": {"hStream": 1},
    "cuStreamUpdateCaptureDependencies": {
        "hStream": 1, "dependencies": [1], "dependencyData": None, "numDependencies": 1, "flags": 0,
    },
    "cuLaunchKernel": {
        "f": 1, "gridDimX": 1, "gridDimY": 1, "gridDimZ": 1, "blockDimX": 1, "blockDimY": 1, "blockDimZ": 1,
        "sharedMemBytes": 1, "hStream": 1, "kernelParams": 0, "extra": 0,
    },
    "cuGraphGetEdges": {"hGraph": 1, "numEdges": 1},
    "cuGraphNodeGetDependencies": {"hNode": 1, "numDependencies": 1},
    "cuGraphNodeGetDependentNodes": {"hNode": 1, "numDependentNodes": 1},
    "cuGraphAddDependencies": {"hGraph": 1, "from_": [1], "to": [1], "edgeData": None, "numDependencies": 1},
    "cuGraphRemoveDependencies": {
        "hGraph": 1, "from_": [1], "to": [1], "edgeData": None, "numDependencies": 1,
    },
    "cuGraphAddNode": {
        "hGraph": 1, "dependencies": [1], "dependencyData": None, "numDependencies": 1,
        "nodeParams": driver.CUgraphNodeParams(),
    },
    "cuDevSmResourceSplitByCount": {
        "nbGroups": 1, "input_": driver.CUdevResource(), "flags": 0, "minCount": 1,
    },
    "ncclRedOpCreatePreMulSum": {"scalar": 1, "datatype": 1, "residence": 1, "comm": 1},
    "cuFileGetStatsL2": {},
    "cuFileGetStatsL3": {},
    "cuCoredumpGetAttribute": {"attrib": 1},
    "cuCoredumpGetAttributeGlobal": {"attrib": 1},
    "cuCoredumpSetAttribute": {"attrib": 1, "value": 1},
    "cuCoredumpSetAttributeGlobal": {"attrib": 1, "value": 1},
}  # fmt: skip
"""Arguments for the functions that have no declaration of their own."""


def targets(api: str) -> Iterator[Target]:
    module = source(api)
    named: dict[str, set[str]] = defaultdict(set)  # the parameters of a public function, in all its forms
    for function in declared(module).values():
        if asks_for_a_size(function):
            continue
        types = attribute_types(function)
        made = case(function, "typical", next(iter(types[1])) if types else None)
        inputs = [p for p in made.found if p.role != "output"]
        values = {p.c.name: made.inputs[p.c.c_name].value for p in inputs}
        arguments = {name: values[name] for name in function.__declaration__.inputs}
        wrong = {p.c.name: refused(p) for p in inputs}
        for name, default in function.__declaration__.optional.items():
            if default is None:
                del wrong[name]["None"]
        big = {p.c.name for p in inputs if p.counts == "output"}
        name = function.__name__.lstrip("_").removesuffix("_12")
        names = named[re.sub(r"_v\d$", "", name)]
        names |= {p.c.name for p in made.found}
        yield Target(name, function, arguments, wrong, names, big)
    for name in sorted(by_hand(module, APIS[api].names)):
        arguments = BY_HAND[name]
        function = getattr(module, name)
        names = named[name] | set(arguments)
        counts = (
            {a for a in arguments if re.match("p?[nN]um|nbGroups", a)}
            if re.match("cu(da)?Graph|cuDevSm", name)
            else set()
        )
        if name.startswith("nvrtcGet"):  # an int in place of the buffer: how large to make one
            counts = set(arguments) - {"prog"}
        yield Target(name, function, arguments, {a: {"object": TypeError} for a in arguments}, names, counts)


def judge(target: Target, parameter: str, bad: str, call: Any) -> str:
    """Make the call; what is wrong with its outcome, or ""."""
    wanted = target.refused[parameter].get(bad)
    try:
        result = call()
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        if parameter in target.big and isinstance(error, (MemoryError, OverflowError)):
            return ""  # said by Python: there cannot be an array as long as that
        if not isinstance(error, REFUSALS) or (wanted and not isinstance(error, wanted)):
            return f"{message}, where {wanted and wanted.__name__} is right"
        if not re.match(rf"{target.name}(_v\d)?: ({'|'.join(target.names)})\b", str(error)):
            return f"{message}: {UNNAMED}"
        return ""
    if wanted:
        return f"was taken, where {wanted.__name__} is right"
    return "" if isinstance(result, tuple) else f"returned {type(result).__name__}"


def main(api: str, path: str, progress: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    stub = Stub(path, api)
    Path(progress).write_bytes(bytes(256))
    calls, wrong = 0, []
    with open(progress, "r+b") as file, mmap.mmap(file.fileno(), 256) as now:
        for target in targets(api):
            for parameter in target.arguments:
                for bad, value in BAD.items():
                    what = f"{target.function.__name__}({parameter}={bad})"
                    now[:] = what.encode().ljust(256, b"\0")
                    stub.reset()
                    stub.peek = 0
                    arguments = {**target.arguments, parameter: value}
                    found = judge(target, parameter, bad, lambda: target.function(*arguments.values()))  # noqa: B023
                    calls += 1
                    if found:
                        wrong.append(f"{what}: {found}")
    print(json.dumps({"calls": calls, "wrong": wrong}))


if __name__ == "__main__":
    main(*sys.argv[1:])
