"""Parameters and work of the kernels that a ``net.dict`` lists.

PyProf's rule (``pyprof/prof/prof.py``): a kernel has the arguments of its own call; a backward one
without any those of the last forward kernel before it with its sequence number, else with that
among its other numbers::

    fprop  mm    seq 7   M=8,N=4,K=16        fprop, from its marker
    bprop        seq 7   M=8,N=4,K=16        by number: two products of the gradients, each with the forward's FLOPs

A call with several kernels tells its work only where exactly one of them multiplies.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from torch_tb_profiler.analysis.pyprof.parameters import FAMILIES, GRADIENTS, call_parameters
from torch_tb_profiler.hardware.call import read_call
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.hardware.main_kernels import multiplies
from torch_tb_profiler.hardware.matrix_cores import uses_matrix_cores
from torch_tb_profiler.hardware.work import Work, model_of, work_of
from torch_tb_profiler.store.kernel_line import KernelLine

_CORES = {Knowledge.NO: "0", Knowledge.YES: "1", Knowledge.UNKNOWN: ""}
_NO_MULTIPLICATION = "-"


class ListedWork(NamedTuple):
    """Of a kernel: the line whose call it shows, parameters, matrix cores (``1``, ``0``, ``-``), FLOPs
    and bytes; unknown is empty, numbers −1.
    """

    source: KernelLine
    params: str = ""
    cores: str = ""
    flops: int = -1
    bytes: int = -1


def listed_work(lines: Sequence[KernelLine]) -> list[ListedWork]:
    """The work of every line, in order."""
    numbered: dict[int, KernelLine] = {}
    beside: dict[int, KernelLine] = {}
    sources: list[KernelLine] = []
    for line in lines:
        source = line
        if line.direction == "bprop" and not line.signature[0] and line.sequence:
            number = line.sequence[0]
            source = numbered.get(number) or beside.get(number) or line
        sources.append(source)
        if line.direction == "fprop":
            numbered.update(dict.fromkeys(line.sequence, line))
            beside.update(dict.fromkeys(line.others, line))
    done: list[ListedWork] = []
    at = 0
    for _, group in groupby(_calls(lines)):
        count = len(list(group))
        done += _of_call(lines[at : at + count], sources[at])
        at += count
    return done


def _calls(lines: Sequence[KernelLine]) -> list[int]:
    """Number of the call of each line: a line continues it that counts on from the one before."""
    numbers: list[int] = []
    for i, line in enumerate(lines):
        before = lines[i - 1] if i else None
        continues = (
            before is not None
            and line.sub == before.sub + 1 > 0
            and _call_key(line) == _call_key(before)
        )
        numbers.append(numbers[-1] if continues else i)
    return numbers


def _call_key(line: KernelLine) -> tuple[object, ...]:
    return line.thread, line.direction, line.sequence[:1], line.operator


def _of_call(lines: Sequence[KernelLine], source: KernelLine) -> list[ListedWork]:
    """The work of the kernels of one call."""
    parameters, work = _call(source.signature)
    products = [multiplies(line.name) for line in lines]
    family = model.family if (model := model_of(source.signature[0])) is not None else ""
    done = []
    for line, product in zip(lines, products, strict=True):
        if line.listed:
            done.append(ListedWork(line, line.params, line.cores, line.flops, line.bytes))
            continue
        flops, moved = -1, -1
        if work is not None and family in FAMILIES and any(products):
            own = source is line or source in lines
            if sum(products) <= (1 if own else GRADIENTS):
                flops = (work.flops - (0 if own else work.bias_flops)) if product else 0
                moved = _bytes(work) if product else 0
        elif work is not None and len(lines) == 1 and source is line:
            flops, moved = work.flops, _bytes(work)
        done.append(ListedWork(source, parameters, _cores(line.name, product), flops, moved))
    return done


def _bytes(work: Work) -> int:
    return -1 if work.bytes is None else work.bytes


@lru_cache(maxsize=1 << 14)
def _call(signature: tuple[str, str, str, str]) -> tuple[str, Work | None]:
    """``(parameters, work)`` of a call."""
    name, dims, types, concrete = signature
    call = read_call(name, dims, types, "", concrete) if name else None
    if call is None:
        return "", None
    work = work_of(call)
    return call_parameters(call, work) or "", work


def _cores(name: str, product: bool) -> str:
    """PyProf reads files of NVIDIA's profilers only."""
    used = uses_matrix_cores(name, "nvidia")
    return _NO_MULTIPLICATION if used == Knowledge.NO and not product else _CORES[used]
