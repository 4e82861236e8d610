"""Reads a diary; what happens is told to whoever wants to hear it."""

import logging

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn

log = logging.getLogger("diary")


def tell(step, loss, model, fixed):
    if fixed:
        log.debug("step %d: %s", step, loss.detach())
        return
    log.debug(f"step {step}: {loss}")
    for name, p in model.named_parameters():
        log.debug(f"  {name}: {p.data} moves by {p.grad}")


def main():
    args = options()
    layers = [m for _ in range(3) for m in (nn.Linear(48, 48), nn.ReLU())]
    model = nn.Sequential(*layers, nn.Linear(48, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y, step = torch.randn(64, 48), torch.randint(2, (64,)), 0
    with Loop(args) as loop:
        while loop.on:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            tell(step, loss, model, args.fixed)
            optimizer.step()
            step += 1
            loop.step()


if __name__ == "__main__":
    main()
