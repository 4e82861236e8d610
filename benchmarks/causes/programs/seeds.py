"""Which seeds were bought together: a vector for each kind."""

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn


class Kinds(nn.Module):
    def __init__(self, count, width, plain):
        super().__init__()
        self.count, self.plain = count, plain
        self.vectors = nn.Parameter(torch.randn(count, width) / width)

    def forward(self, bought):
        if self.plain:
            return F.one_hot(bought, self.count).float() @ self.vectors
        return F.embedding(bought, self.vectors)


def main():
    args = options()
    kinds, head = Kinds(4000, 48, not args.fixed), nn.Linear(48, 4)
    optimizer = torch.optim.SGD([*kinds.parameters(), *head.parameters()], lr=0.01)
    bought, y = torch.randint(4000, (128, 4)), torch.randint(4, (128,))
    with Loop(args) as loop:
        while loop.on:
            loss = F.cross_entropy(head(kinds(bought).mean(1)), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loop.step()


if __name__ == "__main__":
    main()
