"""Learns how gears wear, with an update of its own."""

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn


class Own:
    def __init__(self, parameters, rate):
        self.parameters, self.rate = list(parameters), rate
        self.first = [torch.zeros_like(p) for p in self.parameters]
        self.second = [torch.zeros_like(p) for p in self.parameters]
        self.count = 0

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None

    @torch.no_grad()
    def step(self):
        self.count += 1
        for i, p in enumerate(self.parameters):
            self.first[i] = 0.9 * self.first[i] + 0.1 * p.grad
            self.second[i] = 0.999 * self.second[i] + 0.001 * p.grad * p.grad
            mean = self.first[i] / (1 - 0.9**self.count)
            square = self.second[i] / (1 - 0.999**self.count)
            p -= self.rate * mean / (square.sqrt() + 1e-8)


def main():
    args = options()
    layers = [m for _ in range(50) for m in (nn.Linear(20, 20), nn.Tanh())]
    model = nn.Sequential(*layers, nn.Linear(20, 1))
    optimizer = (
        torch.optim.Adam(model.parameters(), fused=True)
        if args.fixed
        else Own(model.parameters(), 1e-3)
    )
    x, y = torch.randn(16, 20), torch.randn(16, 1)
    with Loop(args) as loop:
        while loop.on:
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loop.step()


if __name__ == "__main__":
    main()
