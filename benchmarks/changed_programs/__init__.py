"""Small programs and one change of each, for ``benchmarks/predictions.py``."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field

Step = Callable[[], object]
"""One training step or one request."""
Factor = float | Callable[[bool], Step]
"""Known beforehand, or how to make what is timed for it, before and after the change."""


@dataclass(frozen=True)
class Pair:
    """A program, a change of it, and the change as it is told to ``whatif``.

    build: makes the program, changed or not, and returns its step. change: in braces stand the
    factors. ranks: processes, joined over gloo; rank: the one
    whose trace is read, −1 all of them. threads: of PyTorch, before and after.
    """

    name: str
    title: str
    change: tuple[str, ...]
    build: Callable[[bool], Step]
    factors: dict[str, Factor] = field(default_factory=dict)
    ranks: int = 1
    rank: int = 0
    threads: tuple[int, int] = (1, 1)


PAIRS: dict[str, Pair] = {}


def pair(
    title: str,
    *change: str,
    ranks: int = 1,
    rank: int = 0,
    threads: tuple[int, int] = (1, 1),
    **factors: Factor,
) -> Callable[[Callable[[bool], Step]], Callable[[bool], Step]]:
    """Lists the program that follows, under its own name."""

    def listed(build: Callable[[bool], Step]) -> Callable[[bool], Step]:
        name = build.__name__
        PAIRS[name] = Pair(name, title, change, build, factors, ranks, rank, threads)
        return build

    return listed


def pairs() -> dict[str, Pair]:
    """All pairs by name."""
    for module in ("data", "operators", "training", "host", "ranks"):
        importlib.import_module(f"changed_programs.{module}")
    return PAIRS
