"""Texture and surface references of modules; what textures hold outside, and in channels that they lack."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cudapy import driver
from cudapy.driver import (
    CU_TRSA_OVERRIDE_FORMAT,
    CU_TRSF_READ_AS_INTEGER,
    CUDA_ARRAY3D_DESCRIPTOR,
    CUDA_ARRAY3D_SURFACE_LDST,
    CUDA_ARRAY_DESCRIPTOR,
    CUDA_RESOURCE_DESC,
    CUDA_TEXTURE_DESC,
    CUaddress_mode,
    CUarray,
    CUarray_format,
    CUfilter_mode,
    CUmodule,
    CUresourcetype,
    CUresult,
    CUtexref,
)

from .kernels import context as context
from .kernels import memory, ok, owned, read, write

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("context")]

FLOAT, UNSIGNED = CUarray_format.CU_AD_FORMAT_FLOAT, CUarray_format.CU_AD_FORMAT_UNSIGNED_INT32
BYTE = CUarray_format.CU_AD_FORMAT_UNSIGNED_INT8
CLAMP, BORDER = CUaddress_mode.CU_TR_ADDRESS_MODE_CLAMP, CUaddress_mode.CU_TR_ADDRESS_MODE_BORDER
INVALID = (CUresult.CUDA_ERROR_INVALID_VALUE, None)
NOT_FOUND = (CUresult.CUDA_ERROR_NOT_FOUND, None)


def reads(name: str, results: str, coordinate: str, handle: str) -> str:
    """A kernel that samples a 1D texture at the number of each thread."""
    convert = "cvt.rn.f32.u32 %f, %t" if coordinate == "f32" else "mov.b32 %f, %t"
    return f"""
