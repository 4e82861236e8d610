"""Sorts recipes by what stands in them."""

import random
import re

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn

PARTS = re.compile(r"[a-z]+(?:'[a-z]+)?|[0-9]+(?:[.,/][0-9]+)?|[^\sa-z0-9]", re.IGNORECASE)


class Reader:
    def __init__(self, texts, once):
        self.texts, self.known = texts, {}
        self.read = [self.numbers(text) for text in texts] if once else None

    def numbers(self, text):
        return [
            self.known.setdefault(part.lower(), len(self.known) % 2000)
            for part in PARTS.findall(text)
        ]

    def batch(self, length):
        rows = self.read or [self.numbers(text) for text in self.texts]
        return torch.tensor([row[:length] for row in rows])


def main():
    args = options()
    kinds = ["flour", "1/2", "eggs,", "don't", "stir", "Bake", "40", "minutes.", "(salt)", "milk;"]
    texts = [" ".join(random.choices(kinds, k=600)) for _ in range(32)]
    reader = Reader(texts, args.fixed)
    words, head = (
        nn.Embedding(2000, 32),
        nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 6)),
    )
    optimizer = torch.optim.SGD([*words.parameters(), *head.parameters()], lr=0.01)
    y = torch.randint(6, (32,))
    with Loop(args) as loop:
        while loop.on:
            loss = F.cross_entropy(head(words(reader.batch(64)).mean(1)), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loop.step()


if __name__ == "__main__":
    main()
