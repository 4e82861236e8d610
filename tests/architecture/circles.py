"""Circles in a graph of files (Tarjan's strongly connected components)."""

from __future__ import annotations

from collections.abc import Mapping, Set


def circles(graph: Mapping[str, Set[str]]) -> list[list[str]]:
    """Groups of nodes that reach each other, each sorted; a node that points at itself is one too."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(graph.get(node, frozenset())):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(group) > 1 or node in graph.get(node, frozenset()):
                found.append(sorted(group))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(found)
