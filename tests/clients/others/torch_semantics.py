"""PyTorch's operators as CUDA has them: streams, graphs, generators, types, devices and errors."""

from __future__ import annotations

import threading
from typing import Any

import torch

SPIN = """
extern "C" __global__ void slow(float *data, double value, int turns) {
    for (int i = 0; i < turns; ++i)
        if (__nanosleep(1000), i == turns - 1)
            data[threadIdx.x] = value;
}
"""


def raised(function: Any, *arguments: Any, **keywords: Any) -> str:
    """The text of what a call raises."""
    try:
        function(*arguments, **keywords)
    except (RuntimeError, NotImplementedError) as error:
        return str(error)
    raise AssertionError("nothing was raised")


def streams() -> None:
    """An operator waits for its stream, and for what that waits for."""
    slow = torch.cuda._compile_kernel(SPIN, "slow")
    data = torch.zeros(32, device="cuda")
    one, other = torch.cuda.Stream(), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(one):
        slow((1, 1, 1), (32, 1, 1), (data, 3.0, 200), stream=one)
        event = one.record_event()
        assert data.sum().item() == 96
        slow((1, 1, 1), (32, 1, 1), (data, 5.0, 200), stream=one)
        event = one.record_event()
    with torch.cuda.stream(other):
        other.wait_event(event)
        assert (data + 1).sum().item() == 192


def graphs() -> None:
    """In a capture, operators become nodes, and nothing is computed until the graph is launched."""
    total, words = torch.zeros(8, device="cuda"), torch.arange(8.0, device="cuda")
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        total += 1
        result = (words * total).sum()
        drawn = torch.rand(4, device="cuda")
    assert not total.any()
    draws = []
    for turn in (1, 2, 3):
        graph.replay()
        assert (total == turn).all() and result == 28 * turn
        draws.append(drawn.tolist())
    assert len({*map(tuple, draws)}) == 3


def backward() -> None:
    """A backward pass runs in the thread that calls it: its locks are not those of another one."""
    threads = []
    weight = torch.ones(4, device="cuda", requires_grad=True)
    product = weight * 2
    product.register_hook(lambda _: threads.append(threading.get_ident()))
    product.sum().backward()
    assert threads == [threading.get_ident()] and weight.grad.tolist() == [2.0] * 4


def generators() -> None:
    """Seeds and states decide; the CPU's own numbers do not change."""
    torch.manual_seed(3)
    own = torch.rand(2)
    torch.manual_seed(3)
    first = torch.randn(100, device="cuda")
    assert torch.equal(torch.rand(2), own)
    state = torch.cuda.get_rng_state()
    second = torch.randn(100, device="cuda")
    torch.cuda.set_rng_state(state)
    assert torch.equal(torch.randn(100, device="cuda"), second) and not torch.equal(first, second)
    torch.cuda.manual_seed(3)
    assert torch.equal(torch.randn(100, device="cuda"), first)
    seeded = [torch.Generator("cuda").manual_seed(9) for _ in range(2)]
    one, other = (torch.randint(1000, (50,), device="cuda", generator=each) for each in seeded)
    assert torch.equal(one, other)
    value = torch.ones(1000, device="cuda")
    kept = torch.nn.functional.dropout(value, 0.25)
    assert 600 < int((kept != 0).sum()) < 900


def types() -> None:
    """Views, strides, complex and short types, autocast with a scaler."""
    grid = torch.arange(24.0, device="cuda").view(4, 6)
    grid[1:3, ::2] = -1
    assert grid.t()[2].tolist() == [2, -1, -1, 20]
    windows = torch.arange(6.0, device="cuda").unfold(0, 3, 1)
    assert (windows + 0).sum(1).tolist() == [3, 6, 9, 12]
    wave = torch.fft.fft(torch.arange(4.0, device="cuda")).conj()
    assert torch.allclose((wave * 1j).cpu(), torch.tensor([6j, 2 - 2j, -2j, -2 - 2j]))
    parts = torch.arange(6.0, device="cuda").split(2)
    parts[1].zero_()
    assert torch.cat(parts).tolist() == [0, 1, 0, 0, 4, 5]
    out = torch.empty(0, device="cuda")
    assert torch.add(grid, 1, out=out) is out and out.shape == grid.shape
    exponents = torch.arange(3, dtype=torch.int32, device="cuda")
    assert torch.ldexp(torch.ones(3, device="cuda"), exponents).tolist() == [1, 2, 4]
    linear = torch.nn.Linear(8, 4).cuda()
    scaler = torch.amp.GradScaler("cuda")
    optimizer = torch.optim.SGD(linear.parameters(), 0.1, foreach=True)
    with torch.autocast("cuda", torch.float16):
        loss = linear(torch.ones(2, 8, device="cuda"))
        assert loss.dtype == torch.float16
        loss = loss.float().square().mean()
    before = linear.weight.clone()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    assert not torch.equal(linear.weight, before)
    short = torch.arange(4, device="cuda", dtype=torch.bfloat16)
    assert short.cumsum(0).tolist() == [0, 1, 3, 6]
    lstm = torch.nn.LSTM(4, 3).cuda()
    given = torch.ones(5, 2, 4)
    assert torch.allclose(lstm(given.cuda())[0].cpu(), lstm.cpu()(given)[0], atol=1e-6)


