"""Foresees how full the wards of a hospital are."""

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn


class Look:
    def __init__(self):
        self.seen = {}

    def attach(self, model):
        for name, module in model.named_modules():
            module.register_forward_hook(lambda m, given, got, name=name: self.note(name, got))

    def note(self, name, got):
        values = got.detach()
        dead = (values.abs() < 1e-6).float().mean().item()
        self.seen[name] = (
            values.mean().item(),
            values.std().item(),
            values.min().item(),
            values.max().item(),
            dead,
        )


def main():
    args = options()
    layers = [m for _ in range(16) for m in (nn.Linear(64, 64), nn.LayerNorm(64), nn.ReLU())]
    model = nn.Sequential(*layers, nn.Linear(64, 1))
    if not args.fixed:
        Look().attach(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(64, 64), torch.randn(64, 1)
    with Loop(args) as loop:
        while loop.on:
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loop.step()


if __name__ == "__main__":
    main()
