"""Texture and surface objects on the engine, against the formulas of the programming guide."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.texture import Surface, Texture

from .machine import Machine

SOURCE = r"""
typedef unsigned long long Object;
extern "C" __global__ void line(Object t, const float *x, float4 *out)
{
    int i = threadIdx.x;
    out[i] = tex1D<float4>(t, x[i]);
}
extern "C" __global__ void fetch(Object t, const int *x, float *out)
{
    int i = threadIdx.x;
    out[i] = tex1Dfetch<float>(t, x[i]);
}
extern "C" __global__ void plane(Object t, const float2 *p, float *out)
{
    int i = threadIdx.x;
    out[i] = tex2D<float>(t, p[i].x, p[i].y);
}
extern "C" __global__ void bytes(Object t, const float2 *p, uchar4 *out)
{
    int i = threadIdx.x;
    out[i] = tex2D<uchar4>(t, p[i].x, p[i].y);
}
extern "C" __global__ void volume(Object t, const float *p, float *out)
{
    int i = threadIdx.x;
    out[i] = tex3D<float>(t, p[3 * i], p[3 * i + 1], p[3 * i + 2]);
}
extern "C" __global__ void layers(Object t, const float2 *p, float *out)
{
    int i = threadIdx.x;
    out[i] = tex2DLayered<float>(t, p[i].x, p[i].y, i % 3);
}
extern "C" __global__ void cube(Object t, const float *p, float *out)
{
    int i = threadIdx.x;
    out[i] = texCubemap<float>(t, p[3 * i], p[3 * i + 1], p[3 * i + 2]);
}
extern "C" __global__ void gathered(Object t, const float2 *p, float4 *out)
{
    int i = threadIdx.x;
    out[i] = tex2Dgather<float4>(t, p[i].x, p[i].y, 0);
}
extern "C" __global__ void surface(Object s, float *out, int width, int height)
{
    int x = threadIdx.x, y = threadIdx.y;
    float value;
    surf2Dread(&value, s, x * 4, y);
    out[y * width + x] = value;
    surf2Dwrite(value * 2, s, x * 4, y, cudaBoundaryModeZero);
}
"""


@pytest.fixture
def machine(nvrtc: ModuleType) -> Machine:
    return Machine()


def sample(machine: Machine, name: str, texture: Texture, coordinates: Any, out: Any) -> Any:
    machine.device.textures[7] = texture
    result = machine.array(out)
    module = machine.load(SOURCE)
    machine.run(module, name, 1, len(coordinates), np.uint64(7), machine.array(coordinates), result)
    return result.get()


def one_channel(*shape: int) -> Any:
    return np.random.default_rng(4).random((*shape, 1), np.float32)


def weights(x: Any) -> tuple[Any, Any]:
    start = np.floor(x - 0.5)
    return start.astype(int), np.floor((x - 0.5 - start) * 256 + 0.5) / 256


@pytest.mark.parametrize("mode", range(4))
@pytest.mark.parametrize("is_normalized", [False, True])
@pytest.mark.parametrize("is_linear", [False, True])
def test_address_modes_and_filters_of_a_line(
    machine: Machine, mode: int, is_normalized: bool, is_linear: bool
) -> None:
    size = 10
    data = np.random.default_rng(4).random((1, 1, size, 4), np.float32)
    x = np.linspace(-2.3, 3.1, 64, dtype=np.float32) * np.float32(1 if is_normalized else size)
    border = (0.25, 0.5, 0.75, 1.0)
    modes = (mode, 1, 1)
    texture = Texture(
        data,
        1,
        address_modes=modes,
        has_linear_filter=is_linear,
        is_normalized=is_normalized,
        border=border,
    )
    found = sample(machine, "line", texture, x, np.zeros((64, 4), np.float32))
    effective = mode if is_normalized or mode in (1, 3) else 1

    def texel(i: int) -> Any:
        if effective == 0:
            i %= size
        elif effective == 2:
            i %= 2 * size
            i = 2 * size - 1 - i if i >= size else i
        elif effective == 1:
            i = min(max(i, 0), size - 1)
        elif not 0 <= i < size:
            return np.array(border)
        return data[0, 0, i].astype(float)

    for place, one in enumerate(x.astype(float) * (size if is_normalized else 1)):
        if is_linear:
            start, weight = weights(one)
            expected = (1 - weight) * texel(int(start)) + weight * texel(int(start) + 1)
        else:
            expected = texel(int(np.floor(one)))
        assert np.allclose(found[place], expected, atol=1e-6), (place, one)


def test_linear_memory_reads_zero_outside(machine: Machine) -> None:
    data = one_channel(1, 1, 8)
    x = np.array([-1, 0, 7, 8, 100], np.int32)
    found = sample(machine, "fetch", Texture(data, 1, is_linear=True), x, np.zeros(5, np.float32))
    assert np.array_equal(found, np.array([0, data[0, 0, 0, 0], data[0, 0, 7, 0], 0, 0], np.float32))


def test_bilinear_filter(machine: Machine) -> None:
    data = one_channel(1, 6, 9)
    p = np.random.default_rng(5).random((64, 2), np.float32) * np.array([9, 6], np.float32)
    found = sample(machine, "plane", Texture(data, 2, has_linear_filter=True), p, np.zeros(64, np.float32))
    (x, a), (y, b) = (weights(p[:, axis].astype(float)) for axis in (0, 1))

    def texel(i: Any, j: Any) -> Any:
        return data[0, np.clip(j, 0, 5), np.clip(i, 0, 8), 0].astype(float)

    expected = (1 - b) * ((1 - a) * texel(x, y) + a * texel(x + 1, y)) + b * (
        (1 - a) * texel(x, y + 1) + a * texel(x + 1, y + 1)
    )
    assert np.allclose(found, expected, atol=1e-6)


def test_bytes_as_integers_and_as_fractions(machine: Machine) -> None:
    data = np.random.default_rng(4).integers(0, 256, (1, 4, 4, 4), np.uint8)
    p = np.stack(np.meshgrid(np.arange(4) + 0.5, np.arange(4) + 0.5), -1).reshape(16, 2).astype(np.float32)
    found = sample(machine, "bytes", Texture(data, 2, reads_integers=True), p, np.zeros((16, 4), np.uint8))
    assert np.array_equal(found, data.reshape(16, 4))
    fractions = sample(machine, "plane", Texture(data, 2), p, np.zeros(16, np.float32))
    assert np.array_equal(fractions, (data.reshape(16, 4)[:, 0] / 255.0).astype(np.float32))


def test_volume_layers_and_gather(machine: Machine) -> None:
    data = one_channel(3, 4, 5)
    p = np.random.default_rng(5).random((30, 3), np.float32)
    texture = Texture(data, 3, is_normalized=True)
    found = sample(machine, "volume", texture, p, np.zeros(30, np.float32))
    x, y, z = np.floor(p * np.array([5, 4, 3], np.float32)).astype(int).T
    assert np.array_equal(found, data[z, y, x, 0])
    texture = Texture(data, 2, is_layered=True, is_normalized=True)
    found = sample(machine, "layers", texture, np.ascontiguousarray(p[:, :2]), np.zeros(30, np.float32))
    assert np.array_equal(found, data[np.arange(30) % 3, y, x, 0])
    plane = Texture(data[:1], 2, is_normalized=True)
    four = sample(machine, "gathered", plane, np.ascontiguousarray(p[:, :2]), np.zeros((30, 4), np.float32))
    left, top = (np.floor(p[:, axis] * size - 0.5).astype(int) for axis, size in ((0, 5), (1, 4)))
    corners = ((0, 1), (1, 1), (1, 0), (0, 0))
    expected = [data[0, np.clip(top + down, 0, 3), np.clip(left + right, 0, 4), 0] for right, down in corners]
    assert np.array_equal(four, np.stack(expected, 1))


def test_cubemap(machine: Machine) -> None:
    data = np.arange(6, dtype=np.float32).repeat(16).reshape(6, 4, 4, 1)
    directions = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], np.float32)
    texture = Texture(data, 2, is_cubemap=True, is_normalized=True)
    assert sample(machine, "cube", texture, directions, np.zeros(6, np.float32)).tolist() == list(range(6))


def test_surface(machine: Machine) -> None:
    values = np.random.default_rng(4).random((1, 4, 8, 1), np.float32)
    machine.device.surfaces[9] = Surface(values.view(np.uint8), 2)
    before, out = values.copy(), machine.zeros((4, 8), np.float32)
    module = machine.load(SOURCE)
    machine.run(module, "surface", 1, (8, 4), np.uint64(9), out, np.int32(8), np.int32(4))
    assert np.array_equal(out.get(), before[0, :, :, 0])
    assert np.array_equal(values, before * 2)
    with pytest.raises(Fault, match="Surface access outside of 8 x 4 x 1"):
        wide = machine.zeros((4, 9), np.float32)
        machine.run(module, "surface", 1, (9, 4), np.uint64(9), wide, np.int32(9), np.int32(4))


def test_a_handle_of_nothing(machine: Machine) -> None:
    x, out = machine.zeros(4, np.float32), machine.zeros((4, 4), np.float32)
    with pytest.raises(Fault, match="0x5 is the handle of no texture object"):
        machine.run(machine.load(SOURCE), "line", 1, 4, np.uint64(5), x, out)


def test_the_border_of_bytes_has_their_steps(machine: Machine) -> None:
    """As an H200 rounds it: to the nearest step, and from half of one down."""
    data = np.zeros((1, 1, 4, 4), np.uint8)
    texture = Texture(data, 1, address_modes=(3, 1, 1), border=(0.25, 0.5, 0.75, 1.0))
    found = sample(machine, "line", texture, np.float32([-1.5, 7.5]), np.zeros((2, 4), np.float32))
    assert np.rint(found * 255).tolist() == [[64, 127, 191, 255]] * 2
    assert np.allclose(found * 255, np.rint(found * 255), atol=1e-4)


def test_a_texture_that_says_whether_its_texels_are_there(nvrtc: ModuleType) -> None:
    machine = Machine()
    image = np.arange(32, dtype=np.float32).reshape(4, 8)
    machine.device.textures[77] = Texture(image[None, ..., None], 2)
    source = r"""
extern "C" __global__ void k(unsigned long long t, float *out)
{
    bool resident = false;
    out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, 1.5f, &resident) + 100 * resident;
}
"""
    out = machine.zeros(8, np.float32)
    machine.run(machine.load(source, 90), "k", 1, 8, np.uint64(77), out)
    assert np.array_equal(out.get(), image[1] + 100)
