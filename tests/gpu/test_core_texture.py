"""core on a real GPU: arrays, textures, surfaces."""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
import sys
import weakref
from functools import partial

import numpy as np
import pytest
from cudapy.core.graph import GraphDefinition
from cudapy.core.texture import (
    MipmappedArray,
    MipmappedArrayOptions,
    OpaqueArray,
    OpaqueArrayOptions,
    ResourceDescriptor,
    SurfaceObject,
    TextureObject,
    TextureObjectOptions,
)
from cudapy.core.typing import AddressModeType, ArrayFormatType, FilterModeType, ReadModeType

from cudapy._core.context.current import owning
from cudapy._core.ownership.deferred import deferred
from cudapy.core import (
    Buffer,
    CUDAError,
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    Stream,
    launch,
    prepare,
)

from .core_kernels import content, current
from .kernels import held

pytestmark = pytest.mark.gpu

KERNELS = r"""
template <typename T> __global__ void fetch(cudaTextureObject_t texture, T *out) {
    out[threadIdx.x] = tex1Dfetch<T>(texture, threadIdx.x);
}
template <typename T> __global__ void read(cudaTextureObject_t texture, T *out) {
    out[blockDim.x * threadIdx.y + threadIdx.x] = tex2D<T>(texture, threadIdx.x + 0.5f, threadIdx.y + 0.5f);
}
extern "C" __global__ void sample1(cudaTextureObject_t texture, const float *x, float *out) {
    out[threadIdx.x] = tex1D<float>(texture, x[threadIdx.x]);
}
extern "C" __global__ void sample2(cudaTextureObject_t texture, const float2 *x, float *out) {
    out[threadIdx.x] = tex2D<float>(texture, x[threadIdx.x].x, x[threadIdx.x].y);
}
extern "C" __global__ void sample3(cudaTextureObject_t texture, const float4 *x, float *out) {
    out[threadIdx.x] = tex3D<float>(texture, x[threadIdx.x].x, x[threadIdx.x].y, x[threadIdx.x].z);
}
extern "C" __global__ void sample_level(cudaTextureObject_t texture, const float *level, float *out) {
    out[threadIdx.x] = tex2DLod<float>(texture, 0.5f, 0.5f, level[threadIdx.x]);
}
extern "C" __global__ void negate(cudaSurfaceObject_t surface) {
    int x = threadIdx.x * 4, y = threadIdx.y;
    surf2Dwrite(-surf2Dread<int>(surface, x, y), surface, x, y);
}
extern "C" __global__ void count1(cudaSurfaceObject_t surface) {
    surf1Dwrite((int)threadIdx.x, surface, threadIdx.x * 4);
}
extern "C" __global__ void count3(cudaSurfaceObject_t surface) {
    int value = 100 * threadIdx.z + 10 * threadIdx.y + threadIdx.x;
    surf3Dwrite(value, surface, threadIdx.x * 4, threadIdx.y, threadIdx.z);
}
"""
NAMES = {
    "uint8": ("unsigned char", "uchar2", "uchar4"),
    "uint16": ("unsigned short", "ushort2", "ushort4"),
    "uint32": ("unsigned int", "uint2", "uint4"),
    "int8": ("signed char", "char2", "char4"),
    "int16": ("short", "short2", "short4"),
    "int32": ("int", "int2", "int4"),
    "float16": ("float", "float2", "float4"),
    "float32": ("float", "float2", "float4"),
}
"""What kernels call elements of 1, 2 and 4 channels; a half is read as a float."""


def of_c(kind: str, channels: int) -> str:
    return NAMES[kind][(1, 2, 4).index(channels)]


@pytest.fixture(scope="module")
def kernels():
    Device(0).set_current()
    names = {f"read<{name}>" for names in NAMES.values() for name in names}
    return Program(KERNELS, "c++").compile("cubin", name_expressions=(*sorted(names), "fetch<float2>"))


def array_of(device, stream, values, channels=1, **more) -> OpaqueArray:
    """An array of `values`, whose axes are those of NumPy, the channels left out."""
    axes = values.shape[:-1] if channels > 1 else values.shape
    options = OpaqueArrayOptions(axes[::-1], values.dtype, channels, **more)
    array = device.create_opaque_array(options)
    array.copy_from(values, stream=stream)
    return array


def texture_of(device, array, **options) -> TextureObject:
    resource = ResourceDescriptor.from_opaque_array(array)
    return device.create_texture_object(resource=resource, options=TextureObjectOptions(**options))


def sampled(device, stream, kernel, texture, places) -> list[float]:
    """What a kernel reads of `texture` at `places`."""
    points = np.asarray(places, np.float32)
    at, out = device.allocate(points.nbytes, stream), device.allocate(4 * len(points), stream)
    at.copy_from(points, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=len(points)), kernel, texture, at, out)
    return content(out, np.float32, stream).tolist()


def pictured(stream, kernels, texture, element, dtype, width, height):
    """What a kernel reads of all elements of `texture`, as an array without axes."""
    out = texture.device.allocate(width * height * 16, stream)
    kernel = kernels.get_kernel(f"read<{element}>")
    launch(stream, LaunchConfig(grid=1, block=(width, height)), kernel, texture, out)
    return content(out, dtype, stream)


