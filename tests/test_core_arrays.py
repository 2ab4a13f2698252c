"""Layouts and views of arrays, against NumPy; DLPack capsules. No GPU is needed."""

from __future__ import annotations

import ctypes
import gc
import itertools
import sys
from typing import Any

import numpy as np
import pytest
from cudapy.core.utils import StridedMemoryView, args_viewable_as_strided_memory
from hypothesis import given
from hypothesis import strategies as st

from cudapy._core.arrays.element_types import Element, dtype, of
from cudapy._core.arrays.layout import StridedLayout
from cudapy._core.arrays.strided_copy import Axis, make_plan
from cudapy._core.memory.dlpack import capsule, dense
from cudapy._ffi import dlpack
from cudapy._ffi.dlpack import Described, describe

from .budget import thorough
from .stub import python

SHAPES = st.lists(st.integers(1, 5), max_size=4).map(tuple)


@st.composite
def arrays(draw: Any) -> np.ndarray:
    """Parts of a larger array, their axes in any order; each element is its own number."""
    shape = draw(SHAPES)
    whole = np.arange(int(np.prod(shape, dtype=int)), dtype="i4").reshape(shape)
    part = whole[
        tuple(
            slice(draw(st.integers(0, extent)), None, draw(st.sampled_from([1, 2, -1])))
            if draw(st.booleans())
            else slice(None)
            for extent in shape
        )
    ]
    return np.asarray(part).transpose(draw(st.permutations(range(np.ndim(part)))))


def layout_of(array: np.ndarray) -> StridedLayout:
    return StridedLayout(array.shape, array.strides, array.itemsize, divide_strides=True)


def offsets(layout: StridedLayout) -> np.ndarray:
    """The offset of each element, by its definition."""
    found = np.empty(layout.shape, int)
    steps = layout.strides if layout.strides is not None else StridedLayout.dense(layout.shape, 1).strides
    assert steps is not None
    for index in np.ndindex(*layout.shape):
        found[index] = layout.slice_offset + sum(i * s for i, s in zip(index, steps, strict=True))
    return found


# -- layouts ------------------------------------------------------------------------------------------------


@thorough
@given(arrays())
def test_what_a_layout_says_of_itself(array: np.ndarray) -> None:
    layout, where = layout_of(array), offsets(layout_of(array))
    assert (layout.ndim, layout.shape, layout.volume) == (array.ndim, array.shape, array.size)
    assert layout.offset_bounds == ((where.min(), where.max()) if array.size else (0, -1))
    assert layout.is_unique == (len(set(where.flat)) == array.size)
    assert layout.is_contiguous_c == array.flags.c_contiguous or array.size <= 1
    assert layout.is_contiguous_f == array.flags.f_contiguous or array.size <= 1
    filled = sorted(where.flat) == list(range(array.size))
    assert layout.is_dense == (filled or not array.size)
    order = layout.stride_order
    steps = [abs(array.strides[axis]) for axis in order]
    assert sorted(order) == list(range(array.ndim)) and (
        steps == sorted(steps, reverse=True) or not array.size
    )


@thorough
@given(arrays(), st.data())
def test_other_layouts_of_the_same_elements(array: np.ndarray, data: Any) -> None:
    layout, where = layout_of(array), offsets(layout_of(array))
    order = data.draw(st.permutations(range(array.ndim)))
    assert (offsets(layout.permuted(order)) == where.transpose(order)).all()
    axis = data.draw(st.integers(0, array.ndim))
    assert (offsets(layout.unsqueezed(axis)) == np.expand_dims(where, axis)).all()
    assert layout.unsqueezed(axis).shape == np.expand_dims(array, axis).shape
    assert sorted(offsets(layout.squeezed()).flat) == sorted(where.flat)
    assert (offsets(layout.flattened()).ravel() == where.ravel()).all()
    wider = (2, *(extent if extent != 1 else 3 for extent in array.shape))
    assert (offsets(layout.broadcast_to(wider)) == np.broadcast_to(where, wider)).all()
    dense = layout.to_dense()
    assert dense.is_dense and dense.shape == layout.shape
    if array.size:
        assert dense.required_size_in_bytes() == array.nbytes
        cut = tuple(
            data.draw(st.one_of(st.integers(-extent, extent - 1), st.slices(extent)))
            for extent in array.shape[: data.draw(st.integers(0, array.ndim))]
        )
        assert (offsets(layout[cut]) == where[cut]).all() and layout[cut].shape == where[cut].shape


