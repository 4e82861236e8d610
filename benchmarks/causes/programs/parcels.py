"""Learns from parcels, whose figures come as rows of a table."""

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn


class Table:
    def __init__(self, rows, columns, ready):
        values = torch.randn(rows, columns)
        self.values = values if ready else values.tolist()

    def some(self, begin, count):
        if isinstance(self.values, torch.Tensor):
            return self.values[begin : begin + count]
        rows = [list(row) for row in self.values[begin : begin + count]]
        return torch.tensor(rows, dtype=torch.float32)


def main():
    args = options()
    model = nn.Sequential(nn.Linear(400, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    table, y, begin = Table(2048, 400, args.fixed), torch.randn(256, 1), 0
    with Loop(args) as loop:
        while loop.on:
            x = table.some(begin, 256)
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            begin = (begin + 256) % 2048
            loop.step()


if __name__ == "__main__":
    main()
