"""Changes of how a network is trained."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from changed_programs import Step, pair
from changed_programs.models import Residual, cnn, mlp, trainer


def _adam(changed: bool) -> Step:
    model = nn.Sequential(*(nn.Linear(128, 128) for _ in range(24)))
    optimizer = torch.optim.Adam(model.parameters(), foreach=changed)
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    return optimizer.step


@pair(
    "Adam for all weights at once instead of one by one",
    "scale:name=Optimizer.step#Adam.step,factor={adam}",
    adam=_adam,
)
def foreach_adam(changed: bool) -> Step:
    model = nn.Sequential(*(nn.Linear(128, 128) for _ in range(24)))
    return trainer(
        model, torch.randn(256, 128), torch.optim.Adam(model.parameters(), foreach=changed)
    )


class Checkpointed(nn.Module):
    """Blocks whose activations are computed again in the backward pass."""

    def __init__(self, again: bool) -> None:
        super().__init__()
        self.stem, self.head = nn.Conv2d(3, 32, 3, padding=1), nn.Linear(32, 10)
        self.blocks = nn.ModuleList(Residual(32) for _ in range(3))
        self.again = again

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.again else block(x)
        return self.head(x.mean((2, 3)))


@pair(
    "Activations kept instead of computed again",
    "scale:name=*checkpoint.py*: *pack_hook,factor=0",
    "scale:name=*checkpoint.py*: _checkpoint_without_reentrant_generator,factor=0",
)
def without_checkpointing(changed: bool) -> Step:
    return trainer(Checkpointed(not changed), torch.randn(8, 3, 32, 32))


def _update_of_cnn(changed: bool) -> Step:
    model = cnn()
    for parameter in (model[-1] if changed else model).parameters():
        parameter.grad = torch.randn_like(parameter)
    return torch.optim.SGD(model.parameters(), lr=1e-3).step


@pair(
    "Backbone frozen",
    "scale:operator=autograd::engine::evaluate_function: ConvolutionBackward0,factor=0",
    "scale:operator=autograd::engine::evaluate_function: NativeBatchNormBackward0,factor=0",
    "scale:operator=autograd::engine::evaluate_function: ReluBackward0,factor=0",
    "scale:operator=autograd::engine::evaluate_function: AddBackward0,factor=0",
    "scale:operator=autograd::engine::evaluate_function: MeanBackward1,factor=0",
    "scale:operator=autograd::engine::evaluate_function: *AccumulateGrad,factor={gradients}",
    "scale:name=Optimizer.step#SGD.step,factor={update}",
    gradients=2 / 13,
    update=_update_of_cnn,
)
def frozen_backbone(changed: bool) -> Step:
    model = cnn()
    if changed:
        model[:-1].requires_grad_(False)
    return trainer(model, torch.randn(8, 3, 32, 32))


def _words(sparse: bool) -> tuple[nn.Embedding, torch.optim.Optimizer, Tensor]:
    table = nn.Embedding(20_000, 64, sparse=sparse)
    return table, torch.optim.SGD(table.parameters(), lr=1e-2), torch.randint(20_000, (64, 16))


def _embedding_backward(changed: bool) -> Step:
    table, _, words = _words(changed)
    gradient = torch.randn(64, 16, 64)

    def step() -> None:
        table.weight.grad = None
        table(words).backward(gradient)

    return step


def _embedding_update(changed: bool) -> Step:
    table, optimizer, words = _words(changed)
    table(words).sum().backward()
    return optimizer.step


@pair(
    "Sparse gradients of an embedding",
    "scale:operator=autograd::engine::evaluate_function: EmbeddingBackward0,factor={backward}",
    "scale:name=Optimizer.step#SGD.step,factor={update}",
    backward=_embedding_backward,
    update=_embedding_update,
)
def sparse_embedding(changed: bool) -> Step:
    table, optimizer, words = _words(changed)
    model = mlp(512, 3).requires_grad_(True)
    first = nn.Linear(16 * 64, 512)
    labels = torch.randint(10, (64,))

    def step() -> None:
        optimizer.zero_grad()
        model.zero_grad()
        functional.cross_entropy(model(first(table(words).flatten(1))), labels).backward()
        optimizer.step()

    return step


@pair("Gradients no longer clipped", "scale:name=*: clip_grad_norm_,factor=0")
def without_clipping(changed: bool) -> Step:
    model = mlp(768, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    inputs, labels = torch.randn(64, 768), torch.randint(10, (64,))

    def step() -> None:
        optimizer.zero_grad()
        functional.cross_entropy(model(inputs), labels).backward()
        if not changed:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=False)
        optimizer.step()

    return step


@pair(
    "Gradients set to None instead of zero",
    "scale:name=Optimizer.zero_grad#SGD.zero_grad,factor=0",
    "scale:operator=autograd::engine::evaluate_function: torch::autograd::AccumulateGrad,factor=0",
)
def gradients_to_none(changed: bool) -> Step:
    model = mlp(1024, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    inputs, labels = torch.randn(32, 1024), torch.randint(10, (32,))

    def step() -> None:
        optimizer.zero_grad(set_to_none=changed)
        functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()

    return step