@thorough
@given(arrays(), st.data())
def test_reshaping_is_right_or_refused(array: np.ndarray, data: Any) -> None:
    layout, where = layout_of(array), offsets(layout_of(array))
    shape = data.draw(st.permutations(array.shape).map(tuple))
    shapes = [shape, (-1,), (array.size,), (1, *shape, 1)]
    for wanted in shapes:
        try:
            found = layout.reshaped(wanted)
        except ValueError:
            assert array.size and not np.shares_memory(array.reshape(wanted), array), "NumPy copies here"
            continue
        assert (offsets(found) == where.reshape(wanted)).all()


def test_layouts_by_example() -> None:
    dense = StridedLayout.dense
    assert dense((5, 3, 7), 1, "F") == StridedLayout((5, 3, 7), (1, 5, 15), 1)
    assert dense((5, 3, 7), 1, (2, 0, 1)) == StridedLayout((5, 3, 7), (3, 1, 15), 1)
    assert StridedLayout.dense_like(dense((5, 3, 7), 4).permuted((2, 0, 1))).strides == (1, 21, 7)
    assert StridedLayout((3, 4), None, 4).strides is None and StridedLayout((3, 4), None, 4).is_contiguous_c
    four, twelve = dense((4, 5, 3), 4), StridedLayout((4, 5, 3), (1, 12, 4), 4)
    mask = four.flattened_axis_mask() & twelve.flattened_axis_mask()
    assert (four.flattened_axis_mask(), mask) == (6, 4)
    assert four.flattened(mask=mask).shape == twelve.flattened(mask=mask).shape == (4, 15)
    assert dense((5, 3, 7), 4).flattened(1).shape == (5, 21) and dense((5, 3, 7), 4).flattened(
        0, 1
    ).shape == (15, 7)
    wide = dense((5, 4), 4)
    assert wide.repacked(2) == dense((5, 8), 2) and wide.repacked(16) == dense((5, 1), 16)
    assert wide.repacked(16, keep_dim=False) == dense((5,), 16)
    assert wide.max_compatible_itemsize() == 16 and wide.max_compatible_itemsize(data_ptr=8) == 8
    assert wide[1:].slice_offset_in_bytes == 16 and wide[1:].required_size_in_bytes() == 80
    assert hash(wide) == hash(dense((5, 4), 4)) and wide != dense((5, 4), 8) and wide != 1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: StridedLayout((3, -1), None, 4),
        lambda: StridedLayout((3,), (1, 1), 4),
        lambda: StridedLayout((3,), (1,), 0),
        lambda: StridedLayout((3,), (6,), 4, divide_strides=True),
        lambda: StridedLayout.dense((2, 3), 4, "K"),
        lambda: StridedLayout.dense((2, 3), 4, (0, 0)),
        lambda: StridedLayout((5, 4), (-4, 1), 4).required_size_in_bytes(),
        lambda: StridedLayout.dense((2, 3), 4)[2],
        lambda: StridedLayout.dense((2, 3), 4)[0, 0, 0],
        lambda: StridedLayout.dense((2, 3), 4).broadcast_to((4, 3)),
        lambda: StridedLayout.dense((2, 3), 4).permuted((0,)),
        lambda: StridedLayout.dense((2, 3), 4).reshaped((4,)),
        lambda: StridedLayout.dense((2, 3), 4).repacked(8),
        lambda: StridedLayout.dense((2, 4), 4).repacked(8, data_ptr=4),
        lambda: StridedLayout.dense((2, 3), 4).unsqueezed(4),
        lambda: StridedLayout.dense((2, 3), 4).repacked(6),
        lambda: StridedLayout.dense((2, 3), 4).repacked(2, axis=0),
        lambda: StridedLayout.dense((2, 3), 4).repacked(2, axis=2),
        lambda: StridedLayout.dense((2, 3), 4)[:, ::2].flattened(mask=2),
    ],
)
def test_layouts_that_cannot_be(wrong: Any) -> None:
    with pytest.raises(ValueError):
        wrong()


