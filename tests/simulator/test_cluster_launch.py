"""Clusters and tensor maps at the simulated driver: what it takes, refuses, and says of them."""

from __future__ import annotations

from .test_device import output

PREPARE = """
import ctypes
from cudapy import driver
from cudapy.driver import CUfunction_attribute as Of, CUlaunchAttribute, CUlaunchConfig
from cudapy.driver import CUlaunchAttributeID, checked as cu
PTX = b'''.version 8.0
.target sm_90
.address_size 64
.visible .entry plain() { ret; }
.visible .entry made() .explicitcluster .reqnctapercluster 2, 3 { ret; }
.visible .entry open() .explicitcluster { ret; }
.visible .entry small() .maxclusterrank 2 { ret; }
\\0'''
cu.cuInit(0)
cu.cuCtxCreate(0, 0)
module = cu.cuModuleLoadData(PTX)
kernels = {name: cu.cuModuleGetFunction(module, name.encode()) for name in ("plain", "made", "open", "small")}


def config(grid, cluster=None):
    made = CUlaunchConfig(gridDimX=grid[0], gridDimY=grid[1], gridDimZ=1)
    made.blockDimX, made.blockDimY, made.blockDimZ = 32, 1, 1
    if cluster:
        one = CUlaunchAttribute(id=CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        one.value.clusterDim.x, one.value.clusterDim.y, one.value.clusterDim.z = cluster
        made.attrs, made.numAttrs = [one], 1
    return made


def launch(name, grid, cluster=None):
    status, = driver.cuLaunchKernelEx(config(grid, cluster), kernels[name], 0, 0)
    print(status.name.removeprefix("CUDA_"))
    cu.cuCtxSynchronize()
"""


def test_sizes_of_clusters() -> None:
    code = """
launch("plain", (8, 8), (2, 2, 1))
launch("plain", (8, 8), (3, 1, 1))   # no divisor
launch("plain", (8, 8), (0, 1, 1))
launch("plain", (16, 1), (16, 1, 1))  # 8 everywhere
cu.cuFuncSetAttribute(kernels["plain"], Of.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
launch("plain", (16, 1), (16, 1, 1))
launch("plain", (32, 1), (32, 1, 1))
launch("made", (4, 6))
launch("made", (4, 4))               # of two by three
launch("made", (4, 6), (2, 3, 1))
launch("made", (4, 6), (4, 1, 1))    # not what it was made for
launch("open", (4, 6))               # nobody says
launch("open", (4, 6), (4, 1, 1))
launch("small", (4, 1), (2, 1, 1))
launch("small", (4, 1), (4, 1, 1))
"""
    fits, uneven, misfit = "SUCCESS", "ERROR_INVALID_VALUE", "ERROR_INVALID_CLUSTER_SIZE"
    assert output(PREPARE + code).split() == [
        fits, uneven, uneven, misfit, fits, misfit,
        fits, misfit, fits, misfit, misfit, fits, fits, misfit,
    ]  # fmt: skip


def test_without_clusters() -> None:
    code = 'launch("plain", (8, 8), (2, 2, 1))'
    prepare = PREPARE.replace(".target sm_90", ".target sm_80")
    before = output(prepare + code, CUDAPY_SIMULATOR_COMPUTE_CAPABILITY="8.0")
    assert before.split() == ["ERROR_NOT_SUPPORTED"]


