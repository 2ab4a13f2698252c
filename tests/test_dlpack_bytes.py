"""DLPack capsules whose fields are wrong: a BufferError, or a view of what they say."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import numpy as np
import pytest
from cudapy.core.utils import StridedMemoryView
from hypothesis import given
from hypothesis import strategies as st

from cudapy._ffi import dlpack
from cudapy._ffi.dlpack import open_capsule

from .budget import fuzz, once_failed

Change = dict[str, int | list[int] | None]


class Producer:
    """A (2, 3) array of int32 whose capsule was changed; device: what `__dlpack_device__` says."""

    def __init__(self, change: Change, versioned: bool = True, device: tuple[int, int] = (1, 0)) -> None:
        self.array = np.arange(6, dtype="i4").reshape(2, 3)
        self.change, self.versioned, self.device = change, versioned, device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **_: Any) -> Any:
        made = self.array.__dlpack__(**({"max_version": (1, 0)} if self.versioned else {}))
        tensor, managed = open_capsule(made)
        for name, value in self.change.items():
            if name in ("shape", "strides"):
                if value is None:
                    setattr(tensor, name, None)
                elif getattr(tensor, name):
                    for i, extent in enumerate(value):
                        getattr(tensor, name)[i] = extent
            elif name in ("major", "minor", "flags"):
                if managed is not None:
                    setattr(managed, name, value)
            else:
                setattr(tensor, name, value)
        return made


@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize(
    "change",
    [
        {"ndim": 65},
        {"ndim": -1},
        {"ndim": 2**31 - 1},
        {"ndim": -(2**31)},
        {"shape": None},
        {"shape": [-1, 3]},
        {"shape": [2**62, 2**62]},
        {"strides": [2**62, 1]},
        {"strides": [-(2**62), 1]},
        {"code": dlpack.BOOL, "bits": 32},
        {"code": dlpack.BFLOAT, "bits": 32},
        {"code": dlpack.FLOAT, "bits": 24},
        {"code": dlpack.COMPLEX, "bits": 16},
        {"bits": 0},
        {"bits": 7},
        {"lanes": 0},
        {"byte_offset": 2**64 - 1},
        {"byte_offset": 2**63, "data": 2**63},
        {"byte_offset": 2**63, "data": 2**63, "shape": [0, 3]},
        {"data": 0},
        {"data": 2**64 - 8},
        {"device_type": dlpack.CUDA},
        {"device_type": dlpack.CUDA_MANAGED},
        {"device_type": 99},
    ],
)
def test_what_no_tensor_can_be(change: Change, versioned: bool) -> None:
    with pytest.raises(BufferError):
        StridedMemoryView.from_dlpack(Producer(change, versioned))


@pytest.mark.parametrize("major", [0, 2, 2**32 - 1])
def test_another_version(major: int) -> None:
    with pytest.raises(BufferError, match=rf"this is DLPack {major}\.\d+, not 1.x"):
        StridedMemoryView.from_dlpack(Producer({"major": major}))


@pytest.mark.gpu
def test_the_device_that_was_stated_is_that_of_the_capsule() -> None:
    """Page-locked memory may be called that of the host, as PyTorch does."""
    with pytest.raises(BufferError, match=r"on device \(1, 0\) of DLPack, __dlpack_device__ says \(2, 0\)"):
        StridedMemoryView.from_dlpack(Producer({}, device=(dlpack.CUDA, 0)), -1)
    with pytest.raises(BufferError, match=r"on device \(13, 1\) of DLPack, __dlpack_device__ says \(13, 0\)"):
        other = {"device_type": dlpack.CUDA_MANAGED, "device_id": 1}
        StridedMemoryView.from_dlpack(Producer(other, device=(dlpack.CUDA_MANAGED, 0)), -1)
    from cudapy.core import Device

    Device().set_current()
    assert StridedMemoryView.from_dlpack(Producer({}, device=(dlpack.CUDA_HOST, 0))).shape == (2, 3)


WIDE = st.integers(-4, 70) | st.sampled_from([2**31, 2**32, 2**62, 2**63 - 1, -(2**63)])
CHANGES: st.SearchStrategy[Change] = st.fixed_dictionaries(
    {},
    optional={
        "ndim": st.integers(-2, 2) | st.sampled_from([65, 2**31 - 1, -(2**31)]),  # no more than it has
        "shape": st.none() | st.lists(WIDE, min_size=2, max_size=2),
        "strides": st.none() | st.lists(WIDE, min_size=2, max_size=2),
        "code": st.integers(0, 20),
        "bits": st.integers(0, 255),
        "lanes": st.integers(0, 65535),
        "byte_offset": st.sampled_from([0, 1, 4, 24, 2**32, 2**63, 2**64 - 1]),
        "data": st.sampled_from([0, 1, 4096, 2**63, 2**64 - 64, 2**64 - 1]),
        "device_type": st.integers(-1, 20),
        "device_id": st.integers(-1, 3),
        "major": st.sampled_from([0, 1, 2]),
        "flags": st.integers(0, 7),
    },
)


def survive(change: Change, versioned: bool) -> None:
    producer = Producer(change, versioned)
    try:
        view = StridedMemoryView.from_dlpack(producer)
    except BufferError:
        return
    said = {"ndim": 2, "code": dlpack.INT, "bits": 32, "lanes": 1, **change}
    assert len(view.shape) == said["ndim"]
    assert view.layout.itemsize * 8 == said["bits"] * said["lanes"]  # type: ignore[operator]
    low, high = view.layout.offset_bounds
    if view.size:
        size = view.layout.itemsize
        assert view.ptr > 0 and view.ptr + low * size >= 0 and view.ptr + (high + 1) * size <= 2**64
    assert repr(view) and view.readonly == bool(int(change.get("flags") or 0) & 1 and versioned)
    with contextlib.suppress(NotImplementedError):
        assert view.dtype is None or view.dtype.itemsize == view.layout.itemsize


@fuzz
@given(CHANGES, st.booleans())
def test_any_capsule_is_right_or_a_buffer_error(change: Change, versioned: bool) -> None:
    survive(change, versioned)


@pytest.mark.parametrize("example", once_failed("dlpack"), ids=json.dumps)
def test_what_once_failed(example: Any) -> None:
    survive(*example)
