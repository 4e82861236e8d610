"""Which names of two recordings are one, also if they differ in numbers, template arguments or instances."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Protocol

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.strings import StringTable

_CHANGING = (
    (regex(r"0x[0-9a-fA-F]+"), "0x"),
    (regex(r"\bf[a-z0-9]{40,}\b"), ""),  # the key of a compiled graph
    (regex(r": \d+/\d+(?:_\d+)?$"), ""),  # Torch-Compiled Region: 0/1
    (regex(r"(Backward)\d+\b"), r"\1"),
    (regex(r"(?:_\d+)+$"), ""),  # Linear_3, triton_poi_fused_add_0
)
_LONGEST = 4096
_NUMBER = regex(r"\d+")


def without_numbers(name: str) -> str:
    """The name of an annotation without its numbers, which count steps and requests: ``step 12`` → ``step #``."""
    return _NUMBER.sub("#", name)


def same_texts(*sides: tuple[StringTable, Array, Array | bool]) -> list[Ints]:
    """A number for each text of a column of each side, equal where the texts are; where the last is True, but for their numbers."""
    numbers: dict[str, int] = {}
    found = []
    for strings, column, counts in sides:
        first, place = group_rows((column, np.broadcast_to(counts, column.shape)))
        counted = np.broadcast_to(counts, column.shape)[first].tolist()
        texts = zip(strings.many(column[first]), counted, strict=True)
        shown = [without_numbers(text) if aside else text for text, aside in texts]
        number = [numbers.setdefault(text, len(numbers)) for text in shown]
        found.append(np.array(number, np.int64)[place])
    return found


class Keys(Protocol):
    """Position → key: a sequence or a mapping."""

    def __getitem__(self, position: int, /) -> Hashable: ...


@lru_cache(maxsize=65536)
def stable_name(name: str) -> str:
    """A name without what differs between recordings of one program: ``Linear_3`` → ``Linear``."""
    name = name[:_LONGEST]
    for pattern, text in _CHANGING:
        name = pattern.sub(text, name)
    return _without_arguments(name).strip()


def _without_arguments(name: str) -> str:
    """A name without its outermost template arguments, if the brackets balance."""
    if "<" not in name or name.startswith("<"):
        return name
    depth, letters = 0, []
    for letter in name:
        if letter == "<":
            depth += 1
        elif letter == ">" and depth:
            depth -= 1
        elif not depth:
            letters.append(letter)
    return name if depth else "".join(letters)


def pair_by(
    a: Sequence[int], b: Sequence[int], keys: Sequence[tuple[Keys, Keys]], unique_from: int
) -> list[tuple[int, int]]:
    """Pairs of positions of two lists, by one key after the other; paired positions drop out.

    a, b: the positions, most important first: among equal keys the first ones pair.
    keys: for each round the keys of both lists, by position; None never pairs.
    unique_from: from this round on a key pairs only if it is unique on each side.
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
        new_pairs = [
            pair
            for key, positions in asking.items()
            if number < unique_from or len(positions) == len(waiting[key]) == 1
            for pair in zip(positions, waiting[key], strict=False)
        ]
        pairs += new_pairs
        taken_a, taken_b = {i for i, _ in new_pairs}, {j for _, j in new_pairs}
        left, right = [i for i in left if i not in taken_a], [j for j in right if j not in taken_b]
    return pairs


def pair_all(
    a: Sequence[int], b: Sequence[int], keys: Sequence[tuple[Keys, Keys]], unique_from: int
) -> list[tuple[int, int]]:
    """``pair_by``, followed by the unpaired positions with −1 for the other side."""
    pairs = pair_by(a, b, keys, unique_from)
    with_a, with_b = {i for i, _ in pairs}, {j for _, j in pairs}
    pairs += [(i, -1) for i in a if i not in with_a]
    return pairs + [(-1, j) for j in b if j not in with_b]
