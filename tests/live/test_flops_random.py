"""Live CPU runs of layers of random shapes: the FLOPs of every product and convolution equal
``torch.utils.flop_counter``'s, forward and backward.

The seeds are fixed, so that a failure repeats. Recurrent layers are compared as a whole with the
products that PyTorch makes of them step by step. ``nn.Bilinear`` is left out: the counter does not
look into ``aten::_trilinear``, whose products it would have to count.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.live.test_flops import Layer, counted, ours, recorded, train

Draw = random.Random
SEEDS = 12


def _sizes(draw: Draw, count: int, largest: int = 7) -> list[int]:
    return [draw.randint(1, largest) for _ in range(count)]


def _tensor(torch: Any, draw: Draw, *shape: int) -> Any:
    """A tensor, sometimes of strides that are not its shape's own."""
    made = torch.randn(*shape)
    if len(shape) > 1 and draw.random() < 0.3:
        made = torch.randn(*shape[:-2], shape[-1], shape[-2]).transpose(-1, -2)
    return made.detach().requires_grad_(draw.random() < 0.8)


class _Function:
    """A function of tensors in the place of a module."""

    def __init__(self, function: Callable[..., Any], *tensors: Any) -> None:
        self.function, self.tensors = function, tensors

    def forward(self, x: Any) -> Any:
        return self.function(x, *self.tensors)


def convolution(torch: Any, draw: Draw) -> Layer:
    """Of one to three dimensions, transposed or not, with everything that PyTorch lets one ask for."""
    spatial, transposed = draw.randint(1, 3), draw.random() < 0.4
    groups = draw.choice([1, 1, 2, 3])
    channels, outputs = (groups * draw.randint(1, 3) for _ in range(2))
    kernel, stride, dilation = (tuple(_sizes(draw, spatial, 3)) for _ in range(3))
    padding = tuple(draw.randint(0, 1 if transposed else 2) for _ in range(spatial))
    options: dict[str, Any] = {
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
        "groups": groups,
        "bias": draw.random() < 0.5,
    }
    if transposed:
        options["output_padding"] = tuple(
            draw.randint(0, max(s, d) - 1) for s, d in zip(stride, dilation, strict=True)
        )
    kind = getattr(torch.nn, f"Conv{'Transpose' if transposed else ''}{spatial}d")
    layer = kind(channels, outputs, kernel, **options)
    for parameter in layer.parameters():
        parameter.requires_grad_(draw.random() < 0.8)
    layer.weight.requires_grad_(True)
    ends = [d * (k - 1) + 1 + draw.randint(2, 6) for d, k in zip(dilation, kernel, strict=True)]
    return layer, torch.randn(
        draw.randint(1, 3), channels, *ends, requires_grad=draw.random() < 0.8
    )


def linear(torch: Any, draw: Draw) -> Layer:
    """Of any number of leading dimensions."""
    layer = torch.nn.Linear(*_sizes(draw, 2, 9), bias=draw.random() < 0.5)
    return layer, torch.randn(
        *_sizes(draw, draw.randint(0, 3)), layer.in_features, requires_grad=draw.random() < 0.8
    )


def product(torch: Any, draw: Draw) -> Layer:
    """``matmul`` with broadcasting, and the products with an addend."""
    b, m, k, n = _sizes(draw, 4)
    word = draw.choice(["matmul", "mm", "bmm", "addmm", "baddbmm", "addbmm", "einsum"])
    if word == "matmul":
        left, right = draw.choice(
            [
                ((b, m, k), (k, n)),
                ((b, 1, m, k), (b, k, n)),
                ((m, k), (b, k, n)),
                ((b, m, k), (1, k, n)),
                ((b, m, k), (k,)),
                ((k,), (k, n)),
            ]
        )
        return _Function(torch.matmul, _tensor(torch, draw, *right)), _tensor(torch, draw, *left)
    if word == "einsum":
        return _Function(
            lambda x, y: torch.einsum("bmk,bnk->bmn", x, y), _tensor(torch, draw, b, n, k)
        ), _tensor(torch, draw, b, m, k)
    if word in ("mm", "addmm"):
        a, c = _tensor(torch, draw, m, k), _tensor(torch, draw, k, n)
        addend = _tensor(torch, draw, *draw.choice([(m, n), (n,), (1, n)]))
    else:
        a, c = _tensor(torch, draw, b, m, k), _tensor(torch, draw, b, k, n)
        addend = _tensor(
            torch, draw, *draw.choice([(m, n), (n,)] + ([(b, m, n)] if word == "baddbmm" else []))
        )
    if word in ("mm", "bmm"):
        return _Function(getattr(torch, word), c), a
    beta = draw.choice([0, 1, 0.5])
    return (
        _Function(lambda x, y, z: getattr(torch, word)(z, x, y, beta=beta, alpha=2), c, addend),
        a,
    )


