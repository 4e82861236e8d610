"""Matches the paths of two call trees by structure.

From the root down, the children of two matched paths are paired:

1. operators and annotations of the same name; modules of the same class, in order if both sides have
   equally many, else by the best alignment on name, shape and cost (``align``);
2. the rest by ``names.stable_name``;
3. a remaining path that encloses remaining paths of the other side, at most ``DEEPEST`` levels down,
   is a wrapper that the other side lacks (``OptimizedModule_0`` around a module);
4. a single path left on each side, of one kind and both with or both without device work, was
   renamed; then one with device work, whatever its kind (a module and its compiled region).

Whatever remains is new or gone, with everything beneath it.
"""

from __future__ import annotations

from collections.abc import Hashable

import msgspec

from torch_tb_profiler.analysis.match.names import pair_by, stable_name
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight_schema import PathKind

MOST_ALIGNED = 50_000
"""Pairs of children that are aligned by score; beyond, the order decides."""
DEEPEST = 3
_MODULE, _OPERATOR = int(PathKind.MODULE), int(PathKind.OPERATOR)
_SAME_NAME, _SAME_SHAPE, _LIKE_COST = 0.5, 1.0, 0.5


class PathCosts(msgspec.Struct, frozen=True):
    """The paths of one side that ran in the compared steps, parents before children, siblings by
    first call.

    row: row of ``paths``.
    parent: position here, −1 none.
    host, device: total, ns per step.
    own: self time in ns per step, on the device, or on the host with runtime calls where devices
        are not compared.
    """

    row: Ints
    parent: Ints
    kind: Array
    backward: Array
    name: tuple[str, ...]
    event: Array
    calls: Array
    host: Array
    device: Array
    own: Array

    def children(self) -> list[list[int]]:
        """Positions of the children of every path; last those without a parent."""
        listed: list[list[int]] = [[] for _ in range(len(self.row) + 1)]
        for path, parent in enumerate(self.parent.tolist()):
            listed[parent].append(path)
        return listed


class _Tree(msgspec.Struct):
    """One side while it is matched; lists of one entry per path.

    plain, exact: kind, direction and plain or full name.
    shape: equal for equal subtrees of plain names.
    like: kind, direction and whether it has device work.
    busy: the direction where it has device work, else None.
    """

    costs: PathCosts
    children: list[list[int]]
    plain: list[tuple[int, bool, str]]
    exact: list[tuple[int, bool, str]]
    shape: list[int]
    like: list[Hashable]
    busy: list[Hashable]


class MatchedPaths(msgspec.Struct):
    """The merged tree, parents before children: parent, path of A, path of B; −1 absent."""

    parent: list[int] = msgspec.field(default_factory=list)
    a: list[int] = msgspec.field(default_factory=list)
    b: list[int] = msgspec.field(default_factory=list)

    def add(self, parent: int, a: int, b: int) -> int:
        """Append a node; returns its number."""
        self.parent.append(parent)
        self.a.append(a)
        self.b.append(b)
        return len(self.parent) - 1


def match_paths(a: PathCosts, b: PathCosts) -> MatchedPaths:
    """All paths of both sides, each exactly once, paired where they match."""
    shapes: dict[Hashable, int] = {}
    left, right = _tree(a, shapes), _tree(b, shapes)
    matched = MatchedPaths()
    waiting = [(-1, left.children[-1], right.children[-1])]
    while waiting:
        parent, of_a, of_b = waiting.pop()
        pairs = _pair(left, right, of_a, of_b)
        paired_a, paired_b = {i for i, _ in pairs}, {j for _, j in pairs}
        rest_a = [i for i in of_a if i not in paired_a]
        rest_b = [j for j in of_b if j not in paired_b]
        waiting += [
            (matched.add(parent, i, j), left.children[i], right.children[j]) for i, j in pairs
        ]
        if rest_a and rest_b:
            rest_a, rest_b = _wrappers(matched, parent, left, right, rest_a, rest_b, waiting)
        waiting += [(matched.add(parent, i, -1), left.children[i], []) for i in rest_a]
        waiting += [(matched.add(parent, -1, j), [], right.children[j]) for j in rest_b]
    return matched


def _tree(costs: PathCosts, shapes: dict[Hashable, int]) -> _Tree:
    children = costs.children()
    kinds, backward = costs.kind.tolist(), costs.backward.tolist()
    plain = [
        (k, w, stable_name(name)) for k, w, name in zip(kinds, backward, costs.name, strict=True)
    ]
    shape = [0] * len(plain)
    for path in range(len(plain) - 1, -1, -1):
        key = (plain[path], tuple(sorted(shape[child] for child in children[path])))
        shape[path] = shapes.setdefault(key, len(shapes))
    device = (costs.device > 0).tolist()
    return _Tree(
        costs,
        children,
        plain,
        list(zip(kinds, backward, costs.name, strict=True)),
        shape,
        list(zip(kinds, backward, device, strict=True)),
        [direction if on else None for direction, on in zip(backward, device, strict=True)],
    )


