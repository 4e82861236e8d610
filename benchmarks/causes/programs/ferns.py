"""Tells ferns apart by what a net that exists already says of their pictures."""

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn


def main():
    args = options()
    sizes = [(3, 16, 2), (16, 32, 2), (32, 32, 1), (32, 48, 2)]
    known = nn.Sequential(
        *[m for a, b, s in sizes for m in (nn.Conv2d(a, b, 3, s, 1), nn.BatchNorm2d(b), nn.ReLU())]
    )
    known.eval()
    if args.fixed:
        known.requires_grad_(False)
    head = nn.Linear(48, 12)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.01)
    x, y = torch.randn(8, 3, 64, 64), torch.randint(12, (8,))
    with Loop(args) as loop:
        while loop.on:
            loss = F.cross_entropy(head(known(x).mean((2, 3))), y)
            known.zero_grad()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loop.step()


if __name__ == "__main__":
    main()
