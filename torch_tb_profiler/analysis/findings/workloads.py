"""What the rules know of the work that kernels do: the least time that it needs, whose it is, and
which of its dimensions are odd.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import picked, positions_of
from torch_tb_profiler.analysis.efficiency.ideal_times import ideal_times
from torch_tb_profiler.analysis.efficiency.rates import representatives
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.findings.candidate import Candidate, Pieces
from torch_tb_profiler.analysis.findings.edits import work_takes
from torch_tb_profiler.analysis.findings.gaps import Work
from torch_tb_profiler.analysis.findings.rule_context import RuleContext
from torch_tb_profiler.hardware.call import read_call
from torch_tb_profiler.hardware.peaks import achievable_share
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, unique_values

LONG_KERNEL = 20_000
"""ns; a shorter kernel is mostly start and end."""
_WHOLE = {"fp16": 8, "bf16": 8, "fp32": 4, "fp8": 16, "int8": 16}
"""Elements of which matrix cores load sixteen bytes at a time (float32 as TF32)."""
_PADDED = {"gemm": ("M", "N", "K"), "convolution": ("C", "K")}
_OPERANDS = {
    "aten::mm": (0, 1),
    "aten::bmm": (0, 1),
    "aten::addmm": (1, 2),
    "aten::baddbmm": (1, 2),
}
"""Where the two matrices stand among the inputs of products."""
_SIDES = 2
_DIMENSION = regex(r"(\w+)=(\d{1,18})(?!\w)", re.ASCII)
_ALIGNED = regex(r"align(\d{1,2})(?!\d)", re.ASCII)


def beyond_least(context: RuleContext, some: Work, time: Array) -> Pieces:
    """When only ``some`` ran, of each piece what is beyond the ``time`` (ns, NaN unknown: all of
    it) that it needs at least.
    """
    alone = context.alone(some)
    needed = np.ceil(np.nan_to_num(np.minimum(time, some.lengths))).astype(np.int64)
    position = positions_of(some.row, alone.row)
    start = np.maximum(alone.start, some.start[position] + needed[position])
    return Pieces(alone.row, start, np.maximum(start, alone.end))


def beyond_peaks(context: RuleContext, some: Work, in_half: bool) -> Candidate | None:
    """The time in which of all device work only ``some`` ran, beyond what the peaks allow for it
    (``in_half``: in a 16-bit type); as its change, what is achievable, and no time where that is not
    known.
    """
    if not len(some.row):
        return None
    least = ideal_times(context.trace, context.insight, some.row, context.peaks, in_half)
    reached = achievable_time(context, least.time, least.workload)
    unknown, dur = np.isnan(reached), some.lengths
    return Candidate(
        beyond_least(context, some, least.time),
        {"kernels": context.per_step(some.row)},
        {"largest": described(context, largest(context, some))},
        certainty="theoretical" if 2 * dur[unknown].sum() > dur.sum() else None,
        edit=work_takes(some.row, np.where(unknown, 0.0, reached)),
    )


def achievable_time(context: RuleContext, least: Array, workload: Ints) -> Array:
    """The time that is usually achievable for device work, ns, from the ``least`` that the peaks allow
    and rows of ``workloads``.
    """
    texts = context.insight.strings
    family = picked(context.insight["workloads"]["family"], workload)
    known = unique_values(family)
    shares = np.array([achievable_share(texts[int(n)] if n >= 0 else "") for n in known])
    return np.asarray(least / shares[np.searchsorted(known, family)])


def judged_share(context: RuleContext) -> float | None:
    """Share of the kernel time of the device, without communication, of which the least time is known;
    None without such kernels.
    """
    work = context.kernels
    dur = work.lengths
    if not dur.sum():
        return None
    least = ideal_times(context.trace, context.insight, work.row, context.peaks)
    return float(dur[~np.isnan(least.time)].sum() / dur.sum())


def largest(context: RuleContext, some: Work) -> int:
    """The workload that takes most of the time of some work; row of ``workloads``, −1 where none of
    it has one.
    """
    workload = context.insight["device_workloads"]["workload"][
        positions_of(device_rows(context.trace), some.row)
    ]
    like = representatives(context.insight["workloads"])[workload[workload >= 0]]
    if not len(like):
        return -1
    return int(np.bincount(like, weights=some.lengths[workload >= 0]).argmax())


def roof(context: RuleContext, workload: int) -> str:
    """Which peak holds a workload back: ``memory bandwidth``, ``rate of computing``; empty where that is not known."""
    if workload < 0 or not context.peaks.bandwidth:
        return ""
    table, texts = context.insight["workloads"], context.insight.strings
    flops, moved = (float(table[key][workload]) for key in ("flops", "bytes"))
    unit, precision = (int(table[key][workload]) for key in ("unit", "precision"))
    rate = context.peaks.rate(texts[unit], texts[precision]) if min(unit, precision) >= 0 else None
    moving = moved / context.peaks.bandwidth
    if not flops or rate is None:
        return "memory bandwidth" if moving > 0 else ""
    return "rate of computing" if flops / rate > moving else "memory bandwidth"


def described(context: RuleContext, workload: int) -> str:
    """``aten::addmm with M=141, N=30522, K=512``; empty for −1."""
    if workload < 0:
        return ""
    table, texts = context.insight["workloads"], context.insight.strings
    name, parameters = (texts[int(table[key][workload])] for key in ("name", "parameters"))
    return f"{name} with {parameters}" if parameters else name


def padding(context: RuleContext, workload: int, kernel: str) -> str:
    """Which dimensions to pad for whole loads, ``N from 30522 to 30528``; empty where that is not
    known.

    Those along which a matrix lies in memory, where strides tell. Of several odd ones that or those
    which explain the alignment that the kernel's name says.
    """
    if workload < 0:
        return ""
    table, texts = context.insight["workloads"], context.insight.strings
    family, precision, parameters = (
        texts[int(table[key][workload])] for key in ("family", "precision", "parameters")
    )
    whole = _WHOLE.get(precision, 0)
    sizes = {
        key: int(size)
        for key, size in _DIMENSION.findall(parameters)
        if key in _PADDED.get(family, ())
    }
    odd = {
        key: size
        for key, size in sizes.items()
        if whole and size % whole and key in _contiguous(context, workload, sizes)
    }
    alignment = _ALIGNED.search(kernel)
    if alignment:
        odd = {
            key: size
            for key, size in odd.items()
            if math.gcd(size, whole) == int(alignment.group(1))
        } or odd
    return " and ".join(
        f"{key} from {size} to {-(-size // whole) * whole}" for key, size in odd.items()
    )


def _contiguous(context: RuleContext, workload: int, sizes: Mapping[str, int]) -> Collection[str]:
    """Of a product C[M,N] = A[M,K] · B[K,N] the dimensions along which its matrices lie in memory;
    all where the strides were not recorded.

    C is made row by row: N. A row of A is K long, a column M; a row of B N, a column K.
    """
    table, texts = context.insight["workloads"], context.insight.strings
    name, *recorded = (
        texts[int(table[key][workload])] for key in ("name", "dims", "types", "strides")
    )
    call = read_call(name, *recorded) if name in _OPERANDS else None
    if call is None:
        return sizes
    dimensions = {"N"}
    for number, (column, row) in zip(_OPERANDS[name], (("M", "K"), ("K", "N")), strict=True):
        matrix = call.tensor(number)
        if matrix is None or len(matrix.strides or ()) < _SIDES:
            return sizes
        dimensions |= {
            dimension
            for dimension, step in zip((column, row), (matrix.strides or ())[-_SIDES:], strict=True)
            if step == 1
        }
    return dimensions
