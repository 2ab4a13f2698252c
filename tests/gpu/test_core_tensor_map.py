"""core on a real GPU: tensor maps, and the kernels that take them."""

from __future__ import annotations

import copy
import gc
import pickle

import numpy as np
import pytest
from cudapy.core.graph import GraphDefinition
from cudapy.core.utils import StridedMemoryView

from cudapy import driver
from cudapy.core import (
    Buffer,
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    TensorMapDataType,
    TensorMapDescriptor,
    TensorMapDescriptorOptions,
    TensorMapIm2ColWideMode,
    TensorMapInterleave,
    TensorMapL2Promotion,
    TensorMapOOBFill,
    TensorMapSwizzle,
    launch,
    prepare,
)

from .core_kernels import content
from .tensor_kernels import TENSOR_HEADER

pytestmark = pytest.mark.gpu

HEIGHT, WIDTH = 32, 64  # of a matrix of floats, of which boxes of 8 x 16 are copied
LOAD = (
    TENSOR_HEADER
    + r"""
template <typename T, int SIZE, int RANK>
__global__ void load(const __grid_constant__ TensorMap map, int x, int y, T *out) {
    __shared__ __align__(1024) T box[SIZE];
    __shared__ __align__(8) unsigned long long barrier;
    unsigned to = (unsigned)__cvta_generic_to_shared(box), at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) {
        arrive(&barrier, sizeof box);
        if (RANK == 1)
            asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes"
                         " [%0], [%1, {%2}], [%3];"
                         :: "r"(to), "l"(&map), "r"(x), "r"(at) : "memory");
        if (RANK == 2)
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                         " [%0], [%1, {%2, %3}], [%4];"
                         :: "r"(to), "l"(&map), "r"(x), "r"(y), "r"(at) : "memory");
        if (RANK == 3)
            asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
                         " [%0], [%1, {%2, %3, %4}], [%5];"
                         :: "r"(to), "l"(&map), "r"(x), "r"(y), "r"(1), "r"(at) : "memory");
    }
    __syncthreads();
    wait(&barrier);
    for (int i = threadIdx.x; i < SIZE; i += blockDim.x)
        out[i] = box[i];
}

template <typename T, int SIZE>
__global__ void load_pixels(
    const __grid_constant__ TensorMap map, int w, int h, int n, unsigned short dw, unsigned short dh, T *out)
{
    __shared__ __align__(1024) T box[SIZE];
    __shared__ __align__(8) unsigned long long barrier;
    unsigned to = (unsigned)__cvta_generic_to_shared(box), at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) {
        arrive(&barrier, sizeof box);
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};"
                     :: "r"(to), "l"(&map), "r"(0), "r"(w), "r"(h), "r"(n), "r"(at), "h"(dw), "h"(dh)
                     : "memory");
    }
    __syncthreads();
    wait(&barrier);
    for (int i = threadIdx.x; i < SIZE; i += blockDim.x)
        out[i] = box[i];
}

extern "C" __global__ void store(const __grid_constant__ TensorMap map, int x, int y, const float *in) {
    __shared__ __align__(128) float box[8 * 16];
    box[threadIdx.x] = in[threadIdx.x];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile(
            "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
            " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
            :: "l"(&map), "r"(x), "r"(y), "r"((unsigned)__cvta_generic_to_shared(box)) : "memory");
}

extern "C" __global__ void first_words(int skipped, const __grid_constant__ TensorMap map, long long *out) {
    out[threadIdx.x] = map.words[threadIdx.x];
}

"""
)
C_TYPES = {
    TensorMapDataType.UINT8: "unsigned char",
    TensorMapDataType.UINT16: "unsigned short",
    TensorMapDataType.UINT32: "unsigned int",
    TensorMapDataType.INT32: "int",
    TensorMapDataType.UINT64: "unsigned long long",
    TensorMapDataType.INT64: "long long",
    TensorMapDataType.FLOAT16: "unsigned short",
    TensorMapDataType.FLOAT32: "float",
    TensorMapDataType.FLOAT64: "double",
}
BOX = "load<float, 128, 2>"
ONE, ROW = LaunchConfig(grid=1, block=1), LaunchConfig(grid=1, block=128)


