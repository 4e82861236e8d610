"""Rules of kernels that could be shorter, or need not be."""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import Intervals, shared, subtract, union
from torch_tb_profiler.analysis.arrays.nesting import climb
from torch_tb_profiler.analysis.efficiency.ideal_times import ideal_times
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.facts.names import name_mask
from torch_tb_profiler.analysis.findings.case import Case, Work
from torch_tb_profiler.analysis.findings.ledger import Candidate
from torch_tb_profiler.analysis.findings.workloads import beyond_least, described, largest, padding
from torch_tb_profiler.hardware.matrix_cores import FIRST_CAPABILITY
from torch_tb_profiler.hardware.vector_products import loads_unaligned, multiplies_on_vector_units
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.roles import Role

LONG_KERNEL = 20_000
"""ns; a shorter kernel is not made faster by more blocks."""
_BACKWARD = re.compile(
    r"autograd::engine::evaluate_function: |torch/utils/checkpoint\.py\(\d+\): unpack_hook$"
)
_DOUBLE = re.compile(r'"(?:double|c10::complex<\w+>|long int|int)"')
_AMD_MATRIX = re.compile(r"\bMI(?:1|2|3)\d\d", re.I)


def matrix_cores_unused(case: Case, taken: Intervals) -> Candidate | None:
    """Matrix products and convolutions run on the vector units of a device that has matrix cores.

    Claims: the time in which only kernels ran whose names say so (``hardware/vector_products.py``),
        of single or half precision, without what they
    would need in a 16-bit type at the peaks of matrix cores and memory, where the shapes and the
    device are known. Upper bound: nothing is faster than the peaks. Wrong when the precision is
    needed.
    """
    if not _has_matrix_cores(case):
        return None
    vendor = case.facts.summary["vendor"]
    work = case.work.take(case.work.kernel)
    chosen = case.named(
        work.row, lambda name: multiplies_on_vector_units(name, vendor)
    ) & ~_of_double_precision(case, work)
    found = _beyond(case, "matrix_cores_unused", work, chosen, in_half=True)
    eligible = case.facts.summary["matrix_eligible_share"]
    if found is not None and eligible is not None:
        found.numbers["eligible"] = eligible
    return found


def unaligned_shapes(case: Case, taken: Intervals) -> Candidate | None:
    """Matrix cores are fed one or two elements at a time, because a dimension is not a multiple of
    8 (16-bit types) or 4 (TF32).

    Claims: the time in which only such kernels ran, without what they need at the device's peaks
        where that is known; the library writes the alignment that
    it was given into their names. Upper bound: nothing is faster than the peaks. Wrong when the
    shapes are given; padding then costs work of its own.
    """
    work = case.work.take(case.work.kernel)
    chosen = case.named(work.row, loads_unaligned)
    found = _beyond(case, "unaligned_shapes", work, chosen, in_half=False)
    if found is not None:
        some = work.take(chosen)
        workload = largest(case, some)
        name = case.trace["spans"]["name"][some.row[np.argmax(some.end - some.start)]]
        found.words["padding"] = padding(case, workload, case.trace.strings[int(name)])
    return found


def few_blocks(case: Case, taken: Intervals) -> Candidate | None:
    """Kernels have fewer blocks than the device has multiprocessors.

    Claims: of each kernel of at least 20 µs that ran alone, the share of multiprocessors without a
        block (1 − blocks per SM). Upper bound: the same
    work spread over all of them is faster by that share at most. Wrong when the blocks cannot be
    split further.
    """
    work = case.work.take(case.work.kernel & ~case.work.communication)
    blocks = device_arguments(case.trace, work.row, ("blocks_per_sm",))["blocks_per_sm"]
    chosen = (blocks > 0) & (blocks < 1) & (work.end - work.start >= LONG_KERNEL)
    if not chosen.any():
        return None
    begin, blocks = work.start[chosen], blocks[chosen]
    idle = ((1 - blocks) * (work.end[chosen] - begin)).astype(np.int64)
    of, start, end = shared(
        begin, begin + idle, subtract(union(begin, begin + idle), _beside_another(case.work))
    )
    return Candidate(
        "few_blocks",
        work.row[chosen][of],
        start,
        end,
        {
            "kernels": int(chosen.sum()) / len(case.steps),
            "blocks_per_sm": float(np.average(blocks, weights=work.end[chosen] - begin)),
        },
        {"largest": described(case, largest(case, work.take(chosen)))},
    )


