"""Meaning of hardware counter names: a label, a unit, and the FLOPs or bytes of one count.

NVIDIA's counters are named ``unit__quantity.rollup`` (``dram__bytes_read.sum``); see "Metrics
Decoder" and "Metrics Structure" in the documentation of Nsight Compute, and the weights of
instructions in its roofline sections (``SpeedOfLight_RooflineChart.section``).
"""

from __future__ import annotations

import re
from functools import lru_cache

from torch_tb_profiler.data_rows import rows_beside
from torch_tb_profiler.patterns import regex

_INSTRUCTIONS = regex(
    r"sm(?:sp)?__sass_thread_inst_executed_op_(?P<precision>[dfh])(?P<kind>add|mul|fma)_pred_on\.sum"
)
_MATRIX = regex(r"sm(?:sp)?__ops_path_tensor_src_(?!\w*sparsity)(?P<source>[a-z]+\d*)\w*\.sum")
"""Operations of matrix cores: multiplications and additions. Sparse-only counters are part of them."""
_KINDS = {"add": ("add", 1), "mul": ("multiply", 1), "fma": ("fused multiply-add", 2)}
_PRECISIONS = {"d": "FP64", "f": "FP32", "h": "FP16"}
PRECISIONS = tuple(_PRECISIONS)
INSTRUCTION_FLOPS = {
    f"smsp__sass_thread_inst_executed_op_{precision}{kind}_pred_on.sum": flops
    for precision in _PRECISIONS
    for kind, (_, flops) in _KINDS.items()
}
"""Counter of instructions → FLOPs of one: FLOPs of a kernel are the sum of counts times these."""
SECTOR_BYTES = 32
"""Bytes of a sector, the unit of NVIDIA's memory traffic ("Kernel Profiling Guide", Hardware Model)."""

DRAM, L2 = "dram", "l2"
TRAFFIC: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = (
    (DRAM, (("dram__bytes_read.sum", 1), ("dram__bytes_write.sum", 1))),
    (DRAM, (("dram__bytes.sum", 1),)),
    (DRAM, (("dram__sectors_read.sum", SECTOR_BYTES), ("dram__sectors_write.sum", SECTOR_BYTES))),
    (L2, (("lts__t_bytes.sum", 1),)),
    (L2, (("lts__t_sectors.sum", SECTOR_BYTES),)),
)
"""(level, counters and the bytes of one count): the first entry whose counters all exist is used."""

_LABELS = {name: label for row in rows_beside(__file__) for name, (label,) in row.items()}
_LONGEST = 300
_UNITS: tuple[tuple[re.Pattern[str], str], ...] = (
    (regex(r"\.pct(?:_|$)|_pct\b|\.max_rate$"), "%"),
    (regex(r"\.ratio$|_per_|\.per_cycle"), ""),
    (regex(r"time_duration"), "ns"),
    (regex(r"bytes"), "bytes"),
    (regex(r"sectors"), "sectors"),
    (regex(r"cycles"), "cycles"),
    (regex(r"inst"), "instructions"),
    (regex(r"__ops_|_ops_"), "operations"),
)
_BRACKETED = regex(r"\[(?:Throughput )?([^\[\]]{1,24})\]$")
_PER_SECOND = regex(r"\.per_second$")


@lru_cache(maxsize=4096)
def counter_label(name: str) -> str:
    """A readable name; the counter's own if none is known."""
    if match := _INSTRUCTIONS.fullmatch(name, 0, _LONGEST):
        return f"{_PRECISIONS[match['precision']]} {_KINDS[match['kind']][0]} instructions"
    return _LABELS.get(name, name)


@lru_cache(maxsize=4096)
def counter_unit(name: str) -> str:
    """``bytes``, ``instructions``, ``%`` … as the counter's name tells, else empty.

    Nsight Systems appends it: ``SMs Active [Throughput %]``, ``GPC Clock Frequency [MHz]``.
    """
    if "__" not in name[:_LONGEST]:
        match = _BRACKETED.search(name[-_LONGEST:])
        return match[1] if match else "bytes" if name.rpartition(": ")[2] == "bytes" else ""
    unit = next((unit for pattern, unit in _UNITS if pattern.search(name, 0, _LONGEST)), "")
    return f"{unit}/s" if unit and _PER_SECOND.search(name) else unit


def flop_weight(name: str) -> tuple[str, int] | None:
    """``(precision, FLOPs per count)`` of an instruction counter: a fused multiply-add is two FLOPs.

    The precision is one of ``PRECISIONS``. Instructions are counted per thread.
    """
    match = _INSTRUCTIONS.fullmatch(name, 0, _LONGEST)
    return (match["precision"], _KINDS[match["kind"]][1]) if match else None


def counts_matrix_operations(name: str) -> bool:
    """Whether a counter counts operations (FLOPs) of matrix cores."""
    return _MATRIX.fullmatch(name, 0, _LONGEST) is not None


def operations_of(name: str) -> tuple[str, str, int] | None:
    """``(unit, precision, FLOPs per count)`` of a counter of operations, as in the device table."""
    if weight := flop_weight(name):
        return "vector", _PRECISIONS[weight[0]].lower(), weight[1]
    match = _MATRIX.fullmatch(name, 0, _LONGEST)
    return ("matrix", match["source"], 1) if match else None