@pytest.fixture(autouse=True)
def needs_tensor_maps(device) -> None:
    if not device.properties.tensor_map_access_supported:
        pytest.skip("needs a device of compute capability 9.0")


@pytest.fixture(scope="module")
def kernels():
    Device(0).set_current()
    names = {f"load<{name}, 128, 2>" for name in C_TYPES.values()}
    names |= {"load<float, 16, 1>", "load<float, 64, 3>", "load<float, 256, 2>"}
    names |= {"load_pixels<unsigned short, 128>"}
    return Program(LOAD, "c++").compile("cubin", name_expressions=tuple(sorted(names)))


def view_of(device, stream, values, readonly=False) -> StridedMemoryView:
    """`values` on the device."""
    buffer = device.allocate(values.nbytes, stream)
    buffer.copy_from(values, stream=stream)
    return StridedMemoryView.from_buffer(buffer, values.shape, dtype=values.dtype, is_readonly=readonly)


def matrix(dtype=np.float32):
    return np.arange(HEIGHT * WIDTH).astype(dtype).reshape(HEIGHT, WIDTH)


@pytest.fixture
def view(device, stream) -> StridedMemoryView:
    return view_of(device, stream, matrix())


def loaded(device, stream, kernels, made, x, y, count=128, dtype=np.float32, kernel=BOX):
    """The box at column `x` and row `y`, as a kernel copies it."""
    out = device.allocate(count * np.dtype(dtype).itemsize, stream)
    launch(stream, ROW, kernels.get_kernel(kernel), made, x, y, out)
    return content(out, dtype, stream)


def cut(values, x, y, height=8, width=16):
    """The same out of `values`, with zeros around them."""
    around = np.zeros((HEIGHT + 2 * height, WIDTH + 2 * width), values.dtype)
    around[height:-height, width:-width] = values
    return around[y + height : y + 2 * height, x + width : x + 2 * width].ravel()


# -- boxes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("x", "y"), [(0, 0), (16, 8), (4, 3), (56, 28), (-4, -3)])
def test_a_kernel_loads_a_box(device, stream, kernels, view, x, y) -> None:
    made = view.as_tensor_map((8, 16))
    assert (loaded(device, stream, kernels, made, x, y) == cut(matrix(), x, y)).all()
    assert made.device == device and "32 x 64 FLOAT32" in repr(made)


@pytest.mark.parametrize("data_type", C_TYPES, ids=lambda data_type: data_type.name)
def test_boxes_of_every_type(device, stream, kernels, data_type) -> None:
    """By the type of the elements, and by what `data_type` says."""
    values = matrix(data_type.name.lower())
    view, count = view_of(device, stream, values), 128
    named = f"load<{C_TYPES[data_type]}, 128, 2>"
    bare = StridedMemoryView.from_buffer(view.exporting_obj, values.shape, itemsize=values.itemsize)
    for made in (
        view.as_tensor_map((8, 16)),
        bare.as_tensor_map((8, 16), data_type=values.dtype),
        bare.as_tensor_map((8, 16), data_type=data_type),
        bare.as_tensor_map((8, 16), data_type=driver.CUtensorMapDataType(int(data_type))),
    ):
        found = loaded(device, stream, kernels, made, 16, 3, count, values.dtype, named)
        assert found.tolist() == cut(values, 16, 3).tolist()


def test_bfloat16_as_what_numpy_has(device, stream, kernels) -> None:
    """NumPy has no such type, but integers of its size."""
    values = matrix(np.uint16)
    view = view_of(device, stream, values)
    made = view.as_tensor_map((8, 16), data_type=TensorMapDataType.BFLOAT16)
    named = "load<unsigned short, 128, 2>"
    found = loaded(device, stream, kernels, made, 0, 0, 128, np.uint16, named)
    assert found.tolist() == cut(values, 0, 0).tolist()


