"""Finds kites in pictures."""

import torch
from loop import Loop, options
from torch import nn


def main():
    args = options()
    sizes = [(3, 16, 2), (16, 32, 1), (32, 32, 2), (32, 48, 1)]
    body = [m for a, b, s in sizes for m in (nn.Conv2d(a, b, 3, s, 1), nn.ReLU())]
    model = nn.Sequential(*body, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(48, 2)).eval()
    kind = torch.float32 if args.fixed else torch.float16
    model = model.to(kind)
    x = torch.randn(2, 3, 56, 56, dtype=kind)
    with Loop(args) as loop, torch.inference_mode():
        while loop.on:
            model(x).argmax(1)
            loop.step()


if __name__ == "__main__":
    main()