def short_floats() -> None:
    """The four kinds of float8: conversions, views, copies, concatenation, and products with scales."""
    numbers = torch.randn(64, 32)
    for kind in (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz):
        short, expected = numbers.cuda().to(kind), numbers.to(kind)
        assert short.is_cuda and short.dtype == kind
        assert torch.equal(short.view(torch.uint8).cpu(), expected.view(torch.uint8))
        assert torch.equal(short.to(torch.float32).cpu(), expected.to(torch.float32))
        both = torch.cat([short, torch.empty_like(short).copy_(short)]).to(torch.float16).cpu()
        assert torch.equal(both, expected.to(torch.float16).repeat(2, 1))
        part = short[3:7].contiguous().t().to(torch.bfloat16).cpu()
        assert torch.equal(part, expected[3:7].t().to(torch.bfloat16))
    columns, scale = torch.randn(16, 32).to(torch.float8_e4m3fn), torch.tensor(0.5)
    products = [
        torch._scaled_mm(
            numbers.to(device).to(torch.float8_e4m3fn),
            columns.to(device).t(),
            scale_a=scale.to(device),
            scale_b=scale.to(device),
            out_dtype=torch.bfloat16,
        ).cpu()
        for device in ("cuda", "cpu")
    ]
    assert torch.equal(*products) and products[0].any()


def sparse() -> None:
    """Sparse tensors, and nested ones that are jagged."""
    places = torch.tensor([[0, 1, 1, 1], [2, 0, 2, 2]], device="cuda")
    coo = torch.sparse_coo_tensor(places, torch.tensor([3.0, 4, 2, 3], device="cuda"), (2, 3))
    dense = torch.tensor([[0.0, 0, 3], [4, 0, 5]])
    assert torch.equal(coo.to_dense().cpu(), dense) and coo.coalesce()._nnz() == 3
    right = torch.arange(12.0).view(3, 4)
    assert torch.equal((coo @ right.cuda()).cpu(), dense @ right)
    assert torch.equal((coo + coo * 2).to_dense().cpu(), dense * 3)
    assert torch.equal(torch.sparse.sum(coo, 1).to_dense().cpu(), dense.sum(1))
    coo.add_(coo)
    coo.mul_(2)
    assert torch.equal(coo.cpu().to_dense(), dense * 4) and coo.cuda() is coo
    weight = torch.ones(3, 2, device="cuda", requires_grad=True)
    torch.sparse.mm(dense.cuda().to_sparse(), weight).sum().backward()
    assert weight.grad is not None and weight.grad.tolist() == [[4, 4], [0, 0], [8, 8]]
    rows = dense.cuda().to_sparse_csr()
    assert rows.crow_indices().tolist() == [0, 1, 3] and rows.device.type == "cuda"
    assert torch.equal((rows @ right.cuda()).cpu(), dense @ right)
    assert torch.equal((rows * 2).to_dense().cpu(), dense * 2)
    embedding = torch.nn.Embedding(5, 3, sparse=True).cuda()
    embedding(torch.tensor([1, 1, 4], device="cuda")).sum().backward()
    torch.optim.SparseAdam(embedding.parameters()).step()
    assert embedding.weight.grad is not None and embedding.weight.grad.is_sparse
    jagged = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged, device="cuda")
    assert (jagged * 2).sum().item() == 10


def devices() -> None:
    """Tensors of several devices are told apart, and copied from one to another."""
    assert torch.cuda.device_count() >= 1
    last = torch.device("cuda", torch.cuda.device_count() - 1)
    there = torch.ones(3, device=last) * 2
    assert there.device == last and there.to("cuda:0").sum() == 6
    with torch.cuda.device(last):
        slow = torch.cuda._compile_kernel(SPIN, "slow")
        data = torch.zeros(32, device=last)
        slow((1, 1, 1), (32, 1, 1), (data, 3.0, 200))
    assert data.to("cuda:0").sum() == 96  # the copy waits for the other device
    assert "cuda:0 and cpu" in raised(torch.add, torch.ones(3, device="cuda"), torch.ones(3))
    if last.index:
        assert "cuda:0 and cuda:1" in raised(torch.add, torch.ones(3, device="cuda"), there)


def errors() -> None:
    """An operator that the CPU lacks is named; an index that is too large is an error at once; no value
    is read in a capture.
    """
    x = torch.ones(1, 1, 4, 4, device="cuda")
    text = raised(torch.cudnn_convolution, x, x, [0, 0], [1, 1], [1, 1], 1, False, False, False)
    assert "aten::cudnn_convolution has no kernel for the CPU" in text
    try:
        x.view(-1)[torch.tensor([99], device="cuda")]
    except IndexError as error:
        assert "99 is out of bounds" in str(error)
    else:
        raise AssertionError("an index that is too large")
    refused = torch.cuda.CUDAGraph()
    text = ""
    try:
        with torch.cuda.graph(refused):
            x[0, 0, 0, 0].item()
    except RuntimeError as error:
        text = str(error)
    assert "captur" in text, text


if __name__ == "__main__":
    for part in (streams, graphs, backward, generators, types, short_floats, sparse, devices, errors):
        part()
        print(f"{part.__name__}: as CUDA has it")
