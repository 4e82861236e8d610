"""Where the functions of a recording stand in the source as it is now.

A trace names the line at which a function begins. If as many functions of its name were recorded of the file as are in it, their order
tells which is which, also where one has moved to the line of another; else it is the one that still begins there, or the only one of its
name::

    recorded  forward 46, forward 60      now  forward 60, forward 74      46 → 60, 60 → 74

A memory snapshot names the line that a call had reached: the function is the innermost one around it, if that has the name.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Sequence

import msgspec

from torch_tb_profiler.store.python_frames import PythonFrame


class SourceFunction(msgspec.Struct, frozen=True, order=True):
    """first: its line, of a decorated one that of its first decorator; head: that of ``def``; last: its last. From 1."""

    first: int
    head: int
    last: int
    name: str


def functions_of(text: str) -> list[SourceFunction]:
    """The functions of a source text in its order; none where it is no Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            nodes = list(ast.walk(ast.parse(text)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return []
    return sorted(
        SourceFunction(
            min((one.lineno for one in node.decorator_list), default=node.lineno),
            node.lineno,
            node.end_lineno or node.lineno,
            node.name,
        )
        for node in nodes
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    )


def lines_by_function(names: Iterable[str]) -> dict[tuple[str, str], list[int]]:
    """The lines at which frames, given as text, begin: by file and function, ascending."""
    found: dict[tuple[str, str], set[int]] = {}
    for name in names:
        frame = PythonFrame.of(name)
        if frame and frame.line is not None:
            found.setdefault((frame.file, frame.function), set()).add(frame.line)
    return {key: sorted(lines) for key, lines in found.items()}


def innermost(line: int, functions: Iterable[SourceFunction]) -> SourceFunction | None:
    """The function that a line is of."""
    inside = [one for one in functions if one.first <= line <= one.last]
    return min(inside, key=lambda one: one.last - one.first, default=None)


def standing(
    frame: PythonFrame, functions: Sequence[SourceFunction], recorded: Sequence[int] | None
) -> SourceFunction | None:
    """The function of a frame among those of its file now; None where nothing tells which. ``recorded``: all lines at which functions
    of its name were recorded in the file; None where the line of the frame is that of a call in it.
    """
    same = [one for one in functions if one.name == frame.function]
    if frame.line is not None and recorded is None:
        if (around := innermost(frame.line, functions)) in same:
            return around
    elif frame.line is not None and recorded is not None:
        if len(same) == len(recorded) and frame.line in recorded:
            return same[list(recorded).index(frame.line)]
        for one in same:
            if one.first <= frame.line <= one.head:
                return one
    return same[0] if len(same) == 1 else None
