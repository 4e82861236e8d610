"""Which name of one recording is which of another: the same, or the same but for numbers, template
arguments and instances.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Protocol

_CHANGING = (
    (re.compile(r"0x[0-9a-fA-F]+"), "0x"),
    (re.compile(r"\bf[a-z0-9]{40,}\b"), ""),  # the key of a compiled graph
    (re.compile(r": \d+/\d+(?:_\d+)?$"), ""),  # Torch-Compiled Region: 0/1
    (re.compile(r"(Backward)\d+\b"), r"\1"),
    (re.compile(r"(?:_\d+)+$"), ""),  # Linear_3, triton_poi_fused_add_0
)
_LONGEST = 4096


class Keys(Protocol):
    """Position → key: a sequence or a mapping."""

    def __getitem__(self, position: int, /) -> Hashable: ...


@lru_cache(maxsize=65536)
def plain_name(name: str) -> str:
    """A name without what differs from one recording of the same program to the next: ``Linear_3``
    → ``Linear``, ``AddBackward0`` → ``AddBackward``.
    """
    name = name[:_LONGEST]
    for pattern, text in _CHANGING:
        name = pattern.sub(text, name)
    return _without_arguments(name).strip()


def _without_arguments(name: str) -> str:
    """A name without its outermost template arguments; one whose brackets do not close stays."""
    if "<" not in name or name.startswith("<"):
        return name
    depth, kept = 0, []
    for letter in name:
        if letter == "<":
            depth += 1
        elif letter == ">" and depth:
            depth -= 1
        elif not depth:
            kept.append(letter)
    return name if depth else "".join(kept)


def pair_by(
    a: Sequence[int], b: Sequence[int], keys: Sequence[tuple[Keys, Keys]], alone: int
) -> list[tuple[int, int]]:
    """Pairs of positions of two lists, by one key after the other; who found a partner is out of
    the later rounds.

    ``a``, ``b``: the positions, the most important first: of several with the same key the first
    ones are paired first. ``keys``: of each round the keys of all positions of both lists. From
    round ``alone`` on a key counts only where one of each side has it. A key of None pairs nobody.
    """
    pairs: list[tuple[int, int]] = []
    left, right = list(a), list(b)
    for number, (of_a, of_b) in enumerate(keys):
        if not left or not right:
            break
        waiting: dict[Hashable, list[int]] = {}
        for j in right:
            if of_b[j] is not None:
                waiting.setdefault(of_b[j], []).append(j)
        asking: dict[Hashable, list[int]] = {}
        for i in left:
            if of_a[i] in waiting:
                asking.setdefault(of_a[i], []).append(i)
        found = [
            pair
            for key, those in asking.items()
            if number < alone or len(those) == len(waiting[key]) == 1
            for pair in zip(those, waiting[key], strict=False)
        ]
        pairs += found
        taken_a, taken_b = {i for i, _ in found}, {j for _, j in found}
        left, right = [i for i in left if i not in taken_a], [j for j in right if j not in taken_b]
    return pairs
