"""What kernels are given of an array or of memory: shapes, levels, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .test_device import output

PROGRAM = """
import json
from cudapy import simulator
simulator.enable()
from cudapy.driver import (
    CUDA_ARRAY3D_DESCRIPTOR, CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC, CUarray_format,
    CUresourcetype, checked
)
from cudapy.simulator.refused import Refused
from cudapy.simulator.textures import texture
FLOAT = CUarray_format.CU_AD_FORMAT_FLOAT
checked.cuInit(0)
checked.cuCtxSetCurrent(checked.cuDevicePrimaryCtxRetain(0))

def shown(resource, view=None, flags=0):
    try:
        made = texture.texture(resource, CUDA_TEXTURE_DESC(flags=flags), view)
    except Refused as error:
        return str(error)
    kinds = [made.is_linear, made.is_layered, made.is_cubemap]
    return [made.data.shape, made.dimensions, *kinds, [level.shape for level in made.levels]]

def descriptor(width, height, depth, flags=0):
    return CUDA_ARRAY3D_DESCRIPTOR(
        Width=width, Height=height, Depth=depth, Flags=flags, Format=FLOAT, NumChannels=2
    )

def of(kind, **more):
    return CUDA_RESOURCE_DESC(resType=CUresourcetype["CU_RESOURCE_TYPE_" + kind])

found = {}
for shape in SHAPES:
    resource = of("ARRAY")
    resource.res.array.hArray = checked.cuArray3DCreate(descriptor(*shape))
    found[str(shape)] = shown(resource)
resource = of("MIPMAPPED_ARRAY")
resource.res.mipmap.hMipmappedArray = checked.cuMipmappedArrayCreate(descriptor(8, 8, 0), 3)
for view in None, (0, 1), (1, 2), (2, 2):
    part = view and CUDA_RESOURCE_VIEW_DESC(firstMipmapLevel=view[0], lastMipmapLevel=view[1])
    found[f"levels {view}"] = shown(resource, part)
memory = checked.cuMemAlloc(4096)
for width, height, pitch, behind in PLANES:
    resource = of("PITCH2D")
    plane = resource.res.pitch2D
    plane.devPtr = int(memory) + 4096 - ((height - 1) * pitch + 8 * width) + behind
    plane.width, plane.height, plane.pitchInBytes, plane.numChannels = width, height, pitch, 2
    plane.format = FLOAT
    found[f"plane {width, height, pitch, behind}"] = shown(resource)
names = "reads_integers", "is_normalized", "is_srgb"
rules = {flag: texture.sampling(CUDA_TEXTURE_DESC(flags=flag)) for flag in (0, 1, 2, 16)}
found["flags"] = {flag: [name for name in names if of_flag[name]] for flag, of_flag in rules.items()}
print(json.dumps(found))
"""
LAYERED, CUBEMAP = 1, 4
EXPECTED: dict[tuple[int, ...], list[Any]] = {
    (8, 0, 0): [[1, 1, 8, 2], 1, False, False, False, []],
    (8, 4, 0): [[1, 4, 8, 2], 2, False, False, False, []],
    (8, 4, 3): [[3, 4, 8, 2], 3, False, False, False, []],
    (8, 0, 3, LAYERED): [[3, 1, 8, 2], 1, False, True, False, []],
    (8, 4, 3, LAYERED): [[3, 4, 8, 2], 2, False, True, False, []],
    (8, 8, 6, CUBEMAP): [[6, 8, 8, 2], 2, False, False, True, []],
    (8, 8, 12, CUBEMAP | LAYERED): [[12, 8, 8, 2], 2, False, True, True, []],
}
PLANES = ((3, 5, 64, 0), (8, 5, 64, 0), (9, 5, 64, 0), (3, 5, 48, 0), (3, 5, 64, 1))
"""Width, rows, pitch; how far behind the end of the memory the last element ends."""


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    lines = f"SHAPES, PLANES = {[*EXPECTED]}, {PLANES}\n{PROGRAM}"
    result: dict[str, Any] = json.loads(output(lines))
    return result


@pytest.mark.parametrize("shape", EXPECTED)
def test_an_array(found: dict[str, Any], shape: tuple[int, ...]) -> None:
    assert found[str(shape)] == EXPECTED[shape]


def test_levels_that_a_view_names(found: dict[str, Any]) -> None:
    levels = {
        name[7:]: [one[0][1], *(shape[1] for shape in one[-1])]
        for name, one in found.items()
        if "levels" in name
    }
    assert levels == {
        "None": [8, 4, 2],
        "(0, 1)": [8, 4],
        "(1, 2)": [4, 2],
        "(2, 2)": [2],
    }


def test_rows_in_memory_end_with_their_last_element(found: dict[str, Any]) -> None:
    planes = [found[f"plane {plane}"] for plane in PLANES]
    assert planes[:2] == [[[1, 5, width, 2], 2, False, False, False, []] for width in (3, 8)]
    assert all("multiple of 32, or less than the width" in plane for plane in planes[2:4])
    assert "multiple" not in planes[4] and isinstance(planes[4], str)


def test_flags(found: dict[str, Any]) -> None:
    assert found["flags"] == {"0": [], "1": ["reads_integers"], "2": ["is_normalized"], "16": ["is_srgb"]}
