"""The networks that the programs share."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from changed_programs import Step


class Residual(nn.Module):
    """A convolution with a shortcut."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x: Tensor) -> Tensor:
        return x + functional.relu(self.norm(self.conv(x)))


def cnn(channels: int = 32, blocks: int = 3) -> nn.Sequential:
    """A small residual network for images with three channels."""
    return nn.Sequential(
        nn.Conv2d(3, channels, 3, padding=1),
        *(Residual(channels) for _ in range(blocks)),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(channels, 10),
    )


def mlp(width: int = 1024, layers: int = 4) -> nn.Sequential:
    """Linear layers with ReLU between them."""
    parts: list[nn.Module] = []
    for _ in range(layers):
        parts += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*parts, nn.Linear(width, 10))


def trainer(
    model: nn.Module, inputs: Tensor, optimizer: torch.optim.Optimizer | None = None
) -> Step:
    """A step of training that classifies ``inputs``."""
    chosen = optimizer or torch.optim.SGD(model.parameters(), lr=1e-3)
    labels = torch.randint(10, (len(inputs),))

    def step() -> None:
        chosen.zero_grad()
        functional.cross_entropy(model(inputs), labels).backward()
        chosen.step()

    return step


def server(model: nn.Module, inputs: Tensor) -> Step:
    """An inference request."""
    model.eval()

    def step() -> None:
        with torch.inference_mode():
            model(inputs)

    return step
