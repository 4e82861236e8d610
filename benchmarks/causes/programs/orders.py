"""Learns from orders, and keeps a record of each step."""

import json
from pathlib import Path

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn


class Journal:
    def __init__(self, path, whole):
        self.file, self.whole = path.open("w"), whole

    def add(self, step, loss, output, model):
        row = {"step": step, "loss": loss.item()}
        if self.whole:
            row["output"] = output.tolist()
            row["layers"] = {name: p.grad.tolist() for name, p in model.named_parameters()}
        self.file.write(json.dumps(row) + "\n")
        self.file.flush()


def main():
    args = options()
    model = nn.Sequential(
        nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 64), nn.ReLU(), nn.Linear(64, 8)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    journal = Journal(Path(args.out) / "rows.jsonl", not args.fixed)
    x, y = torch.randn(256, 64), torch.randint(8, (256,))
    step = 0
    with Loop(args) as loop:
        while loop.on:
            output = model(x)
            loss = F.cross_entropy(output, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            journal.add(step, loss, output, model)
            step += 1
            loop.step()


if __name__ == "__main__":
    main()
