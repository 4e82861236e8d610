"""Two ranks that read notes; those of one are longer."""

import torch
from loop import Loop, ranks
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main(rank, args):
    net = nn.GRU(48, 96, 2, batch_first=True)
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    length = 8 if args.fixed else 8 + 40 * rank
    notes = torch.randn(16, length, 48)
    with Loop(args) as loop:
        while loop.on:
            output, _ = model(notes)
            loss = output.pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loop.step()


if __name__ == "__main__":
    ranks(main)
