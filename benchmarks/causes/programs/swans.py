"""Counts swans over an evening: one small net, asked again for each minute."""

import torch
from loop import Loop, options
from torch import nn
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import spectral_norm


class Minutes(nn.Module):
    def __init__(self, once):
        super().__init__()
        self.once, self.into, self.back = (
            once,
            spectral_norm(nn.Linear(96, 96)),
            spectral_norm(nn.Linear(96, 96)),
        )

    def all(self, x, state):
        for t in range(x.shape[1]):
            state = torch.tanh(self.into(x[:, t]) + self.back(state))
        return state

    def forward(self, x):
        state = torch.zeros(x.shape[0], 96)
        if self.once:
            with parametrize.cached():
                return self.all(x, state)
        return self.all(x, state)


def main():
    args = options()
    model = Minutes(args.fixed)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(8, 24, 96)
    with Loop(args) as loop:
        while loop.on:
            loss = model(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loop.step()


if __name__ == "__main__":
    main()