def attention(torch: Any, draw: Draw) -> Layer:
    """``nn.MultiheadAttention`` of queries and keys of different lengths, with and without a mask."""
    heads = draw.randint(1, 3)
    width, queries, keys, batch = heads * draw.randint(1, 4), *_sizes(draw, 3)
    layer = torch.nn.MultiheadAttention(width, heads, bias=draw.random() < 0.5, batch_first=True)
    memory, mask = (
        torch.randn(batch, keys, width),
        torch.zeros(queries, keys) if draw.random() < 0.5 else None,
    )
    return _Function(
        lambda x: layer(x, memory, memory, attn_mask=mask, need_weights=False)[0]
    ), torch.randn(batch, queries, width, requires_grad=True)


def encoder(torch: Any, draw: Draw) -> Layer:
    """The layers of an encoder and a decoder, as T5, Whisper and CLIP stack them."""
    heads = draw.randint(1, 3)
    width, length, batch = heads * 2 * draw.randint(1, 3), *_sizes(draw, 2)
    options = {
        "d_model": width,
        "nhead": heads,
        "dim_feedforward": draw.randint(1, 9),
        "batch_first": True,
        "norm_first": draw.random() < 0.5,
    }
    first, second = (
        torch.nn.TransformerEncoderLayer(**options),
        torch.nn.TransformerDecoderLayer(**options),
    )
    return _Function(lambda x: second(x, first(x))), torch.randn(
        batch, length, width, requires_grad=True
    )


KINDS = (convolution, linear, product, attention, encoder)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_layers_of_random_shapes(
    torch: Any, tmp_path: Path, kind: Callable[[Any, Draw], Layer]
) -> None:
    total, wrong = 0, []
    for seed in range(SEEDS * (4 if kind in (convolution, product) else 1)):
        torch.manual_seed(seed)
        layer = kind(torch, random.Random(seed))
        if not layer[0].forward(layer[1]).requires_grad:
            layer[1].requires_grad_()
        run = lambda layer=layer: train(torch, layer)  # noqa: E731
        mine = ours(recorded(torch, tmp_path / "trace.json", run))
        theirs = counted(torch, run)
        total += theirs.total()
        if mine != theirs:
            wrong.append((seed, dict(mine), dict(theirs)))
    assert wrong == []
    assert total > 0


@pytest.mark.parametrize("word", ["LSTM", "GRU", "RNN"])
def test_recurrent_layers_are_the_products_of_their_steps(
    torch: Any, tmp_path: Path, word: str
) -> None:
    wrong = []
    for seed in range(SEEDS):
        draw = random.Random(seed)
        torch.manual_seed(seed)
        inputs, hidden, length, batch = _sizes(draw, 4, 6)
        options: dict[str, Any] = {
            "num_layers": draw.randint(1, 3),
            "bidirectional": draw.random() < 0.5,
            "bias": draw.random() < 0.5,
        }
        if word == "LSTM" and hidden > 1 and draw.random() < 0.3:
            options["proj_size"] = draw.randint(1, hidden - 1)
        network, x = (
            getattr(torch.nn, word)(inputs, hidden, **options),
            torch.randn(length, batch, inputs),
        )
        with warnings.catch_warnings(), torch.no_grad():
            # Of a switch for other processors, as the flags are put back.
            warnings.simplefilter("ignore")
            with torch.backends.mkldnn.flags(enabled=False):
                theirs = counted(torch, lambda network=network, x=x: network(x)).total()  # type: ignore[misc]
        name = {"RNN": "aten::rnn_tanh"}.get(word, f"aten::{word.lower()}")
        run = lambda network=network, x=x: network(x)  # noqa: E731
        calls = recorded(torch, tmp_path / "trace.json", run)
        found = [work for call, work in calls if call.name == name]
        mine = [None if work is None else work.flops - work.bias_flops for work in found]
        if mine != [theirs]:
            wrong.append((seed, options, (inputs, hidden, length, batch), mine, theirs))
    assert wrong == []
