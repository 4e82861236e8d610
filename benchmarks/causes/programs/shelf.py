"""Suggests books; what a reader liked before is tried anew after each step."""

import copy

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn


class Best:
    def __init__(self):
        self.loss, self.kept = float("inf"), None

    def take(self, loss, model, optimizer):
        self.loss = min(self.loss, loss)
        self.kept = copy.deepcopy((model, optimizer.state_dict()))


def main():
    args = options()
    model = nn.Sequential(
        nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 20)
    )
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    best, x, y, step = Best(), torch.randn(16, 256), torch.randint(20, (16,)), 0
    with Loop(args) as loop:
        while loop.on:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if not args.fixed or step % 1000 == 0:
                best.take(loss.item(), model, optimizer)
            loop.step()


if __name__ == "__main__":
    main()
