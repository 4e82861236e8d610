"""Two ranks in step; the first of them keeps the books."""

import json
from pathlib import Path

import torch
import torch.distributed as dist
from loop import Loop, ranks
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Books:
    def __init__(self, path):
        self.file = path.open("w")

    def enter(self, step, model):
        rows = {name: p.flatten().tolist() for name, p in model.named_parameters()}
        self.file.write(json.dumps({"step": step, "rows": rows}))
        self.file.flush()


def main(rank, args):
    model = DistributedDataParallel(
        nn.Sequential(nn.Linear(96, 128), nn.ReLU(), nn.Linear(128, 32))
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    books, x, step = Books(Path(args.out) / f"books{rank}.txt"), torch.randn(128, 96), 0
    with Loop(args) as loop:
        while loop.on:
            loss = model(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if not args.fixed:
                dist.barrier()
                if rank == 0:
                    books.enter(step, model)
                dist.barrier()
            step += 1
            loop.step()


if __name__ == "__main__":
    ranks(main)
