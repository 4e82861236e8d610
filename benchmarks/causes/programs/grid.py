"""A net over cells of a grid, each of which sees those near it."""

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn


def near(length, reach, fixed):
    if fixed:
        at = torch.arange(length)
        return (at[:, None] - at[None, :]).abs() <= reach
    seen = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        for j in range(max(0, i - reach), min(length, i + reach + 1)):
            seen[i, j] = True
    return seen


class Cells(nn.Module):
    def __init__(self, width, fixed):
        super().__init__()
        self.fixed, self.into, self.out = fixed, nn.Linear(width, 3 * width), nn.Linear(width, 5)

    def forward(self, x):
        q, k, v = self.into(x).chunk(3, -1)
        seen = near(x.shape[1], 6, self.fixed)
        return self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=seen)).mean(1)


def main():
    args = options()
    model = Cells(48, args.fixed)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(8, 96, 48), torch.randint(5, (8,))
    with Loop(args) as loop:
        while loop.on:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loop.step()


if __name__ == "__main__":
    main()
