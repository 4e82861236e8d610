"""Two ranks that read files."""

import time

import torch
import torch.nn.functional as F
from loop import Loop, ranks
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    def __init__(self, wait):
        self.wait = wait

    def __len__(self):
        return 16 * 40

    def __getitem__(self, i):
        if self.wait:
            time.sleep(self.wait)
        return torch.randn(128), i % 10


def main(rank, args):
    loader = DataLoader(Files(0.002 if rank == 1 and not args.fixed else 0), batch_size=16)
    model = DistributedDataParallel(
        nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10))
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with Loop(args) as loop:
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loop.step()
            if not loop.on:
                break


if __name__ == "__main__":
    ranks(main)
