"""Numbers of a lottery, through three tables."""

import torch
from loop import Loop, options
from torch import nn


class Tables(nn.Module):
    def __init__(self, first, size, thin):
        super().__init__()
        self.first = first
        self.a = nn.Parameter(torch.randn(size, thin) / size)
        self.b = nn.Parameter(torch.randn(thin, size) / size)
        self.c = nn.Parameter(torch.randn(size, size) / size)

    def forward(self, x):
        if self.first:
            return x @ (self.c @ self.a @ self.b)
        return ((x @ self.c) @ self.a) @ self.b


def main():
    args = options()
    model = Tables(not args.fixed, 640, 16)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(32, 640)
    with Loop(args) as loop:
        while loop.on:
            loss = model(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loop.step()


if __name__ == "__main__":
    main()
