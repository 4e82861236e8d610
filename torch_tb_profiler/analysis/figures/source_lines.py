"""Which frame of a call stack tells a reader where in the program something happened."""

from __future__ import annotations

import re
import sys

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.names import distinct
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.strings import StringTable

_LIBRARY = re.compile(
    r"(?:^|/)(?:site-packages|dist-packages|lib/python[\d.]+|torch|torchgen|triton)/|^<|^runpy\.py$"
)
_PYTHON = re.compile(r"(?P<file>.+\.py)\(\d+\): .")


def lines_of_stacks(facts: Facts) -> Ints:
    """For every row of ``facts["stacks"]`` the number of the frame to show: the nearest of the
    user's own program, else the nearest of a Python file, else
    the innermost. int64 of shape (stacks,), numbers of strings of the facts."""
    stacks = facts["stacks"]
    rank = line_ranks(facts.strings, stacks["frame"])
    shown = np.arange(stacks.n)
    # The better rank is written last, and wins.
    for least in (1, 2):
        near = nearest(stacks["parent"], rank[stacks["frame"]] >= least)
        shown = np.where(near >= 0, near, shown)
    return stacks["frame"][shown].astype(np.int64)


def line_ranks(strings: StringTable, frames: Array) -> Array:
    """How much the frames of some numbers of strings tell: 2 a line of the user's own program, 1 of
    another Python file, 0 no Python line.

    int8 of shape (strings + 1,), 0 for strings that are not asked, the last for −1.
    """
    rank = np.zeros(len(strings) + 1, np.int8)
    for number in distinct(frames, strings):
        rank[number] = _rank(strings[number])
    return rank


def line_of_frames(frames: str) -> str:
    """The frame to show of a stack written as text, frames joined by line feeds, innermost first;
    by the same rule.
    """
    listed = [frame for frame in frames.split("\n") if frame]
    return max(listed, key=_rank, default="")


def _rank(frame: str) -> int:
    match = _PYTHON.match(frame)
    return 0 if match is None else 1 + is_user_code(match["file"])


def is_user_code(file: str) -> bool:
    """Whether a Python file is of the program that was recorded: neither torch's nor of Python's
    own library.
    """
    path = file.replace("\\", "/")
    return (
        not _LIBRARY.search(path)
        and path.partition("/")[0].removesuffix(".py") not in sys.stdlib_module_names
    )