# -- copies -------------------------------------------------------------------------------------------------


def carry_out(plan: Any, target: bytearray, source: bytes, to: int, at: int) -> int:
    """Do what cuMemcpy3D does for each call of a plan, and what it refuses; how many calls."""
    calls = 0
    for indices in itertools.product(*(range(axis.extent) for axis in plan.rest)):
        calls += 1
        first_to = to + plan.to + sum(i * axis.to for i, axis in zip(indices, plan.rest, strict=True))
        first_at = at + plan.at + sum(i * axis.at for i, axis in zip(indices, plan.rest, strict=True))
        assert plan.width <= min(plan.rows.to, plan.rows.at)
        height_to, rest_to = divmod(plan.slices.to, plan.rows.to)
        height_at, rest_at = divmod(plan.slices.at, plan.rows.at)
        assert not rest_to and not rest_at and min(height_to, height_at) >= plan.rows.extent
        for z, y in itertools.product(range(plan.slices.extent), range(plan.rows.extent)):
            here = first_to + (z * height_to + y) * plan.rows.to
            there = first_at + (z * height_at + y) * plan.rows.at
            assert here >= 0 and there >= 0
            target[here : here + plan.width] = source[there : there + plan.width]
    return calls


@thorough
@given(arrays(), st.data())
def test_plans_copy_every_element_once(source: np.ndarray, data: Any) -> None:
    """Between any two layouts of a shape, with calls that cuMemcpy3D takes, and nothing beside them."""
    step, strides = 4, [0] * source.ndim
    for axis in data.draw(st.permutations(range(source.ndim))):
        strides[axis] = step * data.draw(st.sampled_from([1, 1, 2, 3, -1]))
        step = abs(strides[axis]) * max(source.shape[axis], 1)
    first = sum(
        -stride * (extent - 1) for stride, extent in zip(strides, source.shape, strict=True) if stride < 0
    )
    room = np.full(max(step, 4) // 4, -1, "i4")
    expected = room.copy()
    np.lib.stride_tricks.as_strided(expected[first // 4 :], source.shape, strides)[...] = source
    memory = bytearray(room.tobytes())
    whole = source if source.base is None else source.base
    at = source.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    axes = [Axis(*each) for each in zip(source.shape, strides, source.strides, strict=True)]
    if source.size:
        carry_out(make_plan(axes, 4), memory, whole.tobytes(), first, at)
        assert memory == expected.tobytes()


@pytest.mark.parametrize(
    ("shape", "to", "at", "calls"),
    [
        ((6, 7, 8), (224, 32, 4), (224, 32, 4), 1),  # dense
        ((6, 7, 8), (224, 32, 4), (4, 24, 168), 42),  # transposed: element by element, an axis at a time
        ((6, 7, 4), (448, 64, 4), (112, 16, 4), 1),  # rows of a larger array
        ((6, 7, 4, 2), (1792, 256, 32, 4), (224, 32, 8, 4), 6),
    ],
)
def test_plans_take_few_calls(shape: Any, to: Any, at: Any, calls: int) -> None:
    axes = [Axis(*each) for each in zip(shape, to, at, strict=True)]
    plan = make_plan(axes, 4)
    assert int(np.prod([axis.extent for axis in plan.rest], dtype=int)) <= calls


# -- views of host memory -----------------------------------------------------------------------------------


@thorough
@given(arrays(), st.sampled_from(["f4", "c16", "?", "u1", "f2"]))
def test_views_of_numpy_arrays(array: np.ndarray, kind: str) -> None:
    array = array.astype(kind, order="K") if array.flags.forc else array
    for make in (
        StridedMemoryView.from_dlpack,
        StridedMemoryView.from_array_interface,
        StridedMemoryView.from_any_interface,
        StridedMemoryView,
    ):
        view = make(array)
        assert (view.shape, view.dtype, view.size) == (array.shape, array.dtype, array.size)
        device_id = 0 if make == StridedMemoryView.from_array_interface else -1
        assert (view.device_id, view.is_device_accessible, view.readonly) == (device_id, False, False)
        assert view.exporting_obj is array and view.__dlpack_device__() == (1, 0)
        back = np.from_dlpack(view)
        assert (back == array).all() and back.dtype == array.dtype
        if array.size > 1:
            assert view.ptr == array.ctypes.data == back.ctypes.data and back.strides == array.strides


def test_what_device_host_memory_is_on() -> None:
    """-1, but 0 where the protocol says nothing of devices, or there is no array."""
    array = np.arange(4, dtype="f4")
    assert StridedMemoryView.from_dlpack(array, -1).device_id == -1
    assert StridedMemoryView.from_array_interface(array).device_id == 0
    assert StridedMemoryView.from_array_interface(array).view(dtype=np.dtype("u4")).device_id == 0
    assert StridedMemoryView().device_id == 0


def test_views_keep_the_memory_and_let_go_of_it() -> None:
    class Owner(np.ndarray):
        pass

    array = np.arange(10.0).view(Owner)
    before = sys.getrefcount(array)
    view = StridedMemoryView.from_dlpack(array)
    back = np.from_dlpack(view)
    assert sys.getrefcount(array) > before
    del view
    assert back.tolist() == list(range(10))
    del back
    gc.collect()
    assert sys.getrefcount(array) == before


def test_read_only_arrays_stay_so() -> None:
    array = np.arange(4)
    array.flags.writeable = False
    view = StridedMemoryView.from_any_interface(array)
    assert view.readonly and not np.from_dlpack(view).flags.writeable
    with pytest.raises(BufferError, match="read-only"):
        view.__dlpack__()
    with pytest.raises(ValueError, match="read-only"):
        view.copy_from(StridedMemoryView(np.arange(4)), stream=FakeStream())


class FakeStream:
    """A stream that host memory needs none of."""

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 7


def test_other_types_and_layouts_of_a_view() -> None:
    array = np.arange(24, dtype="f4").reshape(4, 6)
    view = StridedMemoryView.from_array_interface(array)
    pairs = view.view(dtype="c8")
    assert pairs.shape == (4, 3) and (np.from_dlpack(pairs) == array.view("c8")).all()
    assert (np.from_dlpack(view.view(dtype="i4")) == array.view("i4")).all()
    part = view.view(view.layout[1:, ::2])
    assert (np.from_dlpack(part) == array[1:, ::2]).all() and part.ptr == array[1:].ctypes.data
    assert (np.from_dlpack(part.view(part.layout.permuted((1, 0)))) == array[1:, ::2].T).all()
    with pytest.raises(ValueError, match="outside"):
        view.view(StridedLayout.dense((5, 6), 4))
    with pytest.raises(ValueError, match="dtype"):
        view.view(view.layout.repacked(8))
    with pytest.raises(ValueError, match="8 bytes cannot be float32"):
        view.view(view.layout.repacked(8), "f4")


def test_what_is_no_array() -> None:
    with pytest.raises(BufferError, match="neither"):
        StridedMemoryView(object())
    with pytest.raises(BufferError, match="version 3"):
        StridedMemoryView.from_cuda_array_interface(WithInterface(version=2))
    with pytest.raises(BufferError, match="mask"):
        StridedMemoryView.from_cuda_array_interface(WithInterface(mask=object()), -1)
    with pytest.raises(BufferError, match="stream 0"):
        StridedMemoryView.from_cuda_array_interface(WithInterface(stream=0), -1)
    with pytest.raises(BufferError, match="stream_ptr"):
        StridedMemoryView.from_cuda_array_interface(WithInterface())
    for wrong in ({"data": 5}, {"shape": 3}, {"typestr": "?!"}):
        with pytest.raises(BufferError, match="of a WithInterface is not valid"):
            StridedMemoryView.from_cuda_array_interface(WithInterface(**wrong), -1)
    incomplete = WithInterface()
    del incomplete.__cuda_array_interface__["shape"]
    with pytest.raises(BufferError, match="of a WithInterface is not complete: no 'shape'"):
        StridedMemoryView.from_cuda_array_interface(incomplete, -1)
    incomplete.__cuda_array_interface__ = []  # type: ignore[assignment]
    with pytest.raises(BufferError, match="a list, not a dict"):
        StridedMemoryView.from_cuda_array_interface(incomplete, -1)
    with pytest.raises(BufferError, match="Python objects"):
        StridedMemoryView.from_array_interface(np.zeros(3, object))
    with pytest.raises(TypeError, match="ndarray"):
        StridedMemoryView.from_buffer(np.zeros(3), (3,), dtype="f8")
    view = StridedMemoryView.from_any_interface(np.zeros(3), -1)
    with pytest.raises(TypeError, match="layout"):
        view.view((3,))
    assert "float64" in repr(view)
    struct = StridedMemoryView.from_array_interface(np.zeros(3, "i4,f4"))
    with pytest.raises(BufferError, match="dtype"):
        struct.__dlpack__()


class WithInterface:
    def __init__(self, **more: Any) -> None:
        given = {"shape": (1,), "typestr": "<f4", "data": (1, False), "version": 3, **more}
        self.__cuda_array_interface__ = given


@pytest.mark.parametrize(("stream", "asked"), [(0, 1), (1, 1), (2, 2), (64, 64), (-1, -1)])
def test_dlpack_has_no_stream_0(stream: int, asked: int) -> None:
    """The default streams, of which 0 is one or the other, wait for 1, the legacy one."""

    class Producer:
        def __dlpack_device__(self) -> tuple[int, int]:
            return 2, 0

        def __dlpack__(self, *, stream: int, max_version: tuple[int, int]) -> Any:
            raise LookupError(stream)

    with pytest.raises(LookupError, match=rf"^{asked}$"):
        StridedMemoryView.from_dlpack(Producer(), stream)


def test_a_function_for_arrays_of_any_library() -> None:
    @args_viewable_as_strided_memory((0, 2))
    def add(x: Any, factor: int, y: Any, *, stream: int) -> Any:
        """The documentation stays."""
        assert x.has_dlpack
        return [np.from_dlpack(each.view(stream)).sum() * factor for each in (x, y)]

    assert add(np.ones(3), 2, np.ones(4), stream=-1) == [6, 8]
    assert add.__doc__ == "The documentation stays."
    with pytest.raises(TypeError, match=r"add\(\) takes argument 0 by position"):
        add(x=np.ones(3), factor=2, y=np.ones(4), stream=-1)


# -- capsules -----------------------------------------------------------------------------------------------


class Owner:
    pass


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 1), (2, 0)])
def test_a_capsule_says_what_it_was_told(version: Any) -> None:
    owner = Owner()
    told = Described(0x123400, dlpack.CUDA, 3, (4, 5), (1, 4), dlpack.BFLOAT, 16, 1, False)
    made = capsule(owner, told, version)
    assert describe(made) == told
    versioned = version is not None and version[0] >= 1
    assert ("dltensor_versioned" in repr(made)) == versioned


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (1, 1), (7,), (2, 1, 3)])
def test_capsules_of_all_shapes(shape: Any) -> None:
    told = Described(0x1000, dlpack.CUDA_MANAGED, 0, shape, dense(shape), dlpack.FLOAT, 32, 1, True)
    found = describe(capsule(Owner(), told, (1, 0)))
    assert found._replace(strides=None) == told._replace(strides=None)
    assert found.strides in (told.strides, None)


