"""Draws a map of points by how far each is from each other."""

import torch
from loop import Loop, options
from torch import nn


def far(a, b, fixed):
    if fixed:
        return torch.cdist(a, b)
    apart = a.unsqueeze(1) - b.unsqueeze(0)
    return (apart * apart).sum(-1).sqrt()


def main():
    args = options()
    net = nn.Sequential(nn.Linear(24, 48), nn.Tanh(), nn.Linear(48, 32))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    points, marks = torch.randn(300, 24), torch.randn(200, 32)
    with Loop(args) as loop:
        while loop.on:
            loss = far(net(points), marks, args.fixed).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loop.step()


if __name__ == "__main__":
    main()
