"""Two ranks that compare how they do."""

import torch
import torch.distributed as dist
from loop import Loop, ranks
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def scores(output, world, together):
    values = [f(output[:, i]).detach() for i in range(24) for f in (torch.mean, torch.std)]
    if together:
        joined = torch.stack(values)
        dist.all_reduce(joined)
        return (joined / world).tolist()
    answers = []
    for value in values:
        value = value.clone()
        dist.all_reduce(value)
        answers.append((value / world).item())
    return answers


def main(rank, args):
    model = DistributedDataParallel(
        nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 24))
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(64, 64)
    with Loop(args) as loop:
        while loop.on:
            output = model(x)
            loss = output.pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scores(output, dist.get_world_size(), args.fixed)
            loop.step()


if __name__ == "__main__":
    ranks(main)
