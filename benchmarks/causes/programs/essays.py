"""Grades essays: a feed-forward net over their sentences."""

import math

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn


class Even(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        variance = ((x - mean) ** 2).mean(-1, keepdim=True)
        return (x - mean) / torch.sqrt(variance + 1e-5) * self.gain + self.shift


class Bend(nn.Module):
    def forward(self, x):
        return (
            0.5
            * x
            * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))
        )


def main():
    args = options()
    width, parts = 96, []
    for _ in range(4):
        if args.fixed:
            parts += [nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(approximate="tanh")]
        else:
            parts += [Even(width), nn.Linear(width, width), Bend()]
    model = nn.Sequential(*parts, nn.Linear(width, 6))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(1024, width), torch.randint(6, (1024,))
    with Loop(args) as loop:
        while loop.on:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loop.step()


if __name__ == "__main__":
    main()