.visible .entry {name}(.param .u64 out, .param .u64 object) {{
.reg .b64 %a, %h; .reg .b32 %t; .reg .b32 %f, %v<4>;
mov.u32 %t, %tid.x;
ld.param.u64 %a, [out];
ld.param.u64 %h, [object];
{convert};
tex.1d.v4.{results}.{coordinate} {{%v0, %v1, %v2, %v3}}, [{handle}, {{%f}}];
mad.wide.u32 %a, %t, 16, %a;
st.global.v4.u32 [%a], {{%v0, %v1, %v2, %v3}};
ret;
}}"""


PTX = f""".version 8.0
.target sm_80
.address_size 64
.global .texref line;
.visible .global .texref image = {{ addr_mode_0 = clamp_to_border, filter_mode = linear }};
.global .surfref area;
.visible .global .align 8 .u64 plain;
{reads("floats", "f32", "f32", "line")}
{reads("integers", "u32", "s32", "line")}
{reads("float_texels", "f32", "f32", "%h")}
{reads("integer_texels", "u32", "f32", "%h")}
{reads("floats_in_memory", "f32", "s32", "%h")}
{reads("integers_in_memory", "u32", "s32", "%h")}
.visible .entry plane(.param .u64 out, .param .u64 unused) {{
.reg .b64 %a, %h; .reg .b32 %t, %x, %y, %v<4>; .reg .f32 %f<2>;
mov.u32 %t, %tid.x;
and.b32 %x, %t, 7;
shr.u32 %y, %t, 3;
ld.param.u64 %a, [out];
cvt.rn.f32.u32 %f0, %x;
cvt.rn.f32.u32 %f1, %y;
mov.u64 %h, image;
tex.2d.v4.u32.f32 {{%v0, %v1, %v2, %v3}}, [%h, {{%f0, %f1}}];
mad.wide.u32 %a, %t, 4, %a;
st.global.u32 [%a], %v0;
ret;
}}
.visible .entry sizes(.param .u64 out, .param .u64 unused) {{
.reg .b64 %a; .reg .b32 %x, %y;
ld.param.u64 %a, [out];
txq.width.b32 %x, [image];
txq.height.b32 %y, [image];
st.global.v2.u32 [%a], {{%x, %y}};
ret;
}}
.visible .entry raise(.param .u64 out, .param .u64 unused) {{
.reg .b64 %a; .reg .b32 %t, %x, %v;
ld.param.u64 %a, [out];
mov.u32 %t, %tid.x;
shl.b32 %x, %t, 2;
suld.b.1d.b32.trap {{%v}}, [area, {{%x}}];
mad.wide.u32 %a, %t, 4, %a;
st.global.u32 [%a], %v;
add.u32 %v, %v, 100;
sust.b.1d.b32.trap [area, {{%x}}], {{%v}};
ret;
}}
""".encode()


@pytest.fixture
def module() -> Iterator[CUmodule]:
    with owned(driver.cuModuleLoadData(PTX), driver.cuModuleUnload) as loaded:
        yield loaded


@pytest.fixture
def line(module: CUmodule) -> CUtexref:
    return ok(driver.cuModuleGetTexRef(module, b"line"))


@pytest.fixture
def image(module: CUmodule) -> CUtexref:
    return ok(driver.cuModuleGetTexRef(module, b"image"))


def run(
    module: CUmodule, kernel: str, threads: int, count: int, dtype: Any = np.uint32, handle: Any = 0
) -> Any:
    """What a kernel of PTX writes."""
    with memory(4 * count) as out:
        ok(driver.cuMemsetD8(out, 0xEE, 4 * count))
        function = ok(driver.cuModuleGetFunction(module, kernel.encode()))
        arguments = (int(out), int(handle)), (ctypes.c_void_p, ctypes.c_uint64)
        ok(driver.cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, 0, arguments, 0))
        return read(out, count, dtype)


def array_of(texels: Any, format_: CUarray_format, channels: int = 1, **more: Any) -> Any:
    """A 1D array that holds texels."""
    made = driver.cuArrayCreate(
        CUDA_ARRAY_DESCRIPTOR(
            Width=len(texels) // channels, Height=0, Format=format_, NumChannels=channels, **more
        )
    )
    ok(driver.cuMemcpyHtoA(made[1], 0, texels, texels.nbytes))
    return owned(made, driver.cuArrayDestroy)


def test_which_names_are_references(module: CUmodule) -> None:
    assert ok(driver.cuModuleGetTexRef(module, b"line")) == ok(driver.cuModuleGetTexRef(module, b"line"))
    for name in (b"area", b"plain", b"missing"):
        assert driver.cuModuleGetTexRef(module, name) == NOT_FOUND
    for name in (b"line", b"plain", b"missing"):
        assert driver.cuModuleGetSurfRef(module, name) == NOT_FOUND
    for name in (b"line", b"image", b"area"):
        assert driver.cuModuleGetGlobal(module, name) == (CUresult.CUDA_ERROR_INVALID_VALUE, None, None)


def test_what_a_reference_is_at_first(image: CUtexref) -> None:
    """First values in PTX count for nothing."""
    with owned(driver.cuTexRefCreate(), driver.cuTexRefDestroy) as own:
        for one in (image, own):
            assert ok(driver.cuTexRefGetFormat(one)) == (FLOAT, 1)
            assert [ok(driver.cuTexRefGetAddressMode(one, axis)) for axis in range(3)] == [CLAMP] * 3
            assert ok(driver.cuTexRefGetFilterMode(one)) == CUfilter_mode.CU_TR_FILTER_MODE_POINT
            assert ok(driver.cuTexRefGetFlags(one)) == ok(driver.cuTexRefGetMaxAnisotropy(one)) == 0
            assert driver.cuTexRefGetAddress(one) == driver.cuTexRefGetArray(one) == INVALID


def test_what_is_bound_to_nothing_is_zero(module: CUmodule) -> None:
    assert run(module, "integers", 2, 8) == [0] * 8
    assert run(module, "plane", 16, 16) == [0] * 16
    assert run(module, "sizes", 1, 2) == [0, 0]
    assert run(module, "raise", 4, 4) == [0] * 4


def test_memory(module: CUmodule, line: CUtexref) -> None:
    with memory(4096) as data:
        write(data, np.arange(1, 65), np.uint32)
        ok(driver.cuTexRefSetFormat(line, UNSIGNED, 1))
        assert ok(driver.cuTexRefSetAddress(line, data, 16)) == 0
        assert ok(driver.cuTexRefGetAddress(line)) == data
        assert run(module, "integers", 6, 24)[::4] == [1, 2, 3, 4, 0, 0]
        assert ok(driver.cuTexRefSetAddress(line, int(data) + 16, 16)) == 16  # bytes to add to coordinates
        assert run(module, "integers", 6, 24)[::4] == [1, 2, 3, 4, 5, 6]
        ok(driver.cuTexRefSetAddress(line, 0, 0))
        assert int(ok(driver.cuTexRefGetAddress(line))) == 0


def test_a_plane_of_nothing(image: CUtexref) -> None:
    with memory(4096) as data:
        shape = CUDA_ARRAY_DESCRIPTOR(Width=0, Height=3, Format=UNSIGNED, NumChannels=1)
        ok(driver.cuTexRefSetAddress2D(image, shape, data, 64))
        assert ok(driver.cuTexRefGetAddress(image)) == data


def test_a_plane(module: CUmodule, image: CUtexref) -> None:
    rows = [[1, 2, 3, 4], [17, 18, 19, 20], [33, 34, 35, 36]]
    with memory(4096) as data:
        write(data, np.arange(1, 65), np.uint32)
        ok(driver.cuTexRefSetFlags(image, CU_TRSF_READ_AS_INTEGER))
        shape = CUDA_ARRAY_DESCRIPTOR(Width=4, Height=3, Format=UNSIGNED, NumChannels=1)
        ok(driver.cuTexRefSetAddress2D(image, shape, data, 64))
        found = np.reshape(run(module, "plane", 24, 24), (3, 8))
        np.testing.assert_array_equal(found, [row + [row[-1]] * 4 for row in rows])
        ok(driver.cuTexRefSetAddressMode(image, 0, BORDER))
        found = np.reshape(run(module, "plane", 24, 24), (3, 8))
        np.testing.assert_array_equal(found, [row + [0] * 4 for row in rows])
        assert run(module, "sizes", 1, 2) == [4, 3]


def test_an_array(module: CUmodule, line: CUtexref) -> None:
    with array_of(np.array([1, 2, 4, 8], np.float32), FLOAT) as floats:
        ok(driver.cuTexRefSetArray(line, floats, 0))
        assert run(module, "floats", 2, 8, np.float32) == [1, 0, 0, 0, 2, 0, 0, 0]
        ok(driver.cuTexRefSetFilterMode(line, CUfilter_mode.CU_TR_FILTER_MODE_LINEAR))
        assert run(module, "floats", 5, 20, np.float32)[::4] == [1, 1.5, 3, 6, 8]
        ok(driver.cuTexRefSetFilterMode(line, CUfilter_mode.CU_TR_FILTER_MODE_POINT))
        ok(driver.cuTexRefSetAddress(line, 0, 0))
    with array_of(np.array([0, 51, 102, 255], np.uint8), BYTE, 2) as pairs:
        assert driver.cuTexRefSetArray(line, pairs, 2) == (CUresult.CUDA_ERROR_INVALID_VALUE,)
        ok(driver.cuTexRefSetArray(line, pairs, CU_TRSA_OVERRIDE_FORMAT))
        assert ok(driver.cuTexRefGetFormat(line)) == (BYTE, 2)
        found = run(module, "floats", 2, 8, np.float32)
        np.testing.assert_allclose(found, [0, 0.2, 0, 0, 0.4, 1, 0, 0], rtol=1e-6)
        assert ok(driver.cuTexRefGetArray(line)) == pairs


def test_a_surface(module: CUmodule) -> None:
    area = ok(driver.cuModuleGetSurfRef(module, b"area"))
    assert driver.cuSurfRefGetArray(area) == INVALID
    with array_of(np.zeros(8, np.float32), FLOAT) as plain:
        assert driver.cuSurfRefSetArray(area, plain, 0) == (CUresult.CUDA_ERROR_INVALID_VALUE,)
    shape = CUDA_ARRAY3D_DESCRIPTOR(Width=8, Format=UNSIGNED, NumChannels=1, Flags=CUDA_ARRAY3D_SURFACE_LDST)
    with owned(driver.cuArray3DCreate(shape), driver.cuArrayDestroy) as array:
        ok(driver.cuMemcpyHtoA(array, 0, np.arange(8, dtype=np.uint32), 32))
        ok(driver.cuSurfRefSetArray(area, array, 0))
        assert ok(driver.cuSurfRefGetArray(area)) == array
        assert run(module, "raise", 8, 8) == list(range(8))
        assert run(module, "raise", 8, 8) == list(range(100, 108))


FORMATS: list[Any] = [
    (np.uint32, UNSIGNED, 1, CU_TRSF_READ_AS_INTEGER, [0x40A00000, 0, 0, 0]),
    (np.uint32, UNSIGNED, 2, CU_TRSF_READ_AS_INTEGER, [0x40A00000, 0x40C00000, 0, 0]),
    (np.uint8, BYTE, 1, CU_TRSF_READ_AS_INTEGER, [0, 0, 0, 0]),
    (np.uint8, BYTE, 2, 0, [1, 1, 0, 0]),
    (np.float32, FLOAT, 1, 0, [5, 0, 0, 0]),
    (np.float16, CUarray_format.CU_AD_FORMAT_HALF, 2, 0, [5, 6, 0, 0]),
    (np.float32, FLOAT, 4, 0, [5, 6, 7, 8]),
]


def texels_and_values(dtype: Any, channels: int, flags: int) -> tuple[Any, Any]:
    """Four texels, and the four channels that kernels read at six places: 0 outside."""
    texels = np.arange(2, 2 + 4 * channels).astype(dtype)
    values = np.zeros((6, 4), np.uint32 if flags else np.float32)
    values[:4, :channels] = texels.reshape(4, channels)
    if dtype == np.uint8 and not flags:
        values /= np.float32(255)  # type: ignore[misc]
    return texels, values


def sampled(module: CUmodule, kernel: str, resource: CUDA_RESOURCE_DESC, flags: int, dtype: Any) -> Any:
    """Four channels at six places, of which the last two are outside: by a border of 5, 6, 7, 8."""
    rules = CUDA_TEXTURE_DESC(addressMode=[BORDER] * 3, flags=flags, borderColor=[5.0, 6.0, 7.0, 8.0])
    with owned(driver.cuTexObjectCreate(resource, rules, None), driver.cuTexObjectDestroy) as texture:
        return np.reshape(run(module, kernel, 6, 24, dtype, texture), (6, 4))


@pytest.mark.parametrize("dtype, format_, channels, flags, outside", FORMATS)
def test_channels_of_arrays(
    module: CUmodule, dtype: Any, format_: CUarray_format, channels: int, flags: int, outside: list[Any]
) -> None:
    """Those that an array lacks are 0, outside of it, too; integers outside are the bits of floats."""
    texels, expected = texels_and_values(dtype, channels, flags)
    expected[4:] = outside
    with array_of(texels, format_, channels) as array:
        resource = CUDA_RESOURCE_DESC(resType=CUresourcetype.CU_RESOURCE_TYPE_ARRAY)
        resource.res.array.hArray = CUarray(int(array))
        kernel = "integer_texels" if flags else "float_texels"
        found = sampled(module, kernel, resource, flags, expected.dtype)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("dtype, format_, channels, flags", [one[:4] for one in FORMATS])
def test_channels_of_memory(
    module: CUmodule, dtype: Any, format_: CUarray_format, channels: int, flags: int
) -> None:
    """Memory is read by whole numbers alone, and what is outside is 0: a border counts for nothing."""
    texels, expected = texels_and_values(dtype, channels, flags)
    with memory(512) as data:
        ok(driver.cuMemcpyHtoD(data, texels, texels.nbytes))
        resource = CUDA_RESOURCE_DESC(resType=CUresourcetype.CU_RESOURCE_TYPE_LINEAR)
        resource.res.linear.devPtr = data
        resource.res.linear.format, resource.res.linear.numChannels = format_, channels
        resource.res.linear.sizeInBytes = texels.nbytes
        kernel = "integers_in_memory" if flags else "floats_in_memory"
        found = sampled(module, kernel, resource, flags, expected.dtype)
        by_floats = sampled(module, "float_texels", resource, flags, np.float32)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert not by_floats.any()
