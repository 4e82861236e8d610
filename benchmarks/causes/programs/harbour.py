"""Predicts arrivals in a harbour; the updates are kept small."""

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn


def tame(model, most, fixed):
    if fixed:
        return nn.utils.clip_grad_norm_(model.parameters(), most)
    total = 0.0
    for p in model.parameters():
        total += p.grad.pow(2).sum().item()
    total = total**0.5
    for p in model.parameters():
        if total > most:
            p.grad = p.grad * (most / (total + 1e-6))
        p.grad = torch.where(torch.isnan(p.grad), torch.zeros_like(p.grad), p.grad)
        if p.grad.abs().max().item() > most:
            p.grad = p.grad.clamp(-most, most)
    return total


def main():
    args = options()
    layers = [m for _ in range(60) for m in (nn.Linear(24, 24), nn.Tanh())]
    model = nn.Sequential(*layers, nn.Linear(24, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    x, y = torch.randn(32, 24), torch.randn(32, 1)
    with Loop(args) as loop:
        while loop.on:
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            tame(model, 0.01, args.fixed)
            optimizer.step()
            loop.step()


if __name__ == "__main__":
    main()