def recompute(case: Case, taken: Intervals) -> Candidate | None:
    """The forward pass runs again inside the backward pass: activation checkpointing.

    Claims: device time of operators that record a graph (sequence number, no forward thread)
        beneath a node of the backward pass; without device work
    their host time. Upper bound: kept activations need no second forward. Wrong when memory has no
    room for them.
    """
    spans, links, arguments = (
        case.trace["spans"],
        case.facts["span_links"],
        case.trace["operator_args"],
    )
    again = arguments["span"][
        (arguments["sequence"] >= 0) & (arguments["forward_thread"] <= 0)
    ].astype(np.int64)
    calls = np.flatnonzero((spans["role"] == Role.OPERATOR) | (spans["role"] == Role.PYTHON))
    backward = np.zeros(spans.n, np.bool_)
    backward[calls[case.named(calls, _BACKWARD.match)]] = True
    parent = links["parent"].astype(np.int64)
    again = again[climb(parent, parent[again], backward) >= 0] if backward.any() else again[:0]
    if not len(again):
        return None
    wanted = np.zeros(spans.n, np.bool_)
    wanted[again] = True
    row = case.work.row
    operator = links["operator"][row].astype(np.int64)
    row = row[climb(parent, operator, wanted) >= 0] if len(row) else again
    seen = case.within(row)
    start = spans["start"][row]
    return Candidate(
        "recompute", row, start, start + spans["dur"][row], {"events": len(seen) / len(case.steps)}
    )


def _has_matrix_cores(case: Case) -> bool:
    if case.device < 0:
        return False
    device = {
        key: case.facts.strings[int(case.facts["devices"][key][case.device])]
        for key in ("name", "capability")
    }
    vendor = case.facts.summary["vendor"]
    major = device["capability"].split(".")[0]
    if vendor == "nvidia":
        return major.isdigit() and int(major) >= FIRST_CAPABILITY
    return vendor == "amd" and _AMD_MATRIX.search(device["name"]) is not None


def _of_double_precision(case: Case, work: Work) -> Mask:
    """Whose operator has inputs of a type that is not single or half precision; False where the
    types were not recorded.
    """
    arguments = case.trace["operator_args"]
    double = name_mask(
        case.trace.strings, arguments["types"], lambda types: _DOUBLE.search(types.split(",", 1)[0])
    )
    operator = case.facts["span_links"]["operator"][work.row].astype(np.int64)
    if not arguments.n:
        return np.zeros(len(work.row), np.bool_)
    place = np.minimum(
        np.searchsorted(arguments["span"], operator.astype(arguments["span"].dtype)),
        arguments.n - 1,
    )
    known = (operator >= 0) & (arguments["span"][place] == operator)
    return np.asarray(known & double[arguments["types"][place]])


def _beyond(case: Case, rule: str, work: Work, chosen: Mask, in_half: bool) -> Candidate | None:
    """Claims the time in which of all device work only the chosen kernels ran, beyond what the
    peaks allow for them (``in_half``: in a 16-bit type).
    """
    if not chosen.any():
        return None
    some = work.take(chosen)
    least = ideal_times(case.trace, case.insight, some.row, case.peaks, in_half)
    numbers = {"kernels": len(case.within(some.row)) / len(case.steps)}
    return Candidate(
        rule,
        *beyond_least(case, some, least.time),
        numbers,
        {"largest": described(case, largest(case, some))},
    )


def _beside_another(work: Work) -> Intervals:
    """When more than one piece of work ran."""
    if not len(work.start):
        return union(work.start, work.end)
    reach: Ints = np.concatenate(([np.iinfo(np.int64).min], np.maximum.accumulate(work.end)[:-1]))
    return union(work.start, np.minimum(work.end, reach))
