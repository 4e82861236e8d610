"""A weather forecast that is trained, and now and then compared with a year that it has not seen."""

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn


def error_on(model, days, values):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for i in range(0, len(days), 64):
            total += F.l1_loss(model(days[i : i + 64]), values[i : i + 64], reduction="sum").item()
    model.train()
    return total / len(days)


def main():
    args = options()
    model = nn.Sequential(
        nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1)
    )
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    x, y = torch.randn(128, 128), torch.randn(128, 1)
    unseen, truth = torch.randn(64 * 80, 128), torch.randn(64 * 80, 1)
    every, count, best = 1000 if args.fixed else 4, 0, float("inf")
    with Loop(args) as loop:
        while loop.on:
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            count += 1
            if count % every == 0:
                best = min(best, error_on(model, unseen, truth))
            loop.step()


if __name__ == "__main__":
    main()
