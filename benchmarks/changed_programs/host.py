"""Changes of what the program does beside its network."""

from __future__ import annotations

import json
import time

import torch
from torch import Tensor, nn
from torch.nn import functional

from changed_programs import Step, pair
from changed_programs.models import cnn, mlp, trainer


def poll() -> None:
    """Somebody waits for something that is there already."""
    time.sleep(0.01)


@pair("A `sleep` dropped", "scale:name=*: poll,factor=0")
def without_sleep(changed: bool) -> Step:
    train = trainer(cnn(), torch.randn(8, 3, 32, 32))

    def step() -> None:
        if not changed:
            poll()
        train()

    return step


def write_log(model: nn.Module) -> str:
    """Statistics of all weights as a line of JSON."""
    rows = {}
    for name, weight in model.named_parameters():
        flat = weight.detach().flatten()
        rows[name] = {
            "histogram": torch.histc(flat, 64).tolist(),
            "norm": flat.norm().item(),
            "median": flat.median().item(),
        }
    return json.dumps(rows)


@pair("Statistics of the weights no longer logged", "scale:name=*: write_log,factor=0")
def without_logging(changed: bool) -> Step:
    model = mlp(512, 4)
    train = trainer(model, torch.randn(512, 512))

    def step() -> None:
        train()
        if not changed:
            write_log(model)

    return step


def accuracy(scores: list[list[float]], labels: list[int]) -> float:
    """Share of rows whose largest score is that of the label, without PyTorch."""
    hits = 0
    for row, label in zip(scores, labels, strict=True):
        best = 0
        for i, score in enumerate(row):
            if score > row[best]:
                best = i
        hits += best == label
    return hits / len(labels)


@pair("A metric in plain Python dropped", "scale:name=*: accuracy,factor=0")
def without_python_loop(changed: bool) -> Step:
    model = mlp(512, 3)
    inputs, labels = torch.randn(512, 512), torch.randint(10, (512,))
    head = nn.Linear(10, 200)
    targets = labels.tolist()

    def step() -> None:
        scores = head(model(inputs))
        functional.cross_entropy(scores, labels).backward()
        rows = scores.tolist()
        if not changed:
            accuracy(rows, targets)

    return step


def evaluate(model: nn.Module, inputs: Tensor) -> None:
    with torch.inference_mode():
        model(inputs)


@pair("No evaluation within each step", "scale:name=*: evaluate,factor=0")
def without_evaluation(changed: bool) -> Step:
    model, inputs = cnn(), torch.randn(8, 3, 32, 32)
    train = trainer(model, inputs)

    def step() -> None:
        train()
        if not changed:
            evaluate(model, inputs)

    return step


def digest(x: Tensor) -> int:
    """A number that tells two runs apart."""
    return hash(tuple(x.flatten()[::16].tolist()))


@pair("Hidden states no longer hashed", "scale:name=*: digest,factor=0")
def without_digests(changed: bool) -> Step:
    model, inputs = mlp(512, 4), torch.randn(256, 512)

    def step() -> None:
        with torch.inference_mode():
            x = inputs
            for layer in model:
                x = layer(x)
                if not changed:
                    digest(x)

    return step
