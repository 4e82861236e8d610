"""Guesses medals, and tells in each step how good and how sure the guesses are."""

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn


def good(output, y):
    return (output.argmax(1) == y).float().mean().item()


def sure(output):
    return output.softmax(1).amax(1).mean().item()


def main():
    args = options()
    layers = [m for _ in range(3) for m in (nn.Linear(384, 384), nn.ReLU())]
    model = nn.Sequential(*layers, nn.Linear(384, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(256, 384), torch.randint(4, (256,))
    with Loop(args) as loop:
        while loop.on:
            output = model(x)
            loss = F.cross_entropy(output, y)
            optimizer.zero_grad()
            loss.backward()
            if args.fixed:
                good(output, y), sure(output)
            else:
                good(model(x), y), sure(model(x))
                F.cross_entropy(model(x), y).item()
            optimizer.step()
            loop.step()


if __name__ == "__main__":
    main()
