"""Operators that the CPU has no kernel for, in terms of others; and those that read values at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

READS = frozenset(("_local_scalar_dense", "equal", "nonzero", "is_nonzero", "masked_select"))
"""Operators whose results depend on values: a capture cannot have them."""


def _copy(target: Any, source: Any, non_blocking: bool = False) -> Any:
    return target.copy_(source)


def _no(*args: Any, **kwargs: Any) -> bool:
    return False


def _mm(first: Any, second: Any, out_dtype: Any) -> Any:
    return torch.matmul(first.to(out_dtype), second.to(out_dtype))


def _addmm(added: Any, first: Any, second: Any, out_dtype: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return beta * added.to(out_dtype) + alpha * _mm(first, second, out_dtype)


def _rms_norm_backward(
    grad: Any, value: Any, shape: list[int], rstd: Any, weight: Any, output_mask: list[bool]
) -> Any:
    axes = [*range(-len(shape), 0)]
    normal, grads = value * rstd, grad.to(rstd.dtype)
    weighted = grads if weight is None else grads * weight
    of_value = rstd * (weighted - normal * (weighted * normal).mean(axes, True))
    of_weight = None
    if weight is not None and output_mask[1]:
        of_weight = (grads * normal).reshape(-1, *shape).sum(0).to(weight.dtype)
    return of_value.to(value.dtype) if output_mask[0] else None, of_weight


def _into(formula: Callable[..., Any]) -> Callable[..., Any]:
    """The variant that writes its result to `out`."""

    def written(*args: Any, out: Any, **kwargs: Any) -> Any:
        return out.copy_(formula(*args, **kwargs))

    return written


def _lstm_cell(
    input_gates: Any, hidden_gates: Any, cx: Any, input_bias: Any = None, hidden_bias: Any = None
) -> Any:
    gates = input_gates + hidden_gates
    if input_bias is not None:
        gates = gates + input_bias + hidden_bias
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * cx + i * g
    return o * cy.tanh(), cy, torch.cat((i, f, g, o), 1)


def _lstm_cell_backward(grad_hy: Any, grad_cy: Any, cx: Any, cy: Any, workspace: Any, has_bias: bool) -> Any:
    i, f, g, o = workspace.chunk(4, 1)
    tanh = cy.tanh()
    of_cell = torch.zeros_like(cy) if grad_cy is None else grad_cy
    of_output = torch.zeros_like(cy)
    if grad_hy is not None:
        of_output = grad_hy * tanh
        of_cell = of_cell + grad_hy * o * (1 - tanh * tanh)
    gates = torch.cat(
        (
            of_cell * g * i * (1 - i),
            of_cell * cx * f * (1 - f),
            of_cell * i * (1 - g * g),
            of_output * o * (1 - o),
        ),
        1,
    )
    return gates, of_cell * f, gates.sum(0) if has_bias else None


def _gru_cell(
    input_gates: Any, hidden_gates: Any, hx: Any, input_bias: Any = None, hidden_bias: Any = None
) -> Any:
    if input_bias is not None:
        input_gates, hidden_gates = input_gates + input_bias, hidden_gates + hidden_bias
    ir, ii, inew = input_gates.chunk(3, 1)
    hr, hi, hnew = hidden_gates.chunk(3, 1)
    reset, update = (ir + hr).sigmoid(), (ii + hi).sigmoid()
    new = (inew + reset * hnew).tanh()
    return new + update * (hx - new), torch.cat((reset, update, new, hx, hnew), 1)


def _gru_cell_backward(grad_hy: Any, workspace: Any, has_bias: bool) -> Any:
    reset, update, new, hx, hnew = workspace.chunk(5, 1)
    of_new = grad_hy * (1 - update) * (1 - new * new)
    of_update = grad_hy * (hx - new) * update * (1 - update)
    of_reset = of_new * hnew * reset * (1 - reset)
    input_gates = torch.cat((of_reset, of_update, of_new), 1)
    hidden_gates = torch.cat((of_reset, of_update, of_new * reset), 1)
    biases = (input_gates.sum(0), hidden_gates.sum(0)) if has_bias else (None, None)
    return input_gates, hidden_gates, grad_hy * update, *biases


FORMULAS: dict[str, Callable[..., Any]] = {
    "copy_": _copy,
    "_use_cudnn_ctc_loss": _no,
    "_use_cudnn_ctc_loss.Tensor": _no,
    "_use_miopen_ctc_loss": _no,
    "_use_miopen_ctc_loss.Tensor": _no,
    "mm.dtype": _mm,
    "bmm.dtype": _mm,
    "addmm.dtype": _addmm,
    "baddbmm.dtype": _addmm,
    "mm.dtype_out": _into(_mm),
    "bmm.dtype_out": _into(_mm),
    "addmm.dtype_out": _into(_addmm),
    "baddbmm.dtype_out": _into(_addmm),
    "_fused_rms_norm_backward": _rms_norm_backward,
    "_thnn_fused_lstm_cell": _lstm_cell,
    "_thnn_fused_lstm_cell_backward_impl": _lstm_cell_backward,
    "_thnn_fused_gru_cell": _gru_cell,
    "_thnn_fused_gru_cell_backward": _gru_cell_backward,
}
