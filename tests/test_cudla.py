"""cuDLA's two faces, beyond the echo: statuses, twins, attributes of modules. No accelerator is needed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

from cudapy import cudla
from cudapy._types.cudla import TWINS
from cudapy._types.meanings import CUDLASTATUS

from .stub import source
from .stub.build import is_aggregate
from .stub.record import Stub

stubbed = source("cudla")
Kind = stubbed.ModuleAttributeType


@pytest.fixture
def stub(stub_of: Callable[[str], Stub]) -> Stub:
    return stub_of("cudla")


def test_every_status_has_a_meaning() -> None:
    assert set(CUDLASTATUS) == set(cudla.cudlaStatus.__members__)


@pytest.mark.parametrize("cls", TWINS, ids=lambda cls: cls.__name__)
def test_what_the_face_has_is_that_of_c(cls: Any) -> None:
    twin: Any = TWINS[cls]
    if not is_aggregate(cls):
        assert {int(value) for value in twin.__members__.values()} == {
            int(value) for value in cls.__members__.values()
        }
        return
    ours, theirs = (
        [(getattr(each, name).raw.offset, getattr(each, name).raw.size) for name in each._makers_]
        for each in (twin, cls)
    )
    assert ours == theirs
    assert ctypes.sizeof(twin) == ctypes.sizeof(cls)


def test_a_failure(stub: Stub) -> None:
    stub.status = 13
    with pytest.raises(stubbed.CudlaError, match=r"^ERROR_UNSUPPORTED_OPERATION \(13\)$") as caught:
        stubbed.create_device(0, stubbed.Mode.STANDALONE)
    assert "flags=" in str(caught.value.__cause__)
    assert stubbed.get_last_error(1) == 13
    with pytest.raises(cudla.CudlaError):
        cudla.check_status(1)
    cudla.check_status(0)


def test_memory_is_an_address_or_an_object(stub: Stub) -> None:
    memory = bytearray(16)
    at = ctypes.addressof((ctypes.c_char * 16).from_buffer(memory)).to_bytes(8, "little")
    for given, raw in ((memory, at), (0x1000, (0x1000).to_bytes(8, "little"))):
        assert isinstance(stubbed.mem_register(1, given, 16, 0), int)
        (call,) = stub.calls()
        assert call.arguments["ptr"].raw == raw


def test_a_task_is_that_of_the_face(stub: Stub) -> None:
    task = stubbed.Task(module_handle=5, num_input_tensors=2)
    stubbed.submit_task(1, [task], 1, 0, 0)
    (call,) = stub.calls()
    assert call.arguments["ptrToTasks"].memory == bytes(task)


class Module:
    """What cudlaModuleGetAttributes does with a network of two inputs and no output."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def __call__(self, module: int, kind: int, attribute: Any) -> tuple[Any]:
        self.asked.append(int(kind))
        if kind == Kind.NUM_INPUT_TENSORS:
            attribute.numInputTensors = 2
        elif kind == Kind.NUM_OUTPUT_TENSORS:
            attribute.numOutputTensors = 0
        else:
            found = (stubbed.cudlaModuleTensorDescriptor * 2).from_address(attribute.inputTensorDesc)
            for i, name in enumerate((b"left", b"right")):
                found[i].name, found[i].stride = name, [i] * 8
        return (stubbed.cudlaStatus(0),)


def test_attributes_of_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    module = Module()
    monkeypatch.setattr(stubbed, "cudlaModuleGetAttributes", module)
    assert stubbed.module_get_attributes(1, Kind.NUM_INPUT_TENSORS).num_input_tensors == 2
    found = stubbed.module_get_attributes(1, Kind.INPUT_TENSOR_DESCRIPTORS)
    assert [(type(each).__name__, each.name, each.stride[7]) for each in found] == [
        ("ModuleTensorDescriptor", "left", 0),
        ("ModuleTensorDescriptor", "right", 1),
    ]
    assert stubbed.module_get_attributes(1, Kind.OUTPUT_TENSOR_DESCRIPTORS) == []
    assert module.asked == [0, 0, 2, 1]
