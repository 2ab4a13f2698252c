"""Texture filters of the simulator against those of a GPU.

    python -m tests.simulator.filtering OUT.npz                                on a GPU
    CUDAPY_DRIVER=simulator python -m tests.simulator.filtering OUT.npz REFERENCE.npz

samples arrays of 1, 2 and 3 dimensions at 8,192 places in every address mode, with and without linear filter
and normalized coordinates; the second form says how far the results are from REFERENCE.
"""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np

from cudapy import driver
from cudapy.driver import (
    CUDA_ARRAY3D_DESCRIPTOR,
    CUDA_MEMCPY3D,
    CUDA_RESOURCE_DESC,
    CUDA_TEXTURE_DESC,
    checked,
)

from .inputs import splitmix

PLACES = 1 << 13
SIZES = {1: (37, 0, 0), 2: (37, 23, 0), 3: (37, 23, 11)}
KERNEL = """.version 8.3
.target sm_75
.address_size 64
.visible .entry sample(.param .u64 texture, .param .u64 at, .param .u64 out)
{{
    .reg .b32 %i, %n; .reg .b64 %t, %p, %o, %step; .reg .f32 %x, %y, %z, %a, %b, %c, %d;
    mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mul.lo.u32 %i, %i, %n; mov.u32 %n, %tid.x; add.u32 %i, %i, %n;
    ld.param.u64 %t, [texture]; ld.param.u64 %p, [at]; ld.param.u64 %o, [out];
    mul.wide.u32 %step, %i, 16; add.u64 %p, %p, %step; add.u64 %o, %o, %step;
    ld.global.v4.f32 {{%x, %y, %z, %a}}, [%p];
    tex.{dimensions}d.v4.f32.f32 {{%a, %b, %c, %d}}, [%t, {{{coordinates}}}];
    st.global.v4.f32 [%o], {{%a, %b, %c, %d}};
    ret;
}}
"""
COORDINATES = {1: "%x", 2: "%x, %y", 3: "%x, %y, %z, %z"}


def uniform(seed: int, count: int) -> Any:
    """Numbers from 0 to 1 that are the same everywhere."""
    return ((splitmix(seed, count) >> np.uint64(40)).astype(np.float64) / 2**24).astype(np.float32)


def results(dimensions: int, is_bytes: bool) -> dict[str, Any]:
    width, height, depth = SIZES[dimensions]
    texels = uniform(99, width * max(height, 1) * max(depth, 1) * 4)
    data = (texels * 255).astype(np.uint8) if is_bytes else texels
    shape = CUDA_ARRAY3D_DESCRIPTOR(Width=width, Height=height, Depth=depth, NumChannels=4)
    shape.Format = driver.CUarray_format(1 if is_bytes else 32)
    array = checked.cuArray3DCreate(shape)
    copy = CUDA_MEMCPY3D(WidthInBytes=width * 4 * data.itemsize, Height=max(height, 1), Depth=max(depth, 1))
    copy.srcMemoryType, copy.dstMemoryType = driver.CUmemorytype(1), driver.CUmemorytype(3)
    copy.srcHost, copy.srcPitch, copy.srcHeight = data.ctypes.data, width * 4 * data.itemsize, max(height, 1)
    copy.dstArray = array
    checked.cuMemcpy3D(copy)
    text = KERNEL.format(dimensions=dimensions, coordinates=COORDINATES[dimensions])
    module = checked.cuModuleLoadData(text.encode() + b"\0")
    function = checked.cuModuleGetFunction(module, b"sample")
    at, out = checked.cuMemAlloc(16 * PLACES), checked.cuMemAlloc(16 * PLACES)
    found = {}
    for mode, is_linear, is_normalized in itertools.product(range(4), (0, 1), (0, 1)):
        places = np.stack([uniform(axis + 1, PLACES) for axis in range(4)], 1) * np.float32(4) - np.float32(
            1.5
        )
        if not is_normalized:
            places *= np.array([width, max(height, 1), max(depth, 1), 1], np.float32)
        checked.cuMemcpyHtoD(at, np.ascontiguousarray(places).ctypes.data, places.nbytes)
        resource = CUDA_RESOURCE_DESC(resType=driver.CUresourcetype(0))
        resource.res.array.hArray = array
        rules = CUDA_TEXTURE_DESC(addressMode=[driver.CUaddress_mode(mode)] * 3, flags=2 * is_normalized)
        rules.filterMode, rules.borderColor = driver.CUfilter_mode(is_linear), [0.25, 0.5, 0.75, 1.0]
        texture = checked.cuTexObjectCreate(resource, rules, None)
        values = [np.array(int(one), np.uint64) for one in (texture, at, out)]
        pointers = np.array([one.ctypes.data for one in values], np.uint64)
        checked.cuLaunchKernel(function, PLACES // 256, 1, 1, 256, 1, 1, 0, 0, pointers.ctypes.data, 0)
        result = np.empty((PLACES, 4), np.float32)
        checked.cuMemcpyDtoH(result.ctypes.data, out, result.nbytes)
        checked.cuTexObjectDestroy(texture)
        texels_are = "bytes" if is_bytes else "floats"
        found[f"{dimensions}d {texels_are} mode{mode} linear{is_linear} normalized{is_normalized}"] = result
    return found


def main(out: str, reference: str | None = None) -> None:
    checked.cuInit(0)
    checked.cuCtxSetCurrent(checked.cuDevicePrimaryCtxRetain(0))
    found: dict[str, Any] = {}
    for dimensions, is_bytes in itertools.product((1, 2, 3), (False, True)):
        found.update(results(dimensions, is_bytes))
    if reference is None:
        np.savez_compressed(out, **found)
        return
    stored = np.load(reference)
    for name, result in found.items():
        apart = np.abs(result.astype(np.float64) - stored[name])
        rows = int((apart > 1e-6).any(1).sum())
        print(f"{name}: at most {apart.max():.3g} apart, {rows} rows more than 1e-6")
        for row in np.flatnonzero((apart > 1e-6).any(1))[:2]:
            print("    ", row, result[row], stored[name][row])


if __name__ == "__main__":
    main(*sys.argv[1:])
