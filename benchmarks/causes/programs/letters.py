"""Fills gaps in letters: a few tokens of each are hidden and have to be told."""

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn


class Filler(nn.Module):
    def __init__(self, few):
        super().__init__()
        self.few, self.words = few, nn.Embedding(8000, 64)
        self.body = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 64))
        self.head = nn.Linear(64, 8000)

    def forward(self, tokens, hidden):
        x = self.body(self.words(tokens))
        if self.few:
            return self.head(x[hidden])
        return self.head(x)[hidden]


def main():
    args = options()
    model = Filler(args.fixed)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    tokens = torch.randint(8000, (4, 96))
    hidden = torch.rand(4, 96) < 0.12
    with Loop(args) as loop:
        while loop.on:
            loss = F.cross_entropy(model(tokens, hidden), tokens[hidden])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loop.step()


if __name__ == "__main__":
    main()