def test_a_capsule_keeps_its_owner_and_no_longer() -> None:
    owner = Owner()
    before = sys.getrefcount(owner)
    told = Described(0x1000, dlpack.CUDA, 0, (4,), (1,), dlpack.INT, 8, 1, False)
    for version in (None, (1, 0)):
        unused = [capsule(owner, told, version) for _ in range(100)]
        assert sys.getrefcount(owner) == before + 100
        del unused
        assert sys.getrefcount(owner) == before


def test_a_used_capsule_is_refused() -> None:
    array = np.arange(4)
    made = array.__dlpack__()

    class Once:
        def __dlpack__(self, **_: Any) -> Any:
            return made

        def __dlpack_device__(self) -> Any:
            return array.__dlpack_device__()

    taken = np.from_dlpack(Once())
    assert (taken == array).all()
    with pytest.raises(BufferError, match="used before"):
        StridedMemoryView.from_dlpack(Once())


def test_a_capsule_may_be_dropped_while_an_exception_is_raised() -> None:
    """And stays the exception that it was."""

    def fail() -> None:
        held = capsule(Owner(), Described(0x1000, 2, 0, (4,), (1,), 0, 8, 1, False), (1, 0))
        assert held is not None
        raise KeyError("mine")

    for _ in range(100):
        with pytest.raises(KeyError, match="mine"):
            fail()


