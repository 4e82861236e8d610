"""Recurrent networks: every weight meets every time step of every sequence once."""

from __future__ import annotations

import math

from torch_tb_profiler.hardware.call import Call, Tensor, moved
from torch_tb_profiler.hardware.element_types import precision
from torch_tb_profiler.hardware.work import Work, model, per_element, vector_work

SOURCE = (
    "2·T·B FLOPs per element of the weight matrices (a multiplication and an addition per time step"
    " and sequence), T·B per element of a bias and per gate for the sum and the activation, T·B·5"
    " per hidden element of LSTM and GRU; input, weights and states read once, output written once"
)
_BACKWARD = (
    "twice the FLOPs of the forward: a product for the gradient of the input and one for that of"
    " the weight"
)
_LSTM_CELL = (
    "13 FLOPs per hidden element (4 sums and 4 activations of gates, 5 for cell and output), 8 more"
    " with biases"
)
_GRU_CELL = (
    "11 FLOPs per hidden element (3 sums and 3 activations of gates, 5 for the state), 6 more with"
    " biases"
)


@model("recurrent", "aten::lstm", "aten::gru", "aten::rnn_tanh", "aten::rnn_relu", source=SOURCE)
def layers(call: Call) -> Work | None:
    """``lstm(x, states, parameters, …, batch_first)``; packed sequences have the batch sizes
    second.
    """
    packed = call.tensors(1 if call.name == "aten::lstm" else 2) is None
    index = 3 if packed else 2
    return _network(
        call, call.tensor(0), call.tensors(index), gated=call.name in ("aten::lstm", "aten::gru")
    )


@model("recurrent", "aten::_cudnn_rnn", "aten::miopen_rnn", source=SOURCE)
def library(call: Call) -> Work | None:
    """``_cudnn_rnn(x, weights, stride, buffer, h, c, mode, …)``; mode 2 is LSTM, 3 GRU."""
    return _network(
        call,
        call.tensor(0),
        call.tensors(1),
        gated=call.value(6 if "cudnn" in call.name else 5) in (2, 3),
    )


@model("recurrent", "aten::_cudnn_rnn_backward", "aten::miopen_rnn_backward", source=_BACKWARD)
def library_backward(call: Call) -> Work | None:
    """``_cudnn_rnn_backward(x, weights, stride, buffer, h, c, y, dy, dh, dc, mode, …)``."""
    x, weights, first = call.tensor(0), call.tensors(1), 6 if "cudnn" in call.name else 5
    return _both_gradients(
        _network(call, x, weights, gated=call.value(first + 4) in (2, 3)),
        x,
        weights,
        call.tensor(first),
        call.tensor(first + 1),
    )


@model("recurrent", "aten::mkldnn_rnn_layer_backward", source=_BACKWARD)
def layer_backward(call: Call) -> Work | None:
    """``mkldnn_rnn_layer_backward(x, W_ih, W_hh, b_ih, b_hh, h, c, y, …, dy, dh, dc, reverse, mode,
    …)``.
    """
    x = call.tensor(0)
    weights = tuple(tensor for i in range(1, 5) if (tensor := call.tensor(i)) is not None)
    return _both_gradients(
        _network(call, x, weights, gated=call.value(14) in (2, 3)),
        x,
        weights,
        call.tensor(7),
        call.tensor(10),
    )


def _both_gradients(
    forward: Work | None,
    x: Tensor | None,
    weights: tuple[Tensor, ...] | None,
    output: Tensor | None,
    gradient: Tensor | None,
) -> Work | None:
    if forward is None or x is None or weights is None:
        return None
    values = [Tensor(tensor.shape, x.dtype) for tensor in weights]
    data = moved(x, output, gradient, *values, x.dense, *values)
    return Work(
        2 * forward.flops,
        data,
        forward.unit,
        forward.precision,
        forward.parameters,
        2 * forward.bias_flops,
    )


@model("recurrent", "aten::mkldnn_rnn_layer", source=SOURCE)
def layer(call: Call) -> Work | None:
    """``mkldnn_rnn_layer(x, W_ih, W_hh, b_ih, b_hh, h, c, …, mode, …)``: one layer, one direction."""
    weights = tuple(tensor for i in range(1, 5) if (tensor := call.tensor(i)) is not None)
    return _network(call, call.tensor(0), weights, gated=call.value(9) in (2, 3))