def numbers(dtype, *shape):
    """Numbers of a type, the least and the greatest among them."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return (np.arange(np.prod(shape)).reshape(shape) - 7.5).astype(dtype)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    made = np.random.default_rng(0).integers(low, high, shape, dtype, endpoint=True)
    made.flat[:2] = low, high
    return made


# -- what is read -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("kind", ArrayFormatType)
def test_elements_of_every_format(device, stream, kernels, kind, channels) -> None:
    values = numbers(str(kind), 3, 5, channels)
    array = array_of(device, stream, values if channels > 1 else values[..., 0].copy(), channels)
    assert (array.format, array.num_channels, array.element_bytes) == (
        kind,
        channels,
        values.itemsize * channels,
    )
    read = np.float32 if kind == "float16" else values.dtype
    found = pictured(stream, kernels, texture_of(device, array), of_c(kind, channels), read, 5, 3)
    assert found[: values.size].tolist() == values.ravel().tolist()


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("kind", ["uint8", "uint16", "int8", "int16"])
def test_integers_as_floats(device, stream, kernels, kind, channels) -> None:
    """From 0 to 1, or from -1, which the least is rounded to."""
    values = numbers(kind, 3, 5, channels)
    array = array_of(device, stream, values if channels > 1 else values[..., 0].copy(), channels)
    texture = texture_of(device, array, read_mode=ReadModeType.NORMALIZED_FLOAT)
    found = pictured(stream, kernels, texture, of_c("float32", channels), np.float32, 5, 3)
    expected = np.maximum(values / np.float64(np.iinfo(kind).max), -1)
    assert np.abs(found[: values.size] - expected.ravel()).max() < 1e-6


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (AddressModeType.WRAP, [40, 10, 20, 10]),
        (AddressModeType.CLAMP, [10, 40, 40, 10]),
        (AddressModeType.MIRROR, [10, 40, 30, 10]),
        (AddressModeType.BORDER, [7, 7, 7, 10]),
    ],
)
@pytest.mark.parametrize("is_text", [False, True])
def test_what_is_outside(device, stream, kernels, mode, expected, is_text) -> None:
    array = array_of(device, stream, np.array([10, 20, 30, 40], np.float32))
    texture = texture_of(
        device,
        array,
        address_mode=str(mode) if is_text else mode,
        normalized_coords=True,
        border_color=(7, 0, 0, 0),
    )
    places = [-0.125, 1.125, 1.375, 0.125]
    assert sampled(device, stream, kernels.get_kernel("sample1"), texture, places) == expected


def test_the_border_is_zero_if_nothing_is_said(device, stream, kernels) -> None:
    array = array_of(device, stream, np.array([10, 20], np.float32))
    texture = texture_of(device, array, address_mode="border")
    assert sampled(device, stream, kernels.get_kernel("sample1"), texture, [-0.5, 0.5, 2.5]) == [0, 10, 0]


@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        (("wrap", "border"), [2, 0]),  # 0.25 behind the right side; above the top
        (("border", "wrap"), [0, 3]),
        (("wrap",), [2, 3]),
        (["border"], [0, 0]),
    ],
)
def test_a_mode_for_each_axis(device, stream, kernels, modes, expected) -> None:
    """The last one is for those that have none."""
    array = array_of(device, stream, np.array([[1, 2], [3, 4]], np.float32))
    texture = texture_of(device, array, address_mode=modes, normalized_coords=True)
    places = [(-0.25, 0.25), (0.25, -0.25)]
    assert sampled(device, stream, kernels.get_kernel("sample2"), texture, places) == expected


@pytest.mark.parametrize(
    ("mode", "expected"),
    [(FilterModeType.POINT, [10, 20, 20, 40]), (FilterModeType.LINEAR, [10, 15, 22.5, 40])],
)
def test_what_is_between(device, stream, kernels, mode, expected) -> None:
    array = array_of(device, stream, np.array([10, 20, 30, 40], np.float32))
    texture = texture_of(device, array, filter_mode=mode)
    assert sampled(device, stream, kernels.get_kernel("sample1"), texture, [0.5, 1.0, 1.75, 3.5]) == expected


def test_a_filter_in_three_dimensions(device, stream, kernels) -> None:
    values = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    array = array_of(device, stream, values)
    assert (array.shape, array.size_bytes) == ((2, 2, 2), 32)
    places = [(0.5, 0.5, 0.5, 0), (1.5, 0.5, 1.5, 0), (1, 1, 1, 0), (1, 0.5, 0.5, 0)]
    for mode, expected in (("point", [0, 5, 7, 1]), ("linear", [0, 5, 3.5, 0.5])):
        texture = texture_of(device, array, filter_mode=mode)
        assert sampled(device, stream, kernels.get_kernel("sample3"), texture, places) == expected


def test_integers_with_a_filter(device, stream, kernels) -> None:
    array = array_of(device, stream, np.array([0, 255], np.uint8))
    texture = texture_of(device, array, filter_mode="linear", read_mode="normalized_float")
    found = sampled(device, stream, kernels.get_kernel("sample1"), texture, [0.5, 1, 1.5])
    assert np.abs(np.array(found) - [0, 0.5, 1]).max() < 1 / 256  # its weights have 8 bits


def test_srgb_becomes_linear(device, stream, kernels) -> None:
    values = np.array([[[0, 128, 255, 128]]], np.uint8)
    array = array_of(device, stream, values, 4)
    texture = texture_of(device, array, srgb=True, read_mode="normalized_float")
    found = pictured(stream, kernels, texture, "float4", np.float32, 1, 1)[:4]
    assert np.abs(found - [0, ((128 / 255 + 0.055) / 1.055) ** 2.4, 1, 128 / 255]).max() < 2e-3


# -- memory of a Buffer -------------------------------------------------------------------------------------


def test_elements_one_after_the_other(device, stream, kernels) -> None:
    values = np.arange(12, dtype=np.float32)
    buffer, out = device.allocate(values.nbytes, stream), device.allocate(64, stream)
    buffer.copy_from(values, stream=stream)
    resource = ResourceDescriptor.from_linear(buffer, format=np.float32, num_channels=2, size_bytes=32)
    assert (resource.kind, resource.source, resource.format) == ("linear", buffer, "float32")
    assert (resource.num_channels, resource.size_bytes, resource.width) == (2, 32, None)
    texture = device.create_texture_object(resource=resource)
    launch(stream, LaunchConfig(grid=1, block=8), kernels.get_kernel("fetch<float2>"), texture, out)
    assert content(out, np.float32, stream).tolist() == [*range(8), *[0] * 8]  # outside there is 0


def test_rows_of_a_buffer(device, stream, kernels) -> None:
    pitch = max(device.properties.texture_pitch_alignment, 32)
    rows = np.full((3, pitch // 4), -1, np.float32)
    rows[:, :5] = np.arange(15).reshape(3, 5)
    buffer = device.allocate(rows.nbytes, stream)
    buffer.copy_from(rows, stream=stream)
    resource = ResourceDescriptor.from_pitch2d(
        buffer, format="float32", num_channels=1, width=5, height=3, pitch_bytes=pitch
    )
    assert (resource.kind, resource.width, resource.height, resource.pitch_bytes) == ("pitch2d", 5, 3, pitch)
    texture = device.create_texture_object(resource=resource, options={"filter_mode": "linear"})
    places = [(0.5, 0.5), (4.5, 2.5), (6, 1.5), (1, 1)]
    assert sampled(device, stream, kernels.get_kernel("sample2"), texture, places) == [0, 14, 9, 3]


# -- levels -------------------------------------------------------------------------------------------------


@pytest.fixture
def levels(device, stream) -> MipmappedArray:
    """8 x 8, 4 x 4, 2 x 2 and 1 x 1 elements, all of which are 0, 10, 20 and 30."""
    options = MipmappedArrayOptions((8, 8), "float32", 1, 4, is_surface_load_store=True)
    made = device.create_mipmapped_array(options)
    for number in range(4):
        level = made.get_level(number)
        level.copy_from(np.full(level.shape, 10 * number, np.float32), stream=stream)
    return made


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"max_mipmap_level_clamp": 3.0}, [0, 10, 10, 30]),
        ({"max_mipmap_level_clamp": 3.0, "mipmap_filter_mode": "linear"}, [0, 10, 12.5, 30]),
        ({}, [0, 0, 0, 0]),
        ({"max_mipmap_level_clamp": 2.0, "min_mipmap_level_clamp": 1.0}, [10, 10, 10, 20]),
        ({"max_mipmap_level_clamp": 3.0, "mipmap_level_bias": 1.0}, [10, 20, 20, 30]),
    ],
)
def test_levels_of_a_texture(device, stream, kernels, levels, options, expected) -> None:
    texture = device.create_texture_object(
        resource=ResourceDescriptor.from_mipmapped_array(levels),
        options=TextureObjectOptions(normalized_coords=True, **options),
    )
    found = sampled(device, stream, kernels.get_kernel("sample_level"), texture, [0, 1, 1.25, 3])
    assert found == expected


def test_what_levels_are(device, levels) -> None:
    assert (levels.shape, levels.format, levels.num_channels) == ((8, 8), "float32", 1)
    assert (levels.num_levels, levels.is_surface_load_store, levels.device) == (4, True, device)
    found = [levels.get_level(number) for number in range(4)]
    assert [level.shape for level in found] == [(8, 8), (4, 4), (2, 2), (1, 1)]
    assert len({level.handle for level in found}) == 4
    assert all(level.is_surface_load_store and level.format == "float32" for level in found)
    flat = device.create_mipmapped_array(MipmappedArrayOptions((5, 2, 3), np.uint8, 2, 3))
    assert [flat.get_level(number).shape for number in range(3)] == [(5, 2, 3), (2, 1, 1), (1, 1, 1)]
    for number in (-1, 4):
        with pytest.raises(ValueError, match="there are 4, from 0"):
            levels.get_level(number)
    with pytest.raises(TypeError, match="whole number"):
        levels.get_level(0.5)


# -- surfaces -----------------------------------------------------------------------------------------------


def surface_of(device, array) -> SurfaceObject:
    return device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(array))


def test_a_kernel_reads_and_writes_a_surface(device, stream, kernels) -> None:
    values = np.arange(15, dtype=np.int32).reshape(3, 5)
    array = array_of(device, stream, values, is_surface_load_store=True)
    surface, found = surface_of(device, array), np.empty_like(values)
    launch(stream, LaunchConfig(grid=1, block=(5, 3)), kernels.get_kernel("negate"), surface)
    assert array.copy_to(found, stream=stream) is found
    stream.sync()
    assert (found == -values).all()
    assert (surface.device, surface.resource.source) == (device, array)


@pytest.mark.parametrize(("kernel", "shape"), [("count1", (7,)), ("count3", (4, 3, 2))])
def test_surfaces_of_other_dimensions(device, stream, kernels, kernel, shape) -> None:
    array = device.create_opaque_array(OpaqueArrayOptions(shape, "int32", 1, True))
    surface, found = surface_of(device, array), np.empty(shape[::-1], np.int32)
    launch(stream, LaunchConfig(grid=1, block=shape), kernels.get_kernel(kernel), surface)
    array.copy_to(found, stream=stream)
    stream.sync()
    steps = (100, 10, 1)[-len(shape) :]
    assert (
        found == sum(step * axis for step, axis in zip(steps, np.indices(found.shape), strict=True))
    ).all()


def test_a_level_is_a_surface(device, stream, kernels) -> None:
    made = device.create_mipmapped_array(MipmappedArrayOptions((8, 4), "int32", 1, 2, True))
    level = made.get_level(1)
    level.copy_from(np.arange(8, dtype=np.int32), stream=stream)
    launch(
        stream, LaunchConfig(grid=1, block=(4, 2)), kernels.get_kernel("negate"), surface_of(device, level)
    )
    found = np.empty(8, np.int32)
    level.copy_to(found, stream=stream)
    stream.sync()
    assert found.tolist() == [0, -1, -2, -3, -4, -5, -6, -7]


# -- copies -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(13,), (5, 3), (5, 3, 2)])
@pytest.mark.parametrize("channels", [1, 4])
def test_copies_to_and_from_the_host_and_buffers(device, stream, shape, channels) -> None:
    values = numbers(np.uint16, *shape[::-1], channels)
    array = device.create_opaque_array(OpaqueArrayOptions(shape, "uint16", channels))
    other = device.create_opaque_array({"shape": shape, "format": "uint16", "num_channels": channels})
    buffer, found = device.allocate(values.nbytes + 8, stream), np.zeros(values.size + 4, np.uint16)
    buffer.fill(255, stream=stream)
    array.copy_from(values, stream=stream)
    assert array.copy_to(buffer, stream=stream) is buffer
    other.copy_from(buffer, stream=stream)
    other.copy_to(found, stream=stream)
    stream.sync()
    assert found.tolist() == [*values.ravel().tolist(), 0, 0, 0, 0]  # not more than it has
    assert content(buffer, np.uint16, stream).tolist()[-4:] == [65535] * 4


def test_copies_of_bytes_and_in_the_default_stream(device) -> None:
    array = device.create_opaque_array(OpaqueArrayOptions((4,), "uint8", 4))
    array.copy_from(bytes(range(16)))
    device.sync()
    found = bytearray(16)
    array.copy_to(found)
    device.sync()
    assert found == bytes(range(16))


def test_memory_of_the_host_that_kernels_can_use(device, stream) -> None:
    pinned = LegacyPinnedMemoryResource().allocate(32)
    np.asarray(pinned)[:] = np.arange(32)
    array = device.create_opaque_array(OpaqueArrayOptions((4, 2), "float32", 1))
    array.copy_from(pinned, stream=stream)
    found = LegacyPinnedMemoryResource().allocate(32)
    array.copy_to(found, stream=stream)
    stream.sync()
    assert np.asarray(found).tolist() == list(range(32))


def test_a_graph_copies(device, stream) -> None:
    """As often as it is launched, of the array and the host array that nobody else has any more."""
    array = device.create_opaque_array(OpaqueArrayOptions((4,), "int32", 1))
    found = np.zeros(4, np.int32)
    builder = stream.create_graph_builder().begin_building()
    array.copy_from(np.arange(4, dtype=np.int32), stream=builder)
    array.copy_to(found, stream=builder)
    array.close()
    graph = builder.end_building().complete()
    del array, builder
    gc.collect()
    for _ in range(2):
        found[:] = 0
        graph.launch(stream)
        stream.sync()
        assert found.tolist() == [0, 1, 2, 3]


@pytest.fixture
def destroyed(monkeypatch) -> list[str]:
    """What was destroyed of what is made from now on, by the function."""
    names: list[str] = []

    def noting(name, destroy):
        def note(cell):
            names.append(name)
            destroy(cell)

        return note

    for name in ("cuTexObjectDestroy", "cuSurfObjectDestroy", "cuArrayDestroy", "cuMipmappedArrayDestroy"):
        monkeypatch.setattr(owning, name, noting(name, getattr(owning, name)))
    return names


def test_an_array_stays_while_it_is_copied(device, stream, destroyed) -> None:
    array, buffer = array_of(device, stream, np.arange(4, dtype=np.int32)), device.allocate(16, stream)
    stream.sync()
    with held(stream.handle):
        array.copy_to(buffer, stream=stream)
        array.close()
        assert destroyed == []
    assert content(buffer, np.int32, stream).tolist() == [0, 1, 2, 3]
    assert destroyed == ["cuArrayDestroy"]


def test_a_copy_releases_nothing_that_may_wait_for_the_device(device, stream, monkeypatch) -> None:
    """It only queues work: what graphs held, such as arrays, is released when something is waited for."""
    array, buffer = array_of(device, stream, np.arange(4, dtype=np.int32)), device.allocate(16, stream)
    swept = []
    monkeypatch.setattr(deferred, "after_waiting", [lambda: swept.append("graphs")])
    array.copy_to(buffer, stream=stream)
    assert swept == []
    stream.sync()
    assert swept == ["graphs"]


# -- launches -----------------------------------------------------------------------------------------------


@pytest.fixture
def ten(device, stream) -> TextureObject:
    return texture_of(device, array_of(device, stream, np.array([10], np.float32)))


def test_a_prepared_launch_takes_textures(device, stream, kernels, ten) -> None:
    twenty = texture_of(device, array_of(device, stream, np.array([20], np.float32)))
    x, out = device.allocate(4, stream), device.allocate(4, stream)
    x.fill(0, stream=stream)
    run = prepare(stream, LaunchConfig(grid=1, block=1), kernels.get_kernel("sample1"), ten, x, out)
    for texture, expected in ((ten, 10), (twenty, 20), (twenty.handle, 20), (ten, 10)):
        run(texture, x, out)
        assert content(out, np.float32, stream).tolist() == [expected]
    twenty.close()
    with pytest.raises(RuntimeError, match="this TextureObject is closed"):
        run(twenty, x, out)


def test_a_graph_keeps_the_textures_of_its_kernels(device, stream, kernels, ten) -> None:
    """Closed or not, recorded or put together."""
    x, out = device.allocate(4, stream), device.allocate(4, stream)
    x.fill(0, stream=stream)
    config, kernel = LaunchConfig(grid=1, block=1), kernels.get_kernel("sample1")
    builder = stream.create_graph_builder().begin_building()
    launch(builder, config, kernel, ten, x, out)
    definition = GraphDefinition()
    definition.launch(config, kernel, ten, x, out)
    graphs = [builder.end_building().complete(), definition.instantiate()]
    source = ten.resource.source
    ten.close()
    source.close()
    del source, builder, definition
    gc.collect()
    others = [texture_of(device, array_of(device, stream, np.array([99], np.float32))) for _ in range(4)]
    for graph in graphs:
        out.fill(0, stream=stream)
        graph.launch(stream)
        assert content(out, np.float32, stream).tolist() == [10]
    assert len(others) == 4


@pytest.mark.parametrize("how", ["launched", "prepared"])
def test_a_texture_stays_while_a_kernel_uses_it(device, stream, kernels, destroyed, how) -> None:
    """Dropped right behind the launch, as a function does that makes it, and destroyed behind the kernel."""
    x, out = device.allocate(4, stream), device.allocate(4, stream)
    x.fill(0, stream=stream)
    texture = texture_of(device, array_of(device, stream, np.array([10], np.float32)))
    kernel, config = kernels.get_kernel("sample1"), LaunchConfig(grid=1, block=1)
    run = prepare(stream, config, kernel, texture, x, out)
    if how == "launched":
        run = partial(launch, stream, config, kernel)
    run(texture, x, out)  # the first one of a kernel may wait for all work
    stream.sync()
    with held(stream.handle):
        run(texture, x, out)
        texture.close()
        del texture
        gc.collect()
        assert destroyed == []
    assert content(out, np.float32, stream).tolist() == [10]
    assert destroyed == ["cuTexObjectDestroy", "cuArrayDestroy"]


def test_a_closed_stream_cannot_be_asked(device, stream, kernels, destroyed) -> None:
    """A texture that was used there alone is destroyed at once."""
    x, out = device.allocate(4, stream), device.allocate(4, stream)
    x.fill(0, stream=stream)
    stream.sync()
    texture = texture_of(device, array_of(device, stream, np.array([10], np.float32)))
    with device.create_stream() as other:
        launch(other, LaunchConfig(grid=1, block=1), kernels.get_kernel("sample1"), texture, x, out)
        other.sync()
    texture.close()
    assert destroyed[:1] == ["cuTexObjectDestroy"]


def test_streams_are_not_kept_for_good(device, kernels, ten) -> None:
    """A texture notes the streams that it was used in; those whose work has ended it lets go of."""
    x, out = device.allocate(4), device.allocate(4)
    x.fill(0)
    device.sync()
    streams = []
    for _ in range(50):
        stream = device.create_stream()
        launch(stream, LaunchConfig(grid=1, block=1), kernels.get_kernel("sample1"), ten, x, out)
        stream.sync()
        streams.append(weakref.ref(stream))
    del stream
    gc.collect()
    assert sum(each() is not None for each in streams) < 10


def test_a_capture_is_waited_for(device, stream, kernels, destroyed) -> None:
    """A stream that captures does not tell of its work: what it used before is destroyed afterwards."""
    x, out = device.allocate(4, stream), device.allocate(4, stream)
    x.fill(0, stream=stream)
    texture = texture_of(device, array_of(device, stream, np.array([10], np.float32)))
    launch(stream, LaunchConfig(grid=1, block=1), kernels.get_kernel("sample1"), texture, x, out)
    stream.sync()
    builder = stream.create_graph_builder().begin_building()
    texture.close()
    assert destroyed == []
    out.fill(0, stream=builder)
    builder.end_building().complete().launch(stream)
    stream.sync()
    assert content(out, np.float32, stream).tolist() == [0]
    assert destroyed == ["cuTexObjectDestroy", "cuArrayDestroy"]


# -- lifetimes ----------------------------------------------------------------------------------------------


def test_a_texture_keeps_what_it_reads(device, stream, kernels) -> None:
    """The array is closed, the Buffer, all levels: their memory stays."""
    array = array_of(device, stream, np.array([10], np.float32))
    buffer = device.allocate(256, stream)
    buffer.copy_from(np.full(64, 20, np.float32), stream=stream)
    levels = device.create_mipmapped_array(MipmappedArrayOptions((1,), "float32", 1, 1))
    levels.get_level(0).copy_from(np.array([30], np.float32), stream=stream)
    level = levels.get_level(0)
    resources = [
        ResourceDescriptor.from_opaque_array(array),
        ResourceDescriptor.from_mipmapped_array(levels),
        ResourceDescriptor.from_opaque_array(level),
    ]
    textures = [
        device.create_texture_object(resource=resource, options={"normalized_coords": True})
        for resource in resources
    ]
    resource = ResourceDescriptor.from_linear(buffer, format="float32", num_channels=2)
    linear = device.create_texture_object(resource=resource)
    for thing in (array, buffer, level, levels):
        thing.close()
    del array, buffer, levels, level, resources, resource
    gc.collect()
    others = [array_of(device, stream, np.array([99], np.float32)) for _ in range(4)]
    other = device.allocate(256, stream)
    other.fill(0, stream=stream)
    kernel, out = kernels.get_kernel("sample1"), device.allocate(8, stream)
    found = [sampled(device, stream, kernel, texture, [0.5]) for texture in textures]
    assert found == [[10], [30], [30]]
    launch(stream, LaunchConfig(grid=1, block=1), kernels.get_kernel("fetch<float2>"), linear, out)
    assert content(out, np.float32, stream).tolist() == [20, 20]
    assert len(others) == 4


def test_levels_keep_their_array(device, stream, destroyed) -> None:
    levels = device.create_mipmapped_array(MipmappedArrayOptions((2,), "uint8", 1, 2))
    level = levels.get_level(1)
    levels.close()
    del levels
    gc.collect()
    found = bytearray(1)
    level.copy_from(b"\7", stream=stream)
    level.copy_to(found, stream=stream)
    stream.sync()
    assert found == b"\7" and destroyed == []
    level.close()
    assert destroyed == ["cuMipmappedArrayDestroy"]


def test_on_another_device_than_the_current_one(device, kernels, destroyed) -> None:
    """Made and destroyed there, whatever is current; it has to be for a launch alone."""
    if len(Device.get_all_devices()) < 2:
        pytest.skip("needs two devices")
    other = Device(1)
    stream = other.create_stream()
    texture = texture_of(other, array_of(other, stream, np.array([10], np.float32)))
    assert (texture.device, texture.resource.source.device) == (other, other)
    x, out = other.allocate(4, stream), other.allocate(4, stream)
    x.fill(0, stream=stream)
    other.set_current()
    launch(stream, LaunchConfig(grid=1, block=1), kernels.get_kernel("sample1"), texture, x, out)
    device.set_current()
    assert content(out, np.float32, stream).tolist() == [10]
    texture.close()
    del texture
    assert destroyed == ["cuTexObjectDestroy", "cuArrayDestroy"]
    assert current() == int(device.context.handle)


def everything(device) -> list:  # type: ignore[type-arg]
    """One of each kind, what is made of others last."""
    array = device.create_opaque_array(OpaqueArrayOptions((4,), "float32", 1, True))
    levels = device.create_mipmapped_array(MipmappedArrayOptions((4,), "float32", 1, 2))
    resource = ResourceDescriptor.from_opaque_array(array)
    texture = device.create_texture_object(resource=resource)
    return [array, levels, levels.get_level(0), texture, device.create_surface_object(resource=resource)]


def test_closed_things_say_so(device, stream) -> None:
    for number in range(5):
        thing = everything(device)[number]
        handle = thing.handle
        assert handle and not thing.is_closed
        with thing as same:
            assert same is thing and thing.handle == handle
        thing.close()
        assert thing.is_closed and thing.handle == 0 and "closed" in repr(thing) and thing.device == device
        is_bindless = isinstance(thing, (TextureObject, SurfaceObject))
        assert not is_bindless or thing.resource is None
        use = {
            OpaqueArray: lambda thing=thing: thing.copy_from(bytes(64), stream=stream),
            MipmappedArray: lambda thing=thing: thing.get_level(0),
        }.get(type(thing), lambda thing=thing: thing._handle)
        with pytest.raises(RuntimeError, match=f"this {type(thing).__name__} is closed"):
            use()
    array, levels, *_ = everything(device)
    array.close()
    levels.close()
    for make in (
        lambda: ResourceDescriptor.from_opaque_array(array),
        lambda: ResourceDescriptor.from_mipmapped_array(levels),
    ):
        with pytest.raises(RuntimeError, match="is closed"):
            make()


def test_what_was_closed_after_it_was_described(device, stream) -> None:
    array, levels, *_ = everything(device)
    buffer = device.allocate(256, stream)
    resources = [
        ResourceDescriptor.from_opaque_array(array),
        ResourceDescriptor.from_mipmapped_array(levels),
        ResourceDescriptor.from_linear(buffer, format="float32", num_channels=1),
    ]
    for thing, resource in zip((array, levels, buffer), resources, strict=True):
        thing.close()
        with pytest.raises(RuntimeError, match=f"this {type(thing).__name__} is closed"):
            device.create_texture_object(resource=resource)


def test_they_are_of_this_process(device) -> None:
    for thing in everything(device):
        for function in (copy.copy, pickle.dumps):
            with pytest.raises(TypeError, match=f"{type(thing).__name__} objects cannot be copied"):
                function(thing)


def test_nobody_makes_them_but_a_device() -> None:
    for cls in (OpaqueArray, MipmappedArray, TextureObject, SurfaceObject, ResourceDescriptor):
        with pytest.raises(TypeError, match=f"{cls.__name__} comes from"):
            cls()


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="counts references")
def test_nothing_refers_to_them_for_longer(device, stream, kernels) -> None:
    x, out = device.allocate(4, stream), device.allocate(4, stream)
    array = array_of(device, stream, np.array([10], np.float32))
    texture = texture_of(device, array)
    before = sys.getrefcount(array), sys.getrefcount(texture)
    for _ in range(3):
        launch(stream, LaunchConfig(grid=1, block=1), kernels.get_kernel("sample1"), texture, x, out)
        array.copy_to(np.empty(1, np.float32), stream=stream)
    stream.sync()
    assert (sys.getrefcount(array), sys.getrefcount(texture)) == before


def test_defaults_are_those_of_cuda_core() -> None:
    options = TextureObjectOptions()
    assert {field.name: getattr(options, field.name) for field in dataclasses.fields(options)} == {
        "address_mode": "clamp",
        "filter_mode": "point",
        "read_mode": "element_type",
        "normalized_coords": False,
        "srgb": False,
        "disable_trilinear_optimization": False,
        "seamless_cubemap": False,
        "max_anisotropy": 0,
        "mipmap_filter_mode": "point",
        "mipmap_level_bias": 0.0,
        "min_mipmap_level_clamp": 0.0,
        "max_mipmap_level_clamp": 0.0,
        "border_color": None,
    }
    assert not OpaqueArrayOptions((4,), "uint8", 1).is_surface_load_store
    assert not MipmappedArrayOptions((4,), "uint8", 1, 1).is_surface_load_store


# -- what is wrong ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"shape": 4}, TypeError, "tuple of 1 to 3 ints, not 4"),
        ({"shape": "44"}, TypeError, "tuple of 1 to 3 ints"),
        ({"shape": ()}, ValueError, "1 to 3 extents, not 0"),
        ({"shape": (1, 2, 3, 4)}, ValueError, "1 to 3 extents, not 4"),
        ({"shape": (4, 0)}, ValueError, "each extent must be at least 1"),
        ({"shape": (4, -1)}, ValueError, "each extent must be at least 1"),
        ({"shape": (4.5,)}, TypeError, "whole number, not 4.5"),
        (
            {"format": "float64"},
            ValueError,
            "'float64' is not a member of ArrayFormatType: there are",
        ),
        ({"format": np.complex64}, ValueError, "'complex64' is not a member of ArrayFormatType"),
        ({"format": np.dtype(">f4")}, ValueError, "native dtype"),
        ({"format": None}, ValueError, "ArrayFormatType or a native dtype, not None"),
        ({"format": 3.5}, ValueError, "ArrayFormatType or a dtype, not 3.5"),
        ({"num_channels": 3}, ValueError, "1, 2 or 4, not 3"),
        ({"num_channels": True}, TypeError, "not a bool"),
        ({"is_surface_load_store": "yes"}, TypeError, "is_surface_load_store must be a bool, not 'yes'"),
        ({"colour": 1}, TypeError, "no 'colour'"),
        ({"chanels": 1}, TypeError, "Did you mean"),
    ],
)
@pytest.mark.parametrize("cls", [OpaqueArrayOptions, MipmappedArrayOptions], ids=lambda cls: cls.__name__)
def test_arrays_that_cannot_be(device, cls, changes, error, message) -> None:
    options = {"shape": (4, 4), "format": "float32", "num_channels": 1}
    make = device.create_opaque_array
    if cls is MipmappedArrayOptions:
        options, make = {**options, "num_levels": 1}, device.create_mipmapped_array
    for function in (lambda: cls(**{**options, **changes}), lambda: make({**options, **changes})):
        with pytest.raises(error, match=message):
            function()


@pytest.mark.parametrize(("levels", "error"), [(0, ValueError), (4, ValueError), (1.5, TypeError)])
def test_levels_that_there_are_not(levels, error) -> None:
    """The driver would take 3 for 4, and not say so."""
    with pytest.raises(error, match="num_levels must be"):
        MipmappedArrayOptions((4, 2), "uint8", 1, levels)


def test_an_array_that_the_device_has_not(device) -> None:
    with pytest.raises((CUDAError, MemoryError)):
        device.create_opaque_array(OpaqueArrayOptions((1 << 20, 1 << 20, 1 << 20), "float32", 4))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"address_mode": "repeat"}, ValueError, "address_mode: 'repeat' is not a member of AddressModeType"),
        ({"address_mode": ()}, ValueError, "1 to 3 in a tuple, not 0"),
        ({"address_mode": ("wrap",) * 4}, ValueError, "1 to 3 in a tuple, not 4"),
        ({"filter_mode": "cubic"}, ValueError, "filter_mode: 'cubic' is not a member of FilterModeType"),
        ({"mipmap_filter_mode": 3}, ValueError, "mipmap_filter_mode: 3 is not a member of FilterModeType"),
        ({"read_mode": "float"}, ValueError, "read_mode: 'float' is not a member of ReadModeType"),
        ({"normalized_coords": 1}, TypeError, "normalized_coords must be a bool, not 1"),
        ({"srgb": "no"}, TypeError, "srgb must be a bool"),
        ({"seamless_cubemap": None}, TypeError, "seamless_cubemap must be a bool"),
        ({"disable_trilinear_optimization": 0}, TypeError, "must be a bool, not 0"),
        ({"max_anisotropy": -1}, ValueError, "0 to 16, not -1"),
        ({"max_anisotropy": 17}, ValueError, "0 to 16, not 17"),
        ({"mipmap_level_bias": "1"}, TypeError, "mipmap_level_bias must be a float, not '1'"),
        ({"max_mipmap_level_clamp": float("nan")}, ValueError, "max_mipmap_level_clamp must be finite"),
        ({"min_mipmap_level_clamp": 2.0}, ValueError, "is above max_mipmap_level_clamp"),
        ({"border_color": (1, 2, 3)}, ValueError, "tuple of 4 floats"),
        ({"border_color": 1.0}, ValueError, "tuple of 4 floats"),
        ({"border_color": (1, 2, 3, "4")}, TypeError, "border_color must be a float, not '4'"),
        ({"colour": 1}, TypeError, "no 'colour'"),
    ],
)
def test_textures_that_cannot_be(device, options, error, message) -> None:
    array = device.create_opaque_array(OpaqueArrayOptions((4,), "float32", 1))
    resource = ResourceDescriptor.from_opaque_array(array)
    for function in (
        lambda: TextureObjectOptions(**options),
        lambda: device.create_texture_object(resource=resource, options=options),
    ):
        with pytest.raises(error, match=message):
            function()


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("uint8", {"filter_mode": "linear"}, "a linear filter needs floats: uint8 is read as element_type"),
        ("int16", {"mipmap_filter_mode": "linear"}, "a linear filter needs floats: int16"),
        ("int32", {"filter_mode": "linear", "read_mode": "normalized_float"}, "int32 is read as normalized"),
        ("float32", {"srgb": True}, "srgb is for channels of uint8, not of float32"),
    ],
)
def test_what_elements_do_not_allow(device, kind, options, message) -> None:
    array = device.create_opaque_array(OpaqueArrayOptions((4,), kind, 1))
    with pytest.raises(ValueError, match=message):
        texture_of(device, array, **options)


def test_options_that_are_changed_are_checked_again(device) -> None:
    options = TextureObjectOptions()
    options.max_anisotropy = 99
    array = device.create_opaque_array(OpaqueArrayOptions((4,), "float32", 1))
    with pytest.raises(ValueError, match="0 to 16, not 99"):
        device.create_texture_object(resource=ResourceDescriptor.from_opaque_array(array), options=options)


def test_resources_that_cannot_be(device, stream) -> None:
    buffer = device.allocate(1024, stream)
    array, levels, *_ = everything(device)
    of, kind = ResourceDescriptor, {"format": "float32", "num_channels": 1}
    plane = {**kind, "width": 8, "height": 4, "pitch_bytes": 32}
    for function, error, message in (
        (lambda: of.from_opaque_array(buffer), TypeError, "objects of OpaqueArray, not of Buffer"),
        (lambda: of.from_opaque_array(levels), TypeError, "objects of OpaqueArray, not of MipmappedArray"),
        (lambda: of.from_mipmapped_array(array), TypeError, "objects of MipmappedArray"),
        (lambda: of.from_linear(array, **kind), TypeError, "objects of Buffer, not of OpaqueArray"),
        (lambda: of.from_linear(buffer, **{**kind, "format": "f8"}), ValueError, "member of ArrayFormatType"),
        (lambda: of.from_linear(buffer, **kind, size_bytes=1025), ValueError, r"to 1024 \(the Buffer\)"),
        (lambda: of.from_linear(buffer, **kind, size_bytes=3), ValueError, r"must be 4 \(an element\)"),
        (
            lambda: of.from_linear(buffer, **kind, size_bytes=6),
            ValueError,
            "size_bytes is 6, no multiple of 4",
        ),
        (lambda: of.from_pitch2d(array, **plane), TypeError, "objects of Buffer"),
        (lambda: of.from_pitch2d(buffer, **{**plane, "width": 0}), ValueError, "at least 1, not 0 x 4"),
        (lambda: of.from_pitch2d(buffer, **{**plane, "pitch_bytes": 31}), ValueError, "a row has 32 bytes"),
        (lambda: of.from_pitch2d(buffer, **{**plane, "height": 33}), ValueError, "33 rows of 32 bytes"),
        (lambda: of.from_pitch2d(buffer, **{**plane, "height": 1.5}), TypeError, "whole number"),
    ):
        with pytest.raises(error, match=message):
            function()
    buffer.close()
    for function in (lambda: of.from_linear(buffer, **kind), lambda: of.from_pitch2d(buffer, **plane)):
        with pytest.raises(RuntimeError, match="this Buffer is closed"):
            function()


def test_memory_off_its_alignment(device, stream) -> None:
    owner = device.allocate(4096, stream)
    aside = Buffer.from_handle(owner.handle + 4, 1024, owner=owner)
    resource = ResourceDescriptor.from_linear(aside, format="float32", num_channels=1)
    with pytest.raises(ValueError, match=r"the address of the Buffer is 0x[0-9a-f]+4: .* need a multiple of"):
        device.create_texture_object(resource=resource)
    narrow = ResourceDescriptor.from_pitch2d(
        owner, format="uint8", num_channels=1, width=4, height=4, pitch_bytes=9
    )
    with pytest.raises(ValueError, match="pitch_bytes is 0x9: textures of this device need a multiple of"):
        device.create_texture_object(resource=narrow)


def test_surfaces_that_cannot_be(device, stream) -> None:
    buffer = device.allocate(1024, stream)
    plain = device.create_opaque_array(OpaqueArrayOptions((4,), "float32", 1))
    _, levels, *_ = everything(device)
    of = ResourceDescriptor
    for resource, error, message in (
        (of.from_opaque_array(plain), ValueError, "make it with is_surface_load_store=True"),
        (of.from_mipmapped_array(levels), ValueError, "of an OpaqueArray, not of a MipmappedArray"),
        (of.from_linear(buffer, format="float32", num_channels=1), ValueError, "not of a Buffer"),
        (plain, TypeError, "resource must be a ResourceDescriptor, .* not OpaqueArray"),
    ):
        with pytest.raises(error, match=message):
            device.create_surface_object(resource=resource)
    with pytest.raises(TypeError, match=r"resource must be a ResourceDescriptor, .* not OpaqueArray"):
        device.create_texture_object(resource=plain)
    with pytest.raises(TypeError, match="options must be TextureObjectOptions or a dict"):
        device.create_texture_object(resource=of.from_opaque_array(plain), options=5)


def test_copies_that_cannot_be(device, stream) -> None:
    array = device.create_opaque_array(OpaqueArrayOptions((4, 2), "float32", 1))
    small, grid = device.allocate(16, stream), np.zeros((4, 4), np.float32)
    for function, error, message in (
        (lambda: array.copy_from(bytes(31), stream=stream), ValueError, "src has 31 bytes, the array has 32"),
        (lambda: array.copy_from(small, stream=stream), ValueError, "src has 16 bytes, the array has 32"),
        (lambda: array.copy_to(small, stream=stream), ValueError, "dst has 16 bytes, the array has 32"),
        (lambda: array.copy_to(bytearray(31), stream=stream), ValueError, "dst has 31 bytes"),
        (lambda: array.copy_to(bytes(32), stream=stream), ValueError, "writable"),
        (lambda: array.copy_from([1.0] * 8, stream=stream), TypeError, "a Python list has no element type"),
        (lambda: array.copy_from(grid[:, :3], stream=stream), ValueError, "contiguous"),
        (lambda: array.copy_from(None, stream=stream), TypeError, "NoneType"),
        (lambda: array.copy_from(bytes(32), stream=5), TypeError, "__cuda_stream__"),
    ):
        with pytest.raises(error, match=message):
            function()
    small.close()
    with pytest.raises(RuntimeError, match="this Buffer is closed"):
        array.copy_from(small, stream=stream)


def test_arguments_that_are_no_textures(device, stream, kernels, ten) -> None:
    kernel, config = kernels.get_kernel("sample1"), LaunchConfig(grid=1, block=1)
    x, out = device.allocate(4, stream), device.allocate(4, stream)
    for wrong in (ten.resource.source, ten.resource):
        with pytest.raises(TypeError, match=f"{type(wrong).__name__} is not a kernel argument"):
            launch(stream, config, kernel, wrong, x, out)
    ten.close()
    with pytest.raises(RuntimeError, match="this TextureObject is closed"):
        launch(stream, config, kernel, ten, x, out)


def test_a_texture_in_streams_of_others(device, stream, kernels, ten) -> None:
    """One that is closed before the texture, one of another library, a default stream."""
    kernel, config = kernels.get_kernel("sample1"), LaunchConfig(grid=1, block=1)
    x, out = device.allocate(4), device.allocate(4)
    x.fill(0)
    device.sync()

    class Foreign:
        def __cuda_stream__(self):
            return 0, int(stream.handle)

    with device.create_stream() as other:
        launch(other, config, kernel, ten, x, out)
        other.sync()
    for each in (Foreign(), Stream.from_handle(stream.handle), device.default_stream):
        launch(each, config, kernel, ten, x, out)
    device.sync()
    assert content(out, np.float32, stream).tolist() == [10]
    ten.close()
