"""Triton on `cudapy.triton`: its kernels, compiled and launched as its users do, give what NumPy does."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import cudapy.triton
from cudapy import simulator
from cudapy.core import CUDAError, Device
from cudapy.triton import Tensor

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.thorough,
    pytest.mark.skipif(
        importlib.util.find_spec("triton") is None, reason="needs Triton, which is not installed"
    ),
    pytest.mark.filterwarnings(
        "ignore:TRITON_DEFAULT_FP_FUSION is unset"
    ),  # a word of Triton 3.9 to its users
]
R = np.random.default_rng(0)
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def on_cudapy() -> Iterator[None]:
    import triton

    Device(0).set_current()
    cudapy.triton.install()
    triton.set_allocator(cudapy.triton.allocate)
    yield
    cudapy.triton.set_stream(None)


@pytest.fixture
def k() -> Any:
    """The kernels."""
    from . import driver_kernels, kernels

    return SimpleNamespace(**{**vars(kernels), **vars(driver_kernels)})


def normal(*shape: int, dtype: Any = "f4") -> Any:
    return R.standard_normal(shape).astype(dtype)


def to_device(array: Any, dtype: Any = None) -> Tensor:
    device = Device()
    buffer = device.allocate(array.nbytes)
    buffer.copy_from(array, stream=device.default_stream)
    return Tensor(buffer, dtype or array.dtype, array.shape)


def zeros(*shape: int, dtype: Any = "f4") -> Tensor:
    return to_device(np.zeros(shape, dtype))


def to_host(tensor: Tensor) -> Any:
    found = np.empty(tensor.shape, tensor.dtype)
    tensor.base.copy_to(found, stream=Device().default_stream)
    Device().sync()
    return found


def near(found: Tensor, expected: Any, tolerance: float) -> None:
    np.testing.assert_allclose(to_host(found).astype("f8"), expected, tolerance, tolerance)


def needs_hopper() -> None:
    if Device().compute_capability < (9, 0):
        pytest.skip("needs compute capability 9.0")


@pytest.mark.parametrize("warps", [1, 2, 8])
def test_a_sum_of_vectors(k: Any, warps: int) -> None:
    x, y, out = normal(1000), normal(1000), zeros(1000)
    compiled = k.add[(8,)](to_device(x), to_device(y), out, 1000, BLOCK=128, num_warps=warps)
    np.testing.assert_array_equal(to_host(out), x + y)
    assert compiled.n_max_threads >= 32 * warps and compiled.n_regs > 0 and compiled.n_spills == 0


def test_softmax(k: Any) -> None:
    x, out = normal(5, 300), zeros(5, 300)
    k.softmax[(5,)](to_device(x), out, 300, 300, BLOCK=512)
    e = np.exp(x - x.max(1, keepdims=True))
    near(out, e / e.sum(1, keepdims=True), 1e-6)


@pytest.mark.parametrize(
    "size, step, stages, warps",
    [((64, 64, 64), 32, 3, 4), ((128, 128, 256), 64, 4, 8)],
    ids=["small", "large"],
)
def test_a_product(k: Any, size: tuple[int, int, int], step: int, stages: int, warps: int) -> None:
    """On Hopper by wgmma, and the large one in more than 48 KiB of shared memory."""
    m, n, inner = size
    a, b, c = normal(m, inner, dtype="f2"), normal(inner, n, dtype="f2"), zeros(m, n)
    tiles = {"BM": min(m, 128), "BN": min(n, 128), "BK": step}
    compiled = k.matmul[(1, 1)](
        to_device(a), to_device(b), c, m, n, inner, **tiles, num_stages=stages, num_warps=warps
    )
    near(c, a.astype("f8") @ b.astype("f8"), 2e-2)
    assert compiled.metadata.shared > 48 << 10 or m < 128


def test_a_product_in_parts(k: Any) -> None:
    a, b, c = normal(32, 256, dtype="f2"), normal(256, 32, dtype="f2"), zeros(32, 32)
    k.split_product[(4,)](to_device(a), to_device(b), c, 256, 32, 32, STEP=32, PARTS=4)
    near(c, a.astype("f8") @ b.astype("f8"), 2e-2)


def test_bfloat16(k: Any) -> None:
    import triton.language as tl

    a = (normal(64, 64).view("u4") >> 16).astype("u2")
    c, wide = zeros(64, 64), (a.astype("u4") << 16).view("f4").astype("f8")
    given = to_device(a, tl.bfloat16)
    k.matmul[(1, 1)](given, given, c, 64, 64, 64, BM=64, BN=64, BK=32)
    near(c, wide @ wide, 1e-4)


def test_layernorm_and_its_gradient(k: Any) -> None:
    x, dy, w, b = normal(5, 100), normal(5, 100), normal(100), normal(100)
    mean, rstd, out, dx, dw = zeros(5), zeros(5), zeros(5, 100), zeros(5, 100), zeros(100)
    k.layernorm[(5,)](to_device(x), to_device(w), to_device(b), out, mean, rstd, 100, 100, 1e-5, BLOCK=128)
    scale = 1 / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    h = (x - x.mean(1, keepdims=True)) * scale
    near(out, h * w + b, 1e-5)
    k.layernorm_backward[(5,)](to_device(dy), to_device(x), to_device(w), mean, rstd, dx, dw, 100, BLOCK=128)
    g = w * dy
    near(dx, (g - h * (h * g).mean(1, keepdims=True) - g.mean(1, keepdims=True)) * scale, 1e-4)
    near(dw, (dy * h).sum(0), 1e-4)


def test_atomics(k: Any) -> None:
    x, out = R.integers(0, 50, 3000).astype("i4"), zeros(50, dtype="i4")
    k.count[(3,)](to_device(x), out, 3000, BLOCK=1024)
    np.testing.assert_array_equal(to_host(out), np.bincount(x, minlength=50))
    v, total = normal(6, 128), zeros(128)
    k.locked[(6,)](to_device(v), zeros(1, dtype="i4"), total, N=128)
    near(total, v.sum(0), 1e-5)


def test_grids(k: Any) -> None:
    for sizes in ((5,), (3, 4), (2, 3, 4)):
        x, y, z = (*sizes, 1, 1)[:3]
        out = zeros(z, y, x, dtype="i4")
        k.grid[sizes](out)
        depth, row, column = np.mgrid[0:z, 0:y, 0:x]
        np.testing.assert_array_equal(to_host(out), 100 * depth + 10 * row + column)
    k.grid[(0,)](out)
    k.plus_one[lambda meta: (1000 // meta["BLOCK"],)](zeros(8), zeros(8), 8, BLOCK=256)


def test_scalars_and_tuples(k: Any) -> None:
    out, numbers = zeros(10, dtype="f8"), [1.5, 2**40, 0.25, 3.0, 1e300, -7, 60000, True, 2**63 + 2**20, 5]
    k.scalars[(1,)](out, *numbers)
    assert to_host(out).tolist() == [float(one) for one in numbers]
    x, y = normal(64), zeros(64)
    for factor in (3, 1):  # an argument that is 1 is a constant
        k.of_tuples[(1,)]((to_device(x), factor, (2.5,)), y, N=64)
        near(y, factor * x + 2.5, 1e-6)


def test_tensor_descriptors(k: Any) -> None:
    from triton.tools.tensor_descriptor import TensorDescriptor

    a, b, c = normal(128, 128, dtype="f2"), normal(128, 128, dtype="f2"), zeros(128, 128, dtype="f2")
    given = [TensorDescriptor.from_tensor(one, [64, 64]) for one in (to_device(a), to_device(b), c)]
    k.product_of_descriptors[(2, 2)](*given, 128, M=64, N=64, STEP=64)
    near(c, a.astype("f8") @ b.astype("f8"), 5e-2)


def test_scratch_memory(k: Any) -> None:
    a, out = normal(100, 96), zeros(100, 96)
    compiled = k.increment[(4,)](to_device(a), out, 100, 96, TILE=32)
    near(out, a + 1, 1e-6)
    assert compiled.metadata.global_scratch_size > 0 or Device().compute_capability < (9, 0)


def test_causal_attention(k: Any) -> None:
    from triton.tools.tensor_descriptor import TensorDescriptor

    heads, n, width = 2, 128, 64
    q, key, v = (normal(heads * n, width, dtype="f2") for _ in range(3))
    out = zeros(heads * n, width, dtype="f2")
    given = [TensorDescriptor.from_tensor(one, [64, width]) for one in (*map(to_device, (q, key, v)), out)]
    k.attention[(2, heads)](*given, n, 1.4426950408889634 / 8, D=width, M=64)
    wide = [one.reshape(heads, n, width).astype("f8") for one in (q, key, v)]
    scores = np.where(np.tri(n, dtype=bool), wide[0] @ wide[1].transpose(0, 2, 1) / 8, -np.inf)
    p = np.exp(scores - scores.max(2, keepdims=True))
    near(out, (p / p.sum(2, keepdims=True) @ wide[2]).reshape(heads * n, width), 2e-2)


def test_clusters(k: Any) -> None:
    needs_hopper()
    x, out = normal(2000), zeros(2000)
    compiled = k.plus_one[(2,)](to_device(x), out, 2000, BLOCK=1024, num_ctas=2)
    near(out, x + 1, 1e-6)
    assert compiled.metadata.num_ctas == 2


def test_dependent_launches(k: Any) -> None:
    needs_hopper()
    x, out = to_device(np.arange(256, dtype="f4")), zeros(256)
    k.dependent[(2,)](x, out, BLOCK=128, launch_pdl=True)
    k.dependent[(2,)](out, x, BLOCK=128, launch_pdl=True)
    near(x, np.arange(256) + 2, 0)


def test_a_cooperative_grid(k: Any) -> None:
    out = zeros(4, 64)
    k.neighbours[(4,)](zeros(1, dtype="i4"), zeros(256), out, 4, BLOCK=64, launch_cooperative_grid=True)
    near(out, (np.arange(4)[:, None] + 1) % 4 + np.arange(64), 0)


def test_autotune_without_pytorch(k: Any) -> None:
    for n in (512, 500):
        x, out = normal(n), zeros(n)
        k.twice[lambda meta: (-(-n // meta["BLOCK"]),)](to_device(x), out, n)  # noqa: B023
        near(out, 2 * x, 0)
    assert k.twice.best_config.kwargs["BLOCK"] in (64, 128)


def test_streams_and_graphs(k: Any) -> None:
    stream, x, out = Device().create_stream(), to_device(np.arange(8, dtype="f4")), zeros(8)
    k.plus_one[(1,)](x, out, 8, BLOCK=8)  # compiled and loaded before the capture
    Device().sync()
    builder = stream.create_graph_builder().begin_building("relaxed")
    cudapy.triton.set_stream(builder)
    k.plus_one[(1,)](x, out, 8, BLOCK=8)
    k.plus_one[(1,)](out, x, 8, BLOCK=8)
    cudapy.triton.set_stream(stream)
    graph = builder.end_building().complete()
    for _ in range(3):
        graph.launch(stream)
    k.plus_one[(1,)](x, out, 8, BLOCK=8)
    stream.sync()
    near(out, np.arange(8) + 7, 0)


def test_hooks(k: Any) -> None:
    from triton import knobs

    seen: list[str] = []

    def hook(metadata: Any) -> None:
        seen.append(metadata.get()["name"])

    for chain in (knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook):
        chain.add(hook)
    try:
        k.grid[(1,)](zeros(1, dtype="i4"))
    finally:
        for chain in (knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook):
            chain.remove(hook)
    assert seen == ["grid", "grid"]


def test_what_users_do_wrong(k: Any) -> None:
    from triton.runtime.errors import OutOfResources

    host = SimpleNamespace(data_ptr=lambda: np.zeros(8).ctypes.data, dtype=np.dtype("f4"))
    with pytest.raises(ValueError, match=r"plus_one: argument 'x' .* is it a tensor of the CPU\?"):
        k.plus_one[(1,)](host, zeros(8), 8, BLOCK=8)
    with pytest.raises(ValueError, match=r"plus_one: there is no grid of \(-1, 1, 1\) blocks"):
        k.plus_one[(-1,)](zeros(8), zeros(8), 8, BLOCK=8)
    with pytest.raises(CUDAError, match=r"cuLaunchKernelEx: .*plus_one.*grid=\(1, 70000, 1\)"):
        k.plus_one[(1, 70000)](zeros(8), zeros(8), 8, BLOCK=8)
    a = zeros(256, 256, dtype="f2")
    with pytest.raises(OutOfResources, match="shared memory"):
        k.matmul[(1, 1)](a, a, zeros(256, 256), 256, 256, 256, BM=256, BN=256, BK=128, num_stages=4)


def run(program: Path) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    if simulator.is_enabled():
        variables["CUDAPY_DRIVER"] = "simulator"
    command = [sys.executable, "-W", "ignore", str(program)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=variables)


def test_the_program_of_the_documentation(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    found = re.search(r"^```py\n(.*?)^```$", (ROOT / "docs" / "triton.md").read_text(), re.M | re.S)
    assert found
    program.write_text(found[1])
    done = run(program)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not simulator.is_enabled(), reason="a GPU does not notice it")
def test_an_access_outside_is_reported(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import cudapy.triton\n"
        "from cudapy.core import Device\n"
        "from tests.triton_ptx.driver_kernels import outside, show\n"
        "cudapy.triton.install()\n"
        "device = Device()\n"
        "device.set_current()\n"
        "memory, more = device.allocate(40), device.allocate(128)\n"
        "more.fill(b'\\7\\0\\0\\0', stream=device.default_stream)\n"
        "show[(1,)](cudapy.triton.Tensor(more, 'i4'), N=32, num_warps=1)\n"
        "outside[(1,)](cudapy.triton.Tensor(memory, 'i4'), 10, BLOCK=16)\n"
        "device.sync()\n"
    )
    done = run(program)
    assert done.returncode == 1
    assert done.stdout.count("value: 7") == 32
    assert "Invalid __global__ write of 4 bytes" in done.stderr
    assert "in outside, " in done.stderr and "driver_kernels.py:" in done.stderr
    assert "0 bytes past the end of device memory of 40 bytes" in done.stderr
