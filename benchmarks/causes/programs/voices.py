"""Scores recordings of voices with a small convolutional net."""

import torch
from loop import Loop, options
from torch import nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = [(1, 8), (8, 16), (16, 16), (16, 16)]
        self.body = nn.Sequential(
            *[m for a, b in sizes for m in (nn.Conv1d(a, b, 5, 2), nn.BatchNorm1d(b), nn.ReLU())]
        )
        self.head = nn.Linear(16, 4)

    def forward(self, sound):
        return self.head(self.body(sound).mean(-1))


def score(model, sounds, together):
    if together:
        return model(sounds)
    answers = []
    for sound in sounds:
        answers.append(model(sound.unsqueeze(0)))
    return torch.cat(answers)


def main():
    args = options()
    model = Scorer().eval()
    sounds = torch.randn(48, 1, 400)
    with Loop(args) as loop, torch.inference_mode():
        while loop.on:
            score(model, sounds, args.fixed).argmax(1)
            loop.step()


if __name__ == "__main__":
    main()
