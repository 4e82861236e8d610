"""A small language model on windows of a novel."""

import math

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads, length, plain):
        super().__init__()
        self.heads, self.plain = heads, plain
        self.before, self.into, self.out = (
            nn.LayerNorm(width),
            nn.Linear(width, 3 * width),
            nn.Linear(width, width),
        )
        self.register_buffer("later", torch.ones(length, length, dtype=torch.bool).triu(1))

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.into(self.before(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        if self.plain:
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
            scores = scores.masked_fill(self.later, float("-inf"))
            y = torch.softmax(scores, dim=-1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(y.transpose(1, 2).reshape(batch, length, width))


def main():
    args = options()
    length = 384
    body = [Block(64, 4, length, not args.fixed) for _ in range(2)]
    model = nn.Sequential(nn.Embedding(256, 64), *body, nn.Linear(64, 256))
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    text = torch.randint(256, (2, length + 1))
    with Loop(args) as loop:
        while loop.on:
            loss = F.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loop.step()


if __name__ == "__main__":
    main()
