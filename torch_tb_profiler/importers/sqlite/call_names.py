"""Names of CUDA functions by callback id, which is what nvprof writes (``call_names.txt``)."""

from __future__ import annotations

import re

from torch_tb_profiler.data_rows import rows_beside
from torch_tb_profiler.patterns import regex

_ENDING = regex(r"(?:_pt[sd][sz])?(?:_v\d{4,5})?(?:_pt[sd][sz])?$", re.ASCII)


def plain_name(name: str) -> str:
    """A function name without the API version: ``cudaLaunchKernel_v7000`` → ``cudaLaunchKernel``."""
    return _ENDING.sub("", name)


def runtime_call(number: int) -> str:
    """The runtime function of a callback id; ``cbid 999`` if unknown."""
    return _RUNTIME.get(number) or f"cbid {number}"


def driver_call(number: int) -> str:
    """The driver function of a callback id; ``cbid 999`` if unknown."""
    return _DRIVER.get(number) or f"cbid {number}"


def numbered(text: str) -> dict[int, str]:
    """Names by number: each line is a number and the names from there on."""
    names_by_number: dict[int, str] = {}
    for line in text.split("\n"):
        first, *names = line.split() or ("0",)
        names_by_number.update(enumerate(names, int(first)))
    return names_by_number


_RUNTIME, _DRIVER = (
    numbered("\n".join(lines)) for row in rows_beside(__file__) for lines in row.values()
)