def test_attributes_of_kernels() -> None:
    code = """
names = [Of.CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET] + [
    Of["CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_" + name] for name in ("WIDTH", "HEIGHT", "DEPTH")]
for name in ("plain", "made", "open"):
    print(*[cu.cuFuncGetAttribute(one, kernels[name]) for one in names])
print(driver.cuFuncSetAttribute(kernels["made"], names[1], 4)[0].name)
print(driver.cuFuncSetAttribute(kernels["plain"], names[1], -1)[0].name)
cu.cuFuncSetAttribute(kernels["plain"], names[1], 4)
launch("plain", (4, 1))              # height and depth are missing
for name in names[2:]:
    cu.cuFuncSetAttribute(kernels["plain"], name, 1)
launch("plain", (4, 1))
launch("plain", (6, 1))
launch("plain", (4, 1), (2, 1, 1))
print(cu.cuOccupancyMaxPotentialClusterSize(kernels["small"], config((4, 1))))
print(cu.cuOccupancyMaxPotentialClusterSize(kernels["plain"], config((4, 1))))
of_one = cu.cuOccupancyMaxActiveClusters(kernels["open"], config((8, 1), (1, 1, 1)))
of_four = cu.cuOccupancyMaxActiveClusters(kernels["open"], config((8, 1), (4, 1, 1)))
print(of_one // of_four, cu.cuOccupancyMaxActiveClusters(kernels["plain"], config((8, 1))) == of_four)
print(driver.cuOccupancyMaxActiveClusters(kernels["open"], config((8, 1)))[0].name)
print(driver.cuOccupancyMaxActiveClusters(kernels["open"], config((16, 1), (16, 1, 1)))[0].name)
"""
    assert output(PREPARE + code).splitlines() == [
        "0 0 0 0", "0 2 3 1", "1 0 0 0", "CUDA_ERROR_NOT_PERMITTED", "CUDA_ERROR_INVALID_VALUE",
        "ERROR_INVALID_VALUE", "SUCCESS", "ERROR_INVALID_CLUSTER_SIZE", "ERROR_INVALID_CLUSTER_SIZE",
        "2", "8", "4 True", "CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_INVALID_CLUSTER_SIZE",
    ]  # fmt: skip


ENCODE = """
from cudapy import driver
from cudapy.driver import checked as cu
cu.cuInit(0)
cu.cuCtxCreate(0, 0)
address = int(cu.cuMemAlloc(4096))


def encode(kind=7, sizes=(64, 16), strides=(256,), box=(16, 8), steps=(1, 1), interleave=0, swizzle=0,
           fill=0, at=address):
    told = kind, len(sizes), at, sizes, strides, box, steps, interleave, swizzle, 0, fill
    return driver.cuTensorMapEncodeTiled(*told)[0].name.removeprefix("CUDA_")


def windows(lower=(-1, -1), upper=(-1, -1), channels=8, pixels=16, rank=4):
    sizes, strides = (8, 8, 8, 2, 2)[:rank], (16, 128, 1024, 2048)[: rank - 1]
    told = 6, rank, address, sizes, strides, lower, upper, channels, pixels, (1,) * rank, 0, 0, 0, 0
    return driver.cuTensorMapEncodeIm2col(*told)[0].name.removeprefix("CUDA_")
"""
TENSOR_MAPS = {
    "SUCCESS": [
        "encode()",
        "encode(swizzle=2)",
        "encode(fill=1)",
        "encode(steps=(1, 8))",
        "encode(sizes=(64,), box=(16,), steps=(1,))",
        "encode(kind=0, box=(16, 1))",
        "windows()",
        "windows((-3,), (2,), rank=3)",
        "windows((0, -128), (5, 127))",
    ],
    "ERROR_INVALID_VALUE": [
        "encode(swizzle=1)",  # the row is wider
        "encode(sizes=(64,), strides=(), box=(16,), steps=(1,))",  # no array of strides at all
        "encode(box=(15, 8))",
        "encode(kind=0, box=(8, 1))",
        "encode(kind=2, fill=1)",
        "encode(fill=2)",
        "encode(swizzle=9)",
        "encode(sizes=(2**32 + 1, 16))",
        "encode(strides=(2**40,))",
        "encode(at=0)",
        "windows(channels=7)",
        "windows(pixels=1025)",
        "windows(rank=2, lower=(), upper=())",
        "windows((0, -129))",
        "windows((7, 0), (-1, 0))",  # no pixel is left
    ],
    "ERROR_NOT_SUPPORTED": [
        "encode(kind=11)",
        "encode(kind=12)",
        "encode(swizzle=5)",
        "encode(sizes=(64, 4, 4), strides=(256, 1024), box=(16, 1, 1), steps=(1, 1, 1), interleave=1)",
    ],
}


def test_tensor_maps() -> None:
    calls = {call: status for status, calls in TENSOR_MAPS.items() for call in calls}
    found = output(ENCODE + "\n".join(f"print({call})" for call in calls)).split()
    assert dict(zip(calls, found, strict=True)) == calls
