"""Changes of operators: another algorithm, type, size or number of threads. Their factors are
measured on the operator alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from changed_programs import Step, pair
from changed_programs.models import cnn, mlp, server, trainer


class Gelu(nn.Module):
    """A feed-forward block of a transformer."""

    def __init__(self, approximate: str) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(512, 2048), nn.Linear(2048, 512)
        self.activation = nn.GELU(approximate)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(self.activation(self.up(x)))


def _gelu(changed: bool) -> Step:
    x = torch.randn(256, 2048)
    return lambda: functional.gelu(x, approximate="none" if changed else "tanh")


@pair("GELU by erf instead of tanh", "scale:operator=aten::gelu,factor={gelu}", gelu=_gelu)
def gelu_erf(changed: bool) -> Step:
    approximate = "none" if changed else "tanh"
    return server(nn.Sequential(*(Gelu(approximate) for _ in range(4))), torch.randn(256, 512))


def _all(layers: Sequence[nn.Module], x: Tensor) -> Step:
    """Calls as many layers as the program has, so that their weights come from the same caches."""

    def step() -> None:
        with torch.inference_mode():
            for layer in layers:
                layer(x)

    return step


def _product(changed: bool) -> Step:
    return _all(
        [nn.Linear(1024, 1024) for _ in range(4)], torch.randn(512 if changed else 256, 1024)
    )


def _relu(changed: bool) -> Step:
    x = torch.randn(512 if changed else 256, 1024)
    return lambda: torch.relu(x)


@pair(
    "Batch of 512 instead of 256",
    "scale:operator=aten::addmm,factor={product}",
    "scale:operator=aten::relu,factor={relu}",
    product=_product,
    relu=_relu,
)
def batch_doubled(changed: bool) -> Step:
    return server(mlp(), torch.randn(512 if changed else 256, 1024))


def _convolution(changed: bool) -> Step:
    size = 3 if changed else 7
    layers = [nn.Conv2d(32, 32, size, padding=size // 2, bias=False) for _ in range(3)]
    return _all(layers, torch.randn(16, 32, 32, 32))


@pair(
    "Kernels of 3 × 3 instead of 7 × 7",
    "scale:operator=aten::conv2d,factor={convolution}",
    convolution=_convolution,
)
def smaller_kernels(changed: bool) -> Step:
    size = 3 if changed else 7
    layers = [nn.Conv2d(32, 32, size, padding=size // 2, bias=False) for _ in range(3)]
    return server(
        nn.Sequential(
            *(part for layer in layers for part in (layer, nn.BatchNorm2d(32), nn.SiLU()))
        ),
        torch.randn(16, 32, 32, 32),
    )


def _type(changed: bool) -> torch.dtype:
    return torch.float32 if changed else torch.float64


def _linear_of_type(changed: bool) -> Step:
    layers = [nn.Linear(1024, 1024, dtype=_type(changed)) for _ in range(4)]
    return _all(layers, torch.randn(256, 1024, dtype=_type(changed)))


def _relu_of_type(changed: bool) -> Step:
    x = torch.randn(256, 1024, dtype=_type(changed))
    return lambda: torch.relu(x)


@pair(
    "float32 instead of float64",
    "scale:operator=aten::linear,factor={linear}",
    "scale:operator=aten::relu,factor={relu}",
    linear=_linear_of_type,
    relu=_relu_of_type,
)
def single_precision(changed: bool) -> Step:
    return server(mlp().to(_type(changed)), torch.randn(256, 1024, dtype=_type(changed)))


def _heads(x: Tensor) -> list[Tensor]:
    """Queries, keys and values of 8 heads."""
    return [part.view(*x.shape[:2], 8, 64).transpose(1, 2) for part in x.chunk(3, -1)]


def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention step by step."""
    return torch.softmax(q @ k.transpose(-1, -2) / 8, -1) @ v


def _attention(changed: bool) -> Step:
    q, k, v = _heads(torch.randn(4, 128, 3 * 512))

    def step() -> None:
        with torch.inference_mode():
            if changed:
                functional.scaled_dot_product_attention(q, k, v)
            else:
                attend(q, k, v)

    return step


class Attention(nn.Module):
    """Self-attention with 8 heads."""

    def __init__(self, fused: bool) -> None:
        super().__init__()
        self.into, self.out, self.fused = nn.Linear(512, 3 * 512), nn.Linear(512, 512), fused

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = _heads(self.into(x))
        y = functional.scaled_dot_product_attention(q, k, v) if self.fused else attend(q, k, v)
        return x + self.out(y.transpose(1, 2).reshape(x.shape))


@pair(
    "`scaled_dot_product_attention` instead of attention step by step",
    "scale:name=*: attend,factor={attention}",
    attention=_attention,
)
def fused_attention(changed: bool) -> Step:
    return server(nn.Sequential(*(Attention(changed) for _ in range(3))), torch.randn(4, 128, 512))


def _best(changed: bool) -> Step:
    scores = torch.randn(64, 8192)
    return lambda: scores.topk(10) if changed else scores.sort(descending=True)


@pair("`topk` instead of `sort`", "scale:operator=aten::sort,factor={best}", best=_best)
def topk(changed: bool) -> Step:
    model, x = nn.Linear(512, 8192), torch.randn(64, 512)

    def step() -> None:
        with torch.inference_mode():
            scores = model(x)
            for _ in range(2):
                if changed:
                    scores.topk(10)
                else:
                    scores.sort(descending=True)[1][:, :10]

    return step


def _threads(changed: bool) -> Step:
    torch.set_num_threads(2 if changed else 1)
    return _all([nn.Linear(1024, 1024) for _ in range(4)], torch.randn(256, 1024))


@pair(
    "Threads 1 → 2",
    "scale:operator=aten::linear,factor={linear}",
    threads=(1, 2),
    linear=_threads,
)
def two_threads(changed: bool) -> Step:
    return server(mlp(), torch.randn(256, 1024))


@pair(
    "Copies dropped: `transpose` without `contiguous`", "scale:operator=aten::contiguous,factor=0"
)
def copies_dropped(changed: bool) -> Step:
    x, w = torch.randn(1024, 1024), torch.randn(1024, 1024)

    def step() -> None:
        y = x
        for _ in range(4):
            turned = y.t()
            y = torch.tanh((turned if changed else turned.contiguous()) @ w)

    return step


@pair("Dropout dropped", "scale:module=Dropout*,factor=0")
def without_dropout(changed: bool) -> Step:
    layers: list[nn.Module] = []
    for _ in range(3):
        layers += [nn.Linear(768, 768), nn.ReLU()]
        if not changed:
            layers += [nn.Dropout(0.1)]
    return trainer(nn.Sequential(*layers, nn.Linear(768, 10)), torch.randn(512, 768))


class Slow(nn.Module):
    """A module that somebody left in: it normalises by an inverse."""

    def forward(self, x: Tensor) -> Tensor:
        scale = torch.linalg.inv(x.t() @ x + 10 * torch.eye(x.shape[1])).diagonal().mean()
        return x * (1 + 1e-6 * scale)


@pair("A slow module dropped", "scale:module=Slow*,factor=0")
def without_slow_module(changed: bool) -> Step:
    extra = [] if changed else [Slow()]
    return trainer(
        nn.Sequential(nn.Linear(512, 512), nn.ReLU(), *extra, *mlp(512, 4)), torch.randn(512, 512)
    )


@pair("A residual block dropped", "scale:module=Residual_1,factor=0")
def fewer_blocks(changed: bool) -> Step:
    return trainer(cnn(blocks=2 if changed else 3), torch.randn(8, 3, 32, 32))