def _pair(left: _Tree, right: _Tree, of_a: list[int], of_b: list[int]) -> list[tuple[int, int]]:
    if not of_a or not of_b:
        return []
    if [left.exact[i] for i in of_a] == [right.exact[j] for j in of_b]:
        return list(zip(of_a, of_b, strict=True))
    pairs = _pair_modules(left, right, of_a, of_b)
    calls_a, calls_b = (
        [path for path in paths if tree.plain[path][0] != _MODULE]
        for tree, paths in ((left, of_a), (right, of_b))
    )
    keys = [(left.exact, right.exact), (left.plain, right.plain)]
    return pairs + pair_by(calls_a, calls_b, keys, unique_from=2)


def _pair_modules(
    left: _Tree, right: _Tree, of_a: list[int], of_b: list[int]
) -> list[tuple[int, int]]:
    """Pair modules by order within their class: every recording numbers instances anew."""
    classes: dict[Hashable, tuple[list[int], list[int]]] = {}
    for tree, paths, side in ((left, of_a, 0), (right, of_b, 1)):
        for path in paths:
            if tree.plain[path][0] == _MODULE:
                classes.setdefault(tree.plain[path], ([], []))[side].append(path)
    pairs: list[tuple[int, int]] = []
    for paths_a, paths_b in classes.values():
        if len(paths_a) == len(paths_b) or len(paths_a) * len(paths_b) > MOST_ALIGNED:
            pairs += zip(paths_a, paths_b, strict=False)
        elif paths_a and paths_b:
            pairs += align(left, right, paths_a, paths_b)
    return pairs


def align(left: _Tree, right: _Tree, of_a: list[int], of_b: list[int]) -> list[tuple[int, int]]:
    """The order-preserving alignment of two rows of one class with the highest total likeness.

    S. B. Needleman, C. D. Wunsch, 1970, without gap costs.
    """
    n, m = len(of_a), len(of_b)
    likeness = [[_likeness(left, right, i, j) for j in of_b] for i in of_a]
    best = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            best[i][j] = max(best[i + 1][j + 1] + likeness[i][j], best[i + 1][j], best[i][j + 1])
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < n and j < m:
        if best[i][j] == best[i + 1][j + 1] + likeness[i][j]:
            pairs.append((of_a[i], of_b[j]))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _likeness(left: _Tree, right: _Tree, i: int, j: int) -> float:
    cost_a = float(left.costs.device[i] or left.costs.host[i])
    cost_b = float(right.costs.device[j] or right.costs.host[j])
    ratio = min(cost_a, cost_b) / max(cost_a, cost_b) if min(cost_a, cost_b) > 0 else 0.0
    return (
        1
        + _SAME_NAME * (left.exact[i] == right.exact[j])
        + _SAME_SHAPE * (left.shape[i] == right.shape[j])
        + _LIKE_COST * ratio
    )


def _wrappers(
    matched: MatchedPaths,
    parent: int,
    left: _Tree,
    right: _Tree,
    rest_a: list[int],
    rest_b: list[int],
    waiting: list[tuple[int, list[int], list[int]]],
) -> tuple[list[int], list[int]]:
    """Add wrappers around what they wrap, and pair single leftovers; returns the remainder."""
    for flipped in (False, True):
        inner_tree, outer_tree = (right, left) if flipped else (left, right)
        inner, outer = (rest_b, rest_a) if flipped else (rest_a, rest_b)
        known: dict[Hashable, list[int]] = {}
        for path in inner:
            # Host-only operators occur inside many others, so finding one proves nothing.
            if inner_tree.plain[path][0] != _OPERATOR or inner_tree.busy[path] is not None:
                known.setdefault(inner_tree.plain[path], []).append(path)
        for wrapper in list(outer):
            if not known:
                break
            names = _within(outer_tree, wrapper)
            wrapped = [path for key in names for path in known.pop(key, ())]
            if wrapped:
                node = matched.add(parent, *((wrapper, -1) if flipped else (-1, wrapper)))
                waiting.append(
                    (node, outer_tree.children[wrapper], wrapped)
                    if flipped
                    else (node, wrapped, outer_tree.children[wrapper])
                )
                outer.remove(wrapper)
                taken = set(wrapped)
                inner[:] = [path for path in inner if path not in taken]
    for i, j in pair_by(
        rest_a, rest_b, [(left.like, right.like), (left.busy, right.busy)], unique_from=0
    ):
        waiting.append((matched.add(parent, i, j), left.children[i], right.children[j]))
        rest_a, rest_b = (
            [path for path in rest_a if path != i],
            [path for path in rest_b if path != j],
        )
    return rest_a, rest_b


def _within(tree: _Tree, outer: int) -> dict[Hashable, None]:
    """The plain names that a path encloses within ``DEEPEST`` levels, outermost first."""
    names: dict[Hashable, None] = {}
    level = tree.children[outer]
    for _ in range(DEEPEST):
        names |= dict.fromkeys(tree.plain[path] for path in level)
        level = [child for path in level for child in tree.children[path]]
    return names
