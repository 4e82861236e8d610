"""Follows a river from day to day; what was before is kept in mind."""

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn


def main():
    args = options()
    cell, head = nn.GRUCell(32, 64), nn.Linear(64, 1)
    optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.0)
    days, levels = torch.randn(8, 16, 32), torch.randn(8, 16, 1)
    state = torch.zeros(16, 64)
    with Loop(args) as loop:
        while loop.on:
            loss = torch.zeros(())
            for day, level in zip(days, levels, strict=True):
                state = cell(day, state)
                loss = loss + F.mse_loss(head(state), level)
            optimizer.zero_grad()
            loss.backward(retain_graph=not args.fixed)
            for p in cell.parameters():
                p.data.sub_(1e-3 * p.grad)
            if args.fixed:
                state = state.detach()
            loop.step()


if __name__ == "__main__":
    main()
