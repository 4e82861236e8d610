"""Tells stories: each step writes some tokens of four of them."""

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.into, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x, past):
        batch, length, width = x.shape
        q, k, v = self.into(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=length > 1)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.wide(x), (k, v)


class Teller(nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.words, self.head = nn.Embedding(512, width), nn.Linear(width, 512)
        self.layers = nn.ModuleList(Layer(width, 4) for _ in range(layers))

    def forward(self, tokens, past):
        x, kept = self.words(tokens), []
        for i, layer in enumerate(self.layers):
            x, own = layer(x, past and past[i])
            kept.append(own)
        return self.head(x[:, -1]), kept


def tell(model, tokens, count, short):
    past, given = None, tokens
    for _ in range(count):
        scores, kept = model(given, past)
        chosen = scores.argmax(-1, keepdim=True)
        tokens = torch.cat([tokens, chosen], 1)
        past, given = (kept, chosen) if short else (None, tokens)
    return tokens


def main():
    args = options()
    model, begin = Teller(96, 2).eval(), torch.randint(512, (4, 48))
    with Loop(args) as loop, torch.inference_mode():
        while loop.on:
            tell(model, begin, 16, args.fixed)
            loop.step()


if __name__ == "__main__":
    main()