def test_tensors_of_other_ranks(device, stream, kernels) -> None:
    line = view_of(device, stream, np.arange(40, dtype=np.float32))
    made = line.as_tensor_map((16,))
    found = loaded(device, stream, kernels, made, 32, 0, 16, kernel="load<float, 16, 1>")
    assert found.tolist() == [*range(32, 40), *[0] * 8]
    values = np.arange(3 * 6 * 8, dtype=np.float32).reshape(3, 6, 8)
    made = view_of(device, stream, values).as_tensor_map((2, 4, 8))
    found = loaded(device, stream, kernels, made, 0, 1, 64, kernel="load<float, 64, 3>")
    assert found.tolist() == values[1:3, 1:5].ravel().tolist()


def test_steps_between_elements(device, stream, kernels, view) -> None:
    """Each second row of a box of 16: 8 rows. Strides of the array itself, too."""
    made = view.as_tensor_map((16, 16), element_strides=(2, 1))
    found = loaded(device, stream, kernels, made, 0, 4)
    assert found.tolist() == matrix()[4:20:2, :16].ravel().tolist()
    even = view.view(view.layout[::2, :32])
    assert even.shape == (HEIGHT // 2, WIDTH // 2)
    found = loaded(device, stream, kernels, even.as_tensor_map((8, 16)), 8, 1)
    assert found.tolist() == matrix()[2:18:2, 8:24].ravel().tolist()


def test_an_axis_without_steps_has_any_stride(device, stream, kernels, view) -> None:
    single = StridedMemoryView.from_buffer(view.exporting_obj, (1, 64), (1, 1), dtype=np.float32)
    found = loaded(device, stream, kernels, single.as_tensor_map((8, 16)), 0, 0)
    assert found.tolist() == [*range(16), *[0] * 112]


def test_a_swizzle(device, stream, kernels, view) -> None:
    """Pieces of 16 bytes in rows of 128 change places with the row's number."""
    made = view.as_tensor_map((8, 32), swizzle=TensorMapSwizzle.SWIZZLE_128B)
    found = loaded(device, stream, kernels, made, 32, 8, 256, kernel="load<float, 256, 2>")
    pieces, expected = found.reshape(8, 8, 4), matrix()[8:16, 32:].reshape(8, 8, 4)
    for row in range(8):
        for piece in range(8):
            assert pieces[row, piece ^ row].tolist() == expected[row, piece].tolist()


def test_what_fills_the_outside(device, stream, kernels, view) -> None:
    made = view.as_tensor_map((8, 16), oob_fill=TensorMapOOBFill.NAN_REQUEST_ZERO_FMA)
    found = loaded(device, stream, kernels, made, 56, 0).reshape(8, 16)
    assert np.isnan(found[:, 8:]).all() and (found[:, :8] == matrix()[:8, 56:]).all()


@pytest.mark.parametrize("promotion", TensorMapL2Promotion, ids=lambda promotion: promotion.name)
def test_promotions_change_no_result(device, stream, kernels, view, promotion) -> None:
    made = view.as_tensor_map((8, 16), l2_promotion=promotion)
    assert (loaded(device, stream, kernels, made, 4, 4) == cut(matrix(), 4, 4)).all()


def test_defaults_are_those_of_cuda_core() -> None:
    options = TensorMapDescriptorOptions((8, 16))
    assert (options.element_strides, options.data_type) == (None, None)
    chosen = options.interleave, options.swizzle, options.l2_promotion, options.oob_fill
    assert list(map(repr, chosen)) == [
        "<TensorMapInterleave.NONE: 0>",
        "<TensorMapSwizzle.NONE: 0>",
        "<TensorMapL2Promotion.NONE: 0>",
        "<TensorMapOOBFill.NONE: 0>",
    ]


def test_choices_have_the_values_of_the_driver() -> None:
    for cls, twin, prefix in (
        (TensorMapDataType, driver.CUtensorMapDataType, "CU_TENSOR_MAP_DATA_TYPE"),
        (TensorMapInterleave, driver.CUtensorMapInterleave, "CU_TENSOR_MAP"),
        (TensorMapSwizzle, driver.CUtensorMapSwizzle, "CU_TENSOR_MAP"),
        (TensorMapL2Promotion, driver.CUtensorMapL2promotion, "CU_TENSOR_MAP_L2_PROMOTION"),
        (TensorMapOOBFill, driver.CUtensorMapFloatOOBfill, "CU_TENSOR_MAP_FLOAT_OOB_FILL"),
        (TensorMapIm2ColWideMode, driver.CUtensorMapIm2ColWideMode, "CU_TENSOR_MAP_IM2COL_WIDE_MODE"),
    ):
        for choice in cls:
            bare = {TensorMapInterleave: "INTERLEAVE_NONE", TensorMapSwizzle: "SWIZZLE_NONE"}.get(cls)
            name = bare if bare and choice.name == "NONE" else choice.name
            assert twin[f"{prefix}_{name}"] == choice


def test_options_are_the_same_as_parameters(device, stream, kernels, view) -> None:
    options = TensorMapDescriptorOptions([8, 16], element_strides=(1, 1), data_type="float32")
    assert (options.box_dim, options.data_type) == ((8, 16), TensorMapDataType.FLOAT32)
    for given in (options, {"box_dim": (8, 16)}):
        made = view.as_tensor_map(options=given)
        assert (loaded(device, stream, kernels, made, 4, 4) == cut(matrix(), 4, 4)).all()


def test_a_kernel_stores_a_box(device, stream, kernels, view) -> None:
    values = np.arange(-128, 0, dtype=np.float32)
    source = view_of(device, stream, values)
    made = view.as_tensor_map((8, 16))
    launch(stream, ROW, kernels.get_kernel("store"), made, 56, 28, source.exporting_obj)
    expected = matrix()
    expected[28:, 56:] = values.reshape(8, 16)[:4, :8]
    found = content(view.exporting_obj, np.float32, stream).reshape(HEIGHT, WIDTH)
    assert (found == expected).all()


# -- pixels -------------------------------------------------------------------------------------------------


def test_columns_of_pixels(device, stream, kernels) -> None:
    """Of 2 pictures of 5 x 6 pixels of 8 channels, whose box leaves out one pixel on each side."""
    values = np.arange(2 * 5 * 6 * 8).astype(np.uint16).reshape(2, 5, 6, 8)
    view = view_of(device, stream, values)
    made = TensorMapDescriptor.from_im2col(view, (-1, -1), (-1, -1), 8, 16)
    assert "im2col, 2 x 5 x 6 x 8 UINT16" in repr(made)
    out = device.allocate(256, stream)
    shift = np.uint16(1), np.uint16(2)  # of w, of h
    launch(stream, ROW, kernels.get_kernel("load_pixels<unsigned short, 128>"), made, 1, -1, 1, *shift, out)
    around = np.zeros((2, 9, 10, 8), np.uint16)
    around[:, 2:7, 2:8] = values
    places = [(n, h, w) for n in range(2) for h in range(-1, 4) for w in range(-1, 5)]
    first = places.index((1, -1, 1))
    expected = [around[n, h + 2 + 2, w + 1 + 2] for n, h, w in places[first : first + 16]]
    assert content(out, np.uint16, stream).reshape(16, 8).tolist() == np.array(expected).tolist()


def test_corners_are_in_the_order_of_the_shape(device, stream) -> None:
    """(h, w) here, (w, h) for the driver."""
    view = view_of(device, stream, np.zeros((2, 5, 6, 8), np.uint16))
    made = TensorMapDescriptor.from_im2col(view, (-2, -1), (0, 1), 8, 16, element_strides=(1, 2, 1, 1))
    plain = driver.checked.cuTensorMapEncodeIm2col(
        1, 4, view.ptr, [8, 6, 5, 2], [16, 96, 480], [-1, -2], [1, 0], 8, 16, [1, 1, 2, 1], 0, 0, 0, 0
    )
    assert made._value() == bytes(plain)


def test_pixels_along_a_row(device, stream, monkeypatch) -> None:
    """What the driver is asked for, which a device of compute capability 10.0 can use."""
    view = view_of(device, stream, np.zeros((2, 5, 6, 64), np.uint16))
    asked = []

    def encode(*arguments):
        asked.append(arguments)
        return driver.CUtensorMap()

    monkeypatch.setattr(driver.checked, "cuTensorMapEncodeIm2colWide", encode)
    of = TensorMapDescriptor.from_im2col_wide
    of(view, -1, 2, 64, 16)
    of(
        view,
        np.int64(3),
        4,
        32,
        8,
        element_strides=(1, 1, 2, 1),
        mode=TensorMapIm2ColWideMode.W128,
        swizzle=TensorMapSwizzle.SWIZZLE_64B,
        l2_promotion=TensorMapL2Promotion.L2_128B,
        data_type=np.float16,
        oob_fill=TensorMapOOBFill.NAN_REQUEST_ZERO_FMA,
    )
    shape = (4, view.ptr, [64, 6, 5, 2], [128, 768, 3840])
    assert asked == [
        (1, *shape, -1, 2, 64, 16, [1, 1, 1, 1], 0, 0, 3, 0, 0),
        (6, *shape, 3, 4, 32, 8, [1, 2, 1, 1], 0, 1, 2, 2, 1),
    ]


# -- other memory -------------------------------------------------------------------------------------------


def test_the_address_can_be_replaced(device, stream, kernels, view) -> None:
    made, other = view.as_tensor_map((8, 16)), view_of(device, stream, -matrix())
    before = made._value()
    made.replace_address(other)
    assert made._value() == other.as_tensor_map((8, 16))._value() != before
    assert (loaded(device, stream, kernels, made, 4, 4) == -cut(matrix(), 4, 4)).all()
    made.replace_address(view.exporting_obj)  # a Buffer, by its own
    assert made._value() == before


def test_a_replaced_address_keeps_its_memory(device, stream, kernels, view) -> None:
    made = view.as_tensor_map((8, 16))
    made.replace_address(view_of(device, stream, -matrix()))
    gc.collect()
    others = [view_of(device, stream, 0 * matrix()) for _ in range(3)]
    assert (loaded(device, stream, kernels, made, 4, 4) == -cut(matrix(), 4, 4)).all()
    assert len(others) == 3


def test_an_array_of_another_library(device, stream, kernels, view) -> None:
    class Foreign:
        def __init__(self, buffer):
            self.__cuda_array_interface__ = {**buffer.__cuda_array_interface__, "stream": None}

    made = view.as_tensor_map((8, 16))
    other = view_of(device, stream, -matrix())
    made.replace_address(Foreign(other.exporting_obj))
    assert (loaded(device, stream, kernels, made, 4, 4) == -cut(matrix(), 4, 4)).all()


def test_page_locked_memory(stream, device, kernels) -> None:
    pinned = LegacyPinnedMemoryResource().allocate(4 * HEIGHT * WIDTH)
    np.asarray(pinned).view(np.float32)[:] = matrix().ravel()
    made = StridedMemoryView.from_buffer(pinned, (HEIGHT, WIDTH), dtype=np.float32).as_tensor_map((8, 16))
    assert made.device is None
    assert (loaded(device, stream, kernels, made, 4, 4) == cut(matrix(), 4, 4)).all()


# -- launches -----------------------------------------------------------------------------------------------


def test_where_a_map_is_among_the_arguments(device, stream, kernels, view) -> None:
    """Where the driver says that its parameter is, by launch and prepare; and by nothing else."""
    made, out = view.as_tensor_map((8, 16)), device.allocate(128, stream)
    config, kernel = LaunchConfig(grid=1, block=16), kernels.get_kernel("first_words")
    offset, size = kernel.arguments_info[1]  # at a multiple of 64, counted from where the device has them
    assert offset >= 4 and size == 128
    for call in (launch, lambda *args: prepare(*args)(*args[3:])):
        out.fill(0, stream=stream)
        call(stream, config, kernel, 5, made, out)
        assert content(out, np.uint8, stream).tobytes() == made._value()
    with pytest.raises(TypeError, match="argument 2: it takes 128 bytes"):
        launch(stream, config, kernel, 5, made, made)
    with pytest.raises(TypeError, match="argument 1"):
        launch(stream, config, kernel, 5, out, out)


def test_a_prepared_launch_takes_what_the_map_is_now(device, stream, kernels, view) -> None:
    made, out = view.as_tensor_map((8, 16)), device.allocate(512, stream)
    run = prepare(stream, ROW, kernels.get_kernel(BOX), made, 4, 4, out)
    other = view_of(device, stream, -matrix())
    for tensor, sign in ((view, 1), (other, -1), (view, 1)):
        made.replace_address(tensor)
        run(made, 4, 4, out)
        assert (content(out, np.float32, stream) == sign * cut(matrix(), 4, 4)).all()


def test_a_graph_has_the_map_of_then(device, stream, kernels) -> None:
    """And its memory, whatever became of the map and the Buffer."""
    out = device.allocate(512, stream)
    made = view_of(device, stream, matrix()).as_tensor_map((8, 16))
    builder = stream.create_graph_builder().begin_building()
    launch(builder, ROW, kernels.get_kernel(BOX), made, 4, 4, out)
    definition = GraphDefinition()
    definition.launch(ROW, kernels.get_kernel(BOX), made, 4, 4, out)
    graphs = [builder.end_building().complete(), definition.instantiate()]
    made.replace_address(view_of(device, stream, -matrix()))
    del made, builder, definition
    gc.collect()
    others = [view_of(device, stream, 0 * matrix()) for _ in range(3)]
    for graph in graphs:
        out.fill(0, stream=stream)
        graph.launch(stream)
        assert (content(out, np.float32, stream) == cut(matrix(), 4, 4)).all()
    assert len(others) == 3


def test_a_closed_buffer_is_no_tensor(device, stream, kernels, view) -> None:
    made, out = view.as_tensor_map((8, 16)), device.allocate(512, stream)
    other = view_of(device, stream, matrix()).as_tensor_map((8, 16))
    other.replace_address(StridedMemoryView.from_dlpack(view.exporting_obj, -1))
    view.exporting_obj.close()
    for function in (
        other._value,
        lambda: launch(stream, ROW, kernels.get_kernel(BOX), made, 0, 0, out),
        lambda: view.as_tensor_map((8, 16)),
        lambda: made.replace_address(view),
        made._value,
    ):
        with pytest.raises(RuntimeError, match="this Buffer is closed"):
            function()


def test_a_map_is_of_this_process(view) -> None:
    made = view.as_tensor_map((8, 16))
    for function in (copy.copy, pickle.dumps):
        with pytest.raises(TypeError, match="TensorMapDescriptor objects cannot be copied"):
            function(made)
    with pytest.raises(TypeError, match="comes from"):
        TensorMapDescriptor()


# -- what is wrong ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, TypeError, "needs a box_dim, or options"),
        ({"box_dim": (8, 16), "options": {"box_dim": (8, 16)}}, TypeError, "not both"),
        ({"options": {"box_dim": (8, 16)}, "data_type": "float32"}, TypeError, "not both"),
        ({"options": 5}, TypeError, "options must be TensorMapDescriptorOptions or a dict"),
        ({"options": {"box": (8, 16)}}, TypeError, "Did you mean 'box_dim'"),
        ({"box_dim": 8}, TypeError, "box_dim must be a tuple of ints, not 8"),
        ({"box_dim": (8, 16.5)}, TypeError, "whole number, not 16.5"),
        ({"box_dim": (8,)}, ValueError, "box_dim must have 2 items, not 1"),
        ({"box_dim": (257, 16)}, ValueError, "an extent in box_dim must be 1 to 256, not 257"),
        ({"box_dim": (0, 16)}, ValueError, "1 to 256, not 0"),
        ({"box_dim": (8, 3)}, ValueError, "a row of the box has 12 bytes"),
        ({"box_dim": (8, 16), "element_strides": (1,)}, ValueError, "element_strides must have 2 items"),
        ({"box_dim": (8, 16), "element_strides": (1, 9)}, ValueError, "1 to 8, not 9"),
        ({"box_dim": (8, 16), "data_type": "int8"}, ValueError, "a tensor map has no int8: .* one of uint8"),
        (
            {"box_dim": (8, 16), "data_type": "float16"},
            ValueError,
            "FLOAT16 has 2 bytes, the elements have 4",
        ),
        ({"box_dim": (8, 16), "data_type": 7}, TypeError, "a dtype or a TensorMapDataType, not 7"),
        (
            {"box_dim": (8, 16), "swizzle": 3},
            TypeError,
            "swizzle must be a member of TensorMapSwizzle, not 3",
        ),
        (
            {"box_dim": (8, 16), "swizzle": TensorMapInterleave.NONE},
            TypeError,
            "swizzle must be a member of TensorMapSwizzle",
        ),
        (
            {"box_dim": (8, 16), "swizzle": driver.CUtensorMapSwizzle(4)},
            ValueError,
            "is none of TensorMapSwizzle",
        ),
        (
            {"box_dim": (8, 16), "swizzle": TensorMapSwizzle.SWIZZLE_32B},
            ValueError,
            "a row of the box has 64 bytes, more than the 32 of SWIZZLE_32B",
        ),
        (
            {"box_dim": (8, 16), "interleave": TensorMapInterleave.INTERLEAVE_16B},
            ValueError,
            "INTERLEAVE_16B needs 3 axes or more, there are 2",
        ),
        (
            {"box_dim": (8, 16), "data_type": "int32", "oob_fill": TensorMapOOBFill.NAN_REQUEST_ZERO_FMA},
            ValueError,
            "is for floats, not for INT32",
        ),
        ({"box_dim": (8, 16), "l2_promotion": "l2_64b"}, TypeError, "member of TensorMapL2Promotion"),
    ],
)
def test_maps_that_cannot_be(view, arguments, error, message) -> None:
    with pytest.raises(error, match=message):
        view.as_tensor_map(**arguments)


