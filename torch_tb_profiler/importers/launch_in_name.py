"""Names of device work in which unitrace writes how it was launched.

::

    gemm<int[4]>[SIMD32 {64; 1; 1} {256; 1; 1}]      gemm<int[4]>, 64 groups of 256
    zeCommandListAppendMemoryCopy(M2D)[4096]         4096 bytes
    Tile #1: gemm[SIMD_ANY {64; 1; 1} {256; 1; 1}]   the half of it that one tile did

Only the last pair of brackets is cut off, and only where it says that.
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.strings import StringBuilder

_THREE = r"\{(\d{1,18}); ?(\d{1,18}); ?(\d{1,18})\}"
_TILE = r"(?:Tile #\d+: )?"
_KERNEL = re.compile(rf"{_TILE}(?P<name>.+)\[\w* ?{_THREE} ?{_THREE}\]", re.DOTALL | re.ASCII)
_COPY = re.compile(rf"{_TILE}(?P<name>.+)\[(\d{{1,18}})(?: bytes)?\]", re.DOTALL | re.ASCII)
_WHOLE = re.compile(rf"{_TILE}(?P<name>.+)", re.DOTALL)


def launch_in_name(
    trace: Trace, work: Ints, arguments: Table, strings: StringBuilder
) -> tuple[Array, Table]:
    """The column ``name`` of spans with the bare names of device work, and its arguments with what
    the names said. ``arguments``: ``device_args``, a row for each piece of ``work``.
    """
    name = trace["spans"]["name"].copy()
    grid, block, size = (arguments[key].copy() for key in ("grid", "block", "bytes"))
    numbers, numbered = np.unique(name[work], return_inverse=True)
    for position, number in enumerate(numbers.tolist()):
        text = trace.strings[number]
        mine = np.flatnonzero(numbered == position)
        match = _KERNEL.fullmatch(text)
        if match is not None:
            sizes = [int(digits) for digits in match.groups()[1:]]
            grid[mine] = strings.intern(_json(sizes[:3]))
            block[mine] = strings.intern(_json(sizes[3:]))
        elif (match := _COPY.fullmatch(text)) is not None:
            size[mine] = int(match[2])
        else:
            match = _WHOLE.fullmatch(text)
        if match is not None:
            name[work[mine]] = strings.intern(match["name"])
    return name, arguments.replace(grid=grid, block=block, bytes=size)


def _json(sizes: list[int]) -> str:
    return f"[{','.join(map(str, sizes))}]"
