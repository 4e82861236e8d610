"""The longest common subsequence of two sequences of numbers, or of each of many pairs of sequences, quick where they are
nearly equal.

What pairs begin and end with alike is matched first, of all pairs at once; then what only one side of a pair has is left out,
as long as that helps. What is left is for Myers' greedy algorithm, pair by pair: the work grows with the square of the number of
differences, not with the lengths. So that of two sequences that have little in common, too, the cost stays in bounds, after
``EXACT`` differences the way that has come farthest is kept and the search begins anew from there; what is then found is a common
subsequence, but not always the longest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import expand_ranges, mask_of, same_keys
from torch_tb_profiler.store.columns import Ints, Mask

EXACT = 400
"""Differences within which the result is the longest."""
ROUGH = 16
"""Differences after which the search begins anew once ``EFFORT`` is spent."""
EFFORT = 400_000
"""Steps of the search that may be spent on long looks."""


def common_subsequence(a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """Positions in ``a`` and in ``b`` of a common subsequence, int64 ascending, of equal shape."""
    return common_subsequences(a, b, (np.array([len(a)]), np.array([len(b)])))


def common_subsequences(a: Ints, b: Ints, lengths: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Positions in ``a`` and in ``b`` of a common subsequence of each pair of sequences, int64 of equal shape, those in ``a``
    ascending.

    Args:
        a, b: the sequences, one after the other.
        lengths: of those of each side, int64 of shape (pairs,).
    """
    at_a, at_b = np.arange(len(a)), np.arange(len(b))
    found: list[tuple[Ints, Ints]] = []
    while True:
        first_a, first_b = (np.cumsum(length) - length for length in lengths)
        least = np.minimum(*lengths)
        head = _alike(a, b, first_a, first_b, least, 1)
        ends = first_a + lengths[0], first_b + lengths[1]
        tail = _alike(a, b, ends[0] - 1, ends[1] - 1, least - head, -1)
        for from_a, from_b, count in ((first_a, first_b, head), (*(e - tail for e in ends), tail)):
            found.append((at_a[expand_ranges(from_a, count)], at_b[expand_ranges(from_b, count)]))
        left = [length - head - tail for length in lengths]
        open_ = np.flatnonzero((left[0] > 0) & (left[1] > 0))
        inner = [
            expand_ranges((first + head)[open_], length[open_])
            for first, length in zip((first_a, first_b), left, strict=True)
        ]
        pair = [np.repeat(np.arange(len(open_)), length[open_]) for length in left]
        a, b = same_keys((pair[0], a[inner[0]]), (pair[1], b[inner[1]]))
        # What the other side lacks matches nothing, wherever it stands.
        known = [_among(one, other) for one, other in ((a, b), (b, a))]
        a, b = a[known[0]], b[known[1]]
        at_a, at_b = at_a[inner[0]][known[0]], at_b[inner[1]][known[1]]
        counts = [
            np.bincount(one[own], minlength=len(open_))
            for one, own in zip(pair, known, strict=True)
        ]
        lengths = counts[0], counts[1]
        if all(own.all() for own in known):
            break
    found += _searched(a, b, at_a, at_b, lengths)
    i, j = (np.concatenate([both[side] for both in found]) for side in (0, 1))
    order = np.argsort(i, kind="stable")
    return i[order], j[order]


def _alike(a: Ints, b: Ints, first_a: Ints, first_b: Ints, length: Ints, by: int) -> Ints:
    """How many elements are equal from the first ones on, of at most ``length``; ``by`` −1: backward."""
    pair = np.repeat(np.arange(len(length)), length)
    place = expand_ranges(np.zeros(len(length), np.int64), length)
    other = np.flatnonzero(a[first_a[pair] + by * place] != b[first_b[pair] + by * place])[::-1]
    alike = np.array(length)
    # The last assignment wins: that of the first element that differs.
    alike[pair[other]] = place[other]
    return alike


def _among(keys: Ints, others: Ints) -> Mask:
    there = mask_of(int(max(keys.max(initial=-1), others.max(initial=-1))) + 1, others)
    return np.asarray(there[keys])


def _searched(
    a: Ints, b: Ints, at_a: Ints, at_b: Ints, lengths: tuple[Ints, Ints]
) -> Iterator[tuple[Ints, Ints]]:
    """What the search finds, pair by pair; all of them share the effort."""
    spent = from_a = from_b = 0
    for n, m in zip(*(length.tolist() for length in lengths), strict=True):
        own_a, own_b = slice(from_a, from_a + n), slice(from_b, from_b + m)
        pairs, spent = _greedy(a[own_a].tolist(), b[own_b].tolist(), spent)
        i, j = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
        yield at_a[own_a][i], at_b[own_b][j]
        from_a, from_b = from_a + n, from_b + m


def _greedy(a: Sequence[int], b: Sequence[int], spent: int) -> tuple[list[tuple[int, int]], int]:
    """Pairs of positions, ascending, and the effort with what was ``spent`` before."""
    found: list[tuple[int, int]] = []
    x = y = 0
    while x < len(a) and y < len(b):
        if a[x] == b[y]:
            found.append((x, y))
            x, y = x + 1, y + 1
            continue
        most = EXACT if spent < EFFORT else ROUGH
        pairs, x, y, steps = _search(a, b, x, y, most)
        found += pairs
        spent += steps
    return found, spent


def _search(
    a: Sequence[int], b: Sequence[int], x0: int, y0: int, most: int
) -> tuple[list[tuple[int, int]], int, int, int]:
    """The pairs on the way from (x0, y0) to the end of both, or to the farthest point within ``most``
    differences; that point; and the steps that were needed.
    """
    n, m = len(a), len(b)
    reached = {1: x0}
    history: list[dict[int, int]] = []
    best, best_k, steps = x0 + y0, 0, 0
    done = False
    for depth in range(most + 1):
        history.append(reached.copy())
        for k in range(-depth, depth + 1, 2):
            steps += 1
            down = k == -depth or (k != depth and reached.get(k - 1, -1) < reached.get(k + 1, -1))
            x = reached[k + 1] if down else reached[k - 1] + 1
            y = y0 + (x - x0) - k
            if x > n or y > m:
                # Beyond the end of one of the two.
                reached[k] = x
                continue
            while x < n and y < m and a[x] == b[y]:
                x, y = x + 1, y + 1
            reached[k] = x
            if x + y > best:
                best, best_k = x + y, k
            if x >= n and y >= m:
                best_k, done = k, True
                break
        if done:
            break
    return (*_walked_back(history, reached, best_k, x0, y0), steps)


def _walked_back(
    history: list[dict[int, int]], last: dict[int, int], k: int, x0: int, y0: int
) -> tuple[list[tuple[int, int]], int, int]:
    x = last[k]
    y = y0 + (x - x0) - k
    end = x, y
    depth = next(
        d
        for d in range(len(history))
        if (history[d + 1] if d + 1 < len(history) else last).get(k) == x
    )
    pairs: list[tuple[int, int]] = []
    for d in range(depth, -1, -1):
        before = history[d]
        down = k == -d or (k != d and before.get(k - 1, -1) < before.get(k + 1, -1))
        came_x = before[k + 1] if down else before[k - 1] + 1
        while x > came_x:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        if not d:
            break
        k = k + 1 if down else k - 1
        x = before[k]
        y = y0 + (x - x0) - k
    return pairs[::-1], *end