@model("recurrent", "aten::_thnn_fused_lstm_cell", source=_LSTM_CELL)
def lstm_cell(call: Call) -> Work | None:
    """``_thnn_fused_lstm_cell(gates of x, gates of h, c, biases)``, after the two products."""
    return _cell(call, 13, 8, states=2)


@model("recurrent", "aten::_thnn_fused_gru_cell", source=_GRU_CELL)
def gru_cell(call: Call) -> Work | None:
    """``_thnn_fused_gru_cell(gates of x, gates of h, h, biases)``."""
    return _cell(call, 11, 6, states=1)


@model(
    "recurrent",
    "aten::_thnn_fused_lstm_cell_backward_impl",
    source="20 FLOPs per hidden element: the derivatives of four gates and of the cell",
)
def lstm_cell_backward(call: Call) -> Work | None:
    """``_thnn_fused_lstm_cell_backward_impl(dh, dc, c before, c after, gates, has_bias)``."""
    before, after, gates = call.need(2), call.need(3), call.need(4)
    gradients = [gates.dense, before.dense]
    return vector_work(
        20 * before.elements,
        gates.dtype,
        [call.tensor(0), call.tensor(1), before, after, gates],
        gradients,
        {"shape": before.shape},
    )


@model(
    "recurrent",
    "aten::_thnn_fused_gru_cell_backward",
    source="16 FLOPs per hidden element: the derivatives of three gates and of the state",
)
def gru_cell_backward(call: Call) -> Work | None:
    """``_thnn_fused_gru_cell_backward(dh, workspace, has_bias)`` returns gradients of gates and
    state.
    """
    gradient, workspace = call.need(0), call.need(1)
    gates = Tensor((3 * gradient.elements,), gradient.dtype)
    return per_element(16, gradient, [gradient, workspace], [gates, gates, gradient.dense])


def _cell(call: Call, each: int, biased: int, states: int) -> Work | None:
    inputs, hidden, state = call.need(0), call.need(1), call.need(2)
    biases = [call.tensor(3), call.tensor(4)]
    count = each + (biased if biases[0] is not None else 0)
    # The workspace holds the four gates of an LSTM, five values of a GRU.
    workspace = Tensor((state.elements * (4 if states == 2 else 5),), inputs.dtype)
    results = [state.dense] * states
    return vector_work(
        count * state.elements,
        inputs.dtype,
        [inputs, hidden, state, *biases],
        [*results, workspace],
        {"shape": state.shape},
    )


def _network(
    call: Call, x: Tensor | None, weights: tuple[Tensor, ...] | None, *, gated: bool
) -> Work | None:
    """All layers and directions; the element type is the input's."""
    if x is None or not weights or len(x.shape) < 2:
        return None
    matrices = [tensor for tensor in weights if len(tensor.shape) == 2]
    if not matrices or not x.shape[-1]:
        return None
    steps = x.elements // x.shape[-1]
    # Input and recurrent matrices alternate; a projection has neither gates nor a state.
    recurrent = [
        tensor
        for tensor in matrices[1:]
        if tensor.shape[0] in {first.shape[0] for first in matrices[:1]}
    ]
    hidden = recurrent[0].shape[1] if recurrent else matrices[0].shape[0]
    gates = (
        sum(tensor.shape[0] for tensor in matrices if tensor.shape[0] == matrices[0].shape[0]) // 2
    )
    biases = sum(tensor.elements for tensor in weights if len(tensor.shape) == 1)
    cells = max(1, gates // max(matrices[0].shape[0], 1))
    vector = biases + 2 * gates + (5 * hidden * cells if gated else 0)
    flops = 2 * steps * sum(math.prod(tensor.shape) for tensor in matrices) + steps * vector
    values = [Tensor(tensor.shape, x.dtype) for tensor in weights]
    directions = (
        cells if call.name == "aten::mkldnn_rnn_layer" else 2 if _bidirectional(matrices) else 1
    )
    out = Tensor((steps, hidden * directions), x.dtype)
    parameters: dict[str, object] = {
        "T·B": steps,
        "inputs": x.shape[-1],
        "hidden": hidden,
        "cells": cells,
    }
    return Work(
        flops, moved(x, *values, out), "matrix", precision(x.dtype), parameters, steps * vector
    )


def _bidirectional(matrices: list[Tensor]) -> bool:
    """Whether the second cell also reads the network's input, which makes both the first layer."""
    return (
        len(matrices) > 2
        and matrices[2].shape == matrices[0].shape
        and (len(matrices) == 4 or matrices[4].shape[1] == 2 * matrices[1].shape[1])
    )
