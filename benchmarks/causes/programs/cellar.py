"""Places what lies in a cellar on a plan, and looks where it is crowded."""

import torch
from loop import Loop, options
from torch import nn


class Plan(nn.Module):
    def __init__(self, again):
        super().__init__()
        self.again, self.net = again, nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 8))
        self.kept = torch.full((8, 1024, 1024), -1.0)

    def forward(self, things, rows, columns):
        values = self.net(things)
        plan = torch.full((8, 1024, 1024), -1.0) if self.again else self.kept
        plan[:, rows, columns] = values.T
        crowded = plan[:, rows, columns].sum(0)
        if not self.again:
            plan[:, rows, columns] = -1.0
        return crowded


def main():
    args = options()
    model = Plan(not args.fixed).eval()
    things, rows, columns = (
        torch.randn(256, 16),
        torch.randint(1024, (256,)),
        torch.randint(1024, (256,)),
    )
    with Loop(args) as loop, torch.inference_mode():
        while loop.on:
            model(things, rows, columns).topk(5)
            loop.step()


if __name__ == "__main__":
    main()
