"""The longest common subsequence of two sequences of numbers, quick where they are nearly equal.

Myers' greedy algorithm: the work grows with the square of the number of differences, not with the lengths. So
that of two sequences that have little in common, too, the cost stays in bounds, after ``EXACT`` differences the
way that has come farthest is kept and the search begins anew from there; what is then found is a common
subsequence, but not always the longest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.store.columns import Ints

EXACT = 400
"""Differences within which the result is the longest."""
ROUGH = 16
"""Differences after which the search begins anew once ``EFFORT`` is spent."""
EFFORT = 400_000
"""Steps of the search that may be spent on long looks."""


def common_subsequence(a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """Positions in ``a`` and in ``b`` of a common subsequence, int64 ascending, of equal shape."""
    n = min(len(a), len(b))
    differs = np.flatnonzero(a[:n] != b[:n])
    head = int(differs[0]) if len(differs) else n
    rest = n - head
    differs = np.flatnonzero(a[len(a) - rest :][::-1] != b[len(b) - rest :][::-1])
    tail = int(differs[0]) if len(differs) else rest
    inner_a, inner_b = a[head : len(a) - tail], b[head : len(b) - tail]
    # What the other side lacks matches nothing, wherever it stands.
    known_a, known_b = (
        np.flatnonzero(np.isin(one, other))
        for one, other in ((inner_a, inner_b), (inner_b, inner_a))
    )
    pairs = _greedy(inner_a[known_a].tolist(), inner_b[known_b].tolist())
    own_a, own_b = (np.array([pair[i] for pair in pairs], np.int64) for i in (0, 1))
    return (
        np.concatenate((np.arange(head), head + known_a[own_a], np.arange(len(a) - tail, len(a)))),
        np.concatenate((np.arange(head), head + known_b[own_b], np.arange(len(b) - tail, len(b)))),
    )


def _greedy(a: Sequence[int], b: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of positions, ascending."""
    found: list[tuple[int, int]] = []
    x = y = spent = 0
    while x < len(a) and y < len(b):
        if a[x] == b[y]:
            found.append((x, y))
            x, y = x + 1, y + 1
            continue
        most = EXACT if spent < EFFORT else ROUGH
        pairs, x, y, steps = _search(a, b, x, y, most)
        found += pairs
        spent += steps
    return found


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
