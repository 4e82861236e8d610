"""Detects leaks in pipes; the noise that it adds falls from step to step."""

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn

torch._dynamo.config.recompile_limit = 64


class Leaks(nn.Module):
    def __init__(self, counts):
        super().__init__()
        self.counts, self.turn = counts, 0
        self.register_buffer("share", torch.ones(()))
        self.body = nn.Sequential(
            nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
        )

    def forward(self, x):
        share = 1.0 / (1 + self.turn) if self.counts else self.share
        return self.body(x + share * torch.sin(x))


def main():
    args = options()
    model = Leaks(not args.fixed)
    quick = torch.compile(model, backend="eager")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(64, 64), torch.randint(2, (64,))
    with Loop(args) as loop:
        while loop.on:
            loss = F.cross_entropy(quick(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if not args.fixed:
                model.turn += 1
            loop.step()


if __name__ == "__main__":
    main()
