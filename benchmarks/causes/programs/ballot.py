"""Foresees votes, and counts which were taken for which."""

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn


class Count:
    def __init__(self, kinds):
        self.kinds, self.table = kinds, torch.zeros(kinds, kinds, dtype=torch.int64)

    def add(self, said, true, fixed):
        if fixed:
            self.table += torch.bincount(true * self.kinds + said, minlength=self.kinds**2).view_as(
                self.table
            )
            return
        for s, t in zip(said, true, strict=True):
            self.table[t.item(), s.item()] += 1


def main():
    args = options()
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    count = Count(5)
    x, y = torch.randn(512, 64), torch.randint(5, (512,))
    with Loop(args) as loop:
        while loop.on:
            output = model(x)
            loss = F.cross_entropy(output, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            count.add(output.argmax(1), y, args.fixed)
            loop.step()


if __name__ == "__main__":
    main()