def test_tensors_that_cannot_be_described(device, stream, view) -> None:
    of, buffer = StridedMemoryView.from_buffer, view.exporting_obj
    aside = Buffer.from_handle(buffer.handle + 8, 4096, owner=buffer)
    f4 = {"dtype": np.float32}
    for tensor, box, message in (
        (of(buffer, (2,) * 6, **f4), (2,) * 6, "the number of axes must be 1 to 5, not 6"),
        (of(buffer, (), **f4), (), "the number of axes must be 1 to 5, not 0"),
        (of(buffer, (0, 64), **f4), (8, 16), "has no elements"),
        (of(aside, (8, 64), **f4), (8, 16), "at a multiple of 16 bytes, not at 0x"),
        (of(buffer, (64, 32), (1, 64), **f4), (8, 16), "follow each other along the last axis"),
        (of(buffer, (32, 32), (64, 2), **f4), (8, 16), "follow each other along the last axis"),
        (of(buffer, (32, 63), **f4), (8, 16), "multiples of 16 bytes, and less than .*: one is 252"),
        (of(buffer, (32, 64), (0, 1), **f4), (8, 16), "one is 0"),
        (view.view(view.layout[::-1]), (8, 16), "one is -256"),
        (of(buffer, (32, 64), dtype=np.int8), (8, 16), "a tensor map has no int8"),
        (of(buffer, (32, 64), itemsize=4), (8, 16), "no type that a tensor map knows"),
        (StridedMemoryView.from_any_interface(matrix(), -1), (8, 16), "memory of the host"),
    ):
        with pytest.raises(ValueError, match=message):
            tensor.as_tensor_map(box)