def test_capsules_that_are_left_at_exit() -> None:
    done = python(
        "import sys\n"
        "import numpy as np\n"
        "from cudapy._core.memory.dlpack import capsule\n"
        "from cudapy._ffi.dlpack import Described\n"
        "class Owner:\n"
        "    def __del__(self): pass\n"
        "told = Described(0x1000, 2, 0, (4,), (1,), 0, 8, 1, False)\n"
        "sys.kept = [capsule(Owner(), told), capsule(Owner(), told, (1, 0))]\n"
        "from cudapy.core.utils import StridedMemoryView\n"
        "sys.view = StridedMemoryView.from_dlpack(np.arange(5)); np.kept = np.from_dlpack(sys.view)\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_offsets_of_the_first_and_the_last_element() -> None:
    backwards = StridedLayout.dense((5, 4), 4)[::-1]
    assert (backwards.min_offset, backwards.max_offset) == (0, 19)
    part = StridedLayout.dense((5, 4), 4)[1:, 1:3]
    assert (part.min_offset, part.max_offset) == (5, 18)


def test_elements_that_numpy_has_a_name_for_with_other_libraries() -> None:
    """Of ml_dtypes, which need not be there."""

    class Narrow:
        name, itemsize, kind, isnative = "float8_e4m3fn", 1, "V", True

    assert of(Narrow()) == Element(10, 8)


def test_types_of_elements() -> None:
    for kind in ("i1", "u8", "f2", "f8", "c8", "?"):
        element = of(np.dtype(kind))
        assert (
            element is not None
            and dtype(element) == np.dtype(kind)
            and element.size == np.dtype(kind).itemsize
        )
    assert of(np.dtype(">f4")) is None and of(np.dtype("U3")) is None and of(np.dtype("M8[s]")) is None
    if "ml_dtypes" in sys.modules:  # imported by another library, for another test
        assert dtype(Element(dlpack.BFLOAT, 16)) == np.dtype("bfloat16")
        assert of(np.dtype("bfloat16")) == Element(dlpack.BFLOAT, 16)
    else:
        with pytest.raises(NotImplementedError, match="bfloat16"):
            dtype(Element(dlpack.BFLOAT, 16))
    with pytest.raises(NotImplementedError, match="lanes=4"):
        dtype(Element(dlpack.FLOAT, 32, 4))
    with pytest.raises(BufferError, match="4 bits"):
        _ = Element(dlpack.UINT, 4).size


def test_structs_have_the_size_that_c_gives_them() -> None:
    assert [ctypes.sizeof(each) for each in (dlpack.Tensor, dlpack.Managed, dlpack.ManagedVersioned)] == [
        48,
        64,
        80,
    ]
    assert dlpack.ManagedVersioned.tensor.offset == 32 and dlpack.Tensor.shape.offset == 24
