"""Recurrent networks: every weight meets every time step of every sequence once."""

from __future__ import annotations

from msgspec.structs import replace

from torch_tb_profiler.hardware.call import Call, Tensor, moved, required
from torch_tb_profiler.hardware.work import (
    Work,
    matrix_work,
    models_beside,
    per_element,
    vector_work,
)

modelled = models_beside(__file__)


@modelled
def layers(call: Call) -> Work | None:
    """``lstm(x, states, parameters, …, batch_first)``; packed sequences have the batch sizes
    second.
    """
    packed = call.tensors(1 if call.name == "aten::lstm" else 2) is None
    gated = call.name in ("aten::lstm", "aten::gru")
    return _network(call, call.tensors(3 if packed else 2), gated=gated)


@modelled
def library(call: Call) -> Work | None:
    """``_cudnn_rnn(x, weights, stride, buffer, h, c, mode, …)``; mode 2 is LSTM, 3 GRU."""
    mode = call.value(6 if "cudnn" in call.name else 5)
    return _network(call, call.tensors(1), gated=mode in (2, 3))


@modelled
def library_backward(call: Call) -> Work | None:
    """``_cudnn_rnn_backward(x, weights, stride, buffer, h, c, y, dy, dh, dc, mode, …)``."""
    first = 6 if "cudnn" in call.name else 5
    return _both_gradients(call, call.tensors(1), first, first + 1, mode=first + 4)


@modelled
def layer_backward(call: Call) -> Work | None:
    """``mkldnn_rnn_layer_backward(x, W_ih, W_hh, b_ih, b_hh, h, c, y, …, dy, dh, dc, reverse, mode,
    …)``.
    """
    return _both_gradients(call, _of_layer(call), 7, 10, mode=14)


def _of_layer(call: Call) -> tuple[Tensor, ...]:
    return tuple(tensor for i in range(1, 5) if (tensor := call.tensor(i)) is not None)


def _both_gradients(
    call: Call, weights: tuple[Tensor, ...] | None, output: int, gradient: int, mode: int
) -> Work | None:
    """Twice the forward; ``output``, ``gradient``, ``mode``: indices of arguments."""
    forward = required(_network(call, weights, gated=call.value(mode) in (2, 3)))
    x = call.need(0)
    values = [Tensor(tensor.shape, x.dtype) for tensor in required(weights)]
    data = moved(x, call.tensor(output), call.tensor(gradient), *values, x.dense, *values)
    flops, bias_flops = 2 * forward.flops, 2 * forward.bias_flops
    return replace(forward, flops=flops, bytes=data, bias_flops=bias_flops)


@modelled
def layer(call: Call) -> Work | None:
    """``mkldnn_rnn_layer(x, W_ih, W_hh, b_ih, b_hh, h, c, …, mode, …)``: one layer, one direction."""
    return _network(call, _of_layer(call), gated=call.value(9) in (2, 3))


@modelled
def lstm_cell(call: Call) -> Work | None:
    """``_thnn_fused_lstm_cell(gates of x, gates of h, c, biases)``, after the two products."""
    return _cell(call, 13, 8, states=2)


@modelled
def gru_cell(call: Call) -> Work | None:
    """``_thnn_fused_gru_cell(gates of x, gates of h, h, biases)``."""
    return _cell(call, 11, 6, states=1)


@modelled
def gru_cell_backward(call: Call) -> Work | None:
    """``_thnn_fused_gru_cell_backward(dh, workspace, has_bias)`` returns gradients of gates and
    state.
    """
    gradient, workspace = call.need(0), call.need(1)
    gates = Tensor((3 * gradient.elements,), gradient.dtype)
    return per_element(16, gradient, [gradient, workspace], [gates, gates, gradient.dense])


def _cell(call: Call, each: int, biased: int, states: int) -> Work | None:
    inputs, hidden, state = call.need(0), call.need(1), call.need(2)
    read = [inputs, hidden, state, call.tensor(3), call.tensor(4)]
    flops = (each + (biased if read[3] is not None else 0)) * state.elements
    # The workspace holds the four gates of an LSTM, five values of a GRU.
    workspace = Tensor((state.elements * (4 if states == 2 else 5),), inputs.dtype)
    written = [*[state.dense] * states, workspace]
    return vector_work(flops, inputs.dtype, read, written, {"shape": state.shape})


def _network(call: Call, weights: tuple[Tensor, ...] | None, *, gated: bool) -> Work | None:
    """All layers and directions; the element type is the input's."""
    x, weights = call.need(0), required(weights)
    matrices = [tensor for tensor in weights if len(tensor.shape) == 2]
    if len(x.shape) < 2 or not matrices or not x.shape[-1]:
        return None
    steps = x.elements // x.shape[-1]
    # Input and recurrent matrices alternate; a projection has neither gates nor a state.
    rows = matrices[0].shape[0]
    alike = [tensor for tensor in matrices if tensor.shape[0] == rows]
    hidden = alike[1].shape[1] if len(alike) > 1 else rows
    gates = rows * len(alike) // 2
    biases = sum(tensor.elements for tensor in weights if len(tensor.shape) == 1)
    cells = max(1, gates // max(rows, 1))
    vector = biases + 2 * gates + (5 * hidden * cells if gated else 0)
    flops = 2 * steps * sum(tensor.elements for tensor in matrices)
    values = [Tensor(tensor.shape, x.dtype) for tensor in weights]
    directions = 2 if _bidirectional(matrices) else 1
    if call.name == "aten::mkldnn_rnn_layer":
        directions = cells
    out = Tensor((steps, hidden * directions), x.dtype)
    parameters = {"T·B": steps, "inputs": x.shape[-1], "hidden": hidden, "cells": cells}
    return matrix_work(flops, x, [x, *values, out], parameters, steps * vector)


def _bidirectional(matrices: list[Tensor]) -> bool:
    """Whether the second cell also reads the network's input, which makes both the first layer."""
    return (
        len(matrices) > 2
        and matrices[2].shape == matrices[0].shape
        and (len(matrices) == 4 or matrices[4].shape[1] == 2 * matrices[1].shape[1])
    )