def test_pixels_that_cannot_be(device, stream) -> None:
    view = view_of(device, stream, np.zeros((2, 8, 8, 8), np.float16))
    of, wide = TensorMapDescriptor.from_im2col, TensorMapDescriptor.from_im2col_wide
    flat = view_of(device, stream, np.zeros((8, 8), np.float16))
    corners = (-1, -1), (-1, -1)
    for function, error, message in (
        (lambda: of(flat, (), (), 8, 16), ValueError, "the number of axes must be 3 to 5, not 2"),
        (lambda: of(view, (-1,), (-1, -1), 8, 16), ValueError, "pixel_box_lower_corner must have 2 items"),
        (lambda: of(view, (-1, -1), (-1, 1, 1), 8, 16), ValueError, "pixel_box_upper_corner must have 2"),
        (lambda: of(view, (-129, -1), (-1, -1), 8, 16), ValueError, "-128 to 127, not -129"),
        (lambda: of(view, 1, (-1, -1), 8, 16), TypeError, "must be a tuple of ints, not 1"),
        (lambda: of(view, *corners, 257, 16), ValueError, "channels_per_pixel must be 1 to 256, not 257"),
        (lambda: of(view, *corners, 4, 16), ValueError, "a pixel has 8 bytes, .* multiple of 16"),
        (lambda: of(view, *corners, 8, 1025), ValueError, "pixels_per_column must be 1 to 1024"),
        (lambda: of(view, *corners, 8, 16, element_strides=(1, 1)), ValueError, "must have 4 items"),
        (lambda: of(view, *corners, 8, 16, swizzle=1), TypeError, "member of TensorMapSwizzle"),
        (lambda: of(flat.exporting_obj, *corners, 8, 16), ValueError, "axes must be 3 to 5, not 1"),
        (lambda: of(5, *corners, 8, 16), BufferError, "neither __dlpack__"),
        (lambda: wide(flat, -1, 1, 8, 16), ValueError, "the number of axes must be 3 to 5, not 2"),
        (lambda: wide(view, -(1 << 15) - 1, 1, 8, 16), ValueError, "corner_width must be -32768 to 32767"),
        (lambda: wide(view, -1, 1.5, 8, 16), TypeError, "whole number"),
        (lambda: wide(view, -1, 1, 8, 16, mode=0), TypeError, "member of TensorMapIm2ColWideMode, not 0"),
        (lambda: wide(view, -1, 1, 128, 16), ValueError, "256 bytes, more than the 128 of SWIZZLE_128B"),
    ):
        with pytest.raises(error, match=message):
            function()


def test_addresses_that_cannot_be(device, stream, view) -> None:
    made, before = view.as_tensor_map((8, 16)), None
    before = made._value()
    small = device.allocate(4096, stream)
    aside = Buffer.from_handle(view.ptr + 8, 4 * HEIGHT * WIDTH, owner=view)
    for tensor, error, message in (
        (small, ValueError, "the map needs 8192 bytes, the tensor has 4096"),
        (aside, ValueError, "at a multiple of 16 bytes"),
        (matrix(), ValueError, "memory of the host"),
        (5, BufferError, "neither __dlpack__"),
    ):
        with pytest.raises(error, match=message):
            made.replace_address(tensor)
        assert made._value() == before
