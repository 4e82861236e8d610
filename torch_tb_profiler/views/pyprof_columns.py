"""The columns of PyProf's kernel table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KernelColumn:
    """A column: its heading, the least width that it is printed with, what stands where there is no
    value, and whether it holds integers.
    """

    heading: str
    width: int
    absent: str
    number: bool = False


COLUMNS: dict[str, KernelColumn] = {
    "idx": KernelColumn("Idx", 7, "na", True),
    "seq": KernelColumn("SeqId", 7, "-", True),
    "altseq": KernelColumn("AltSeqId", 8, "-"),
    "tid": KernelColumn("TId", 12, "na"),
    "layer": KernelColumn("Layer", 10, "-"),
    "trace": KernelColumn("CallTrace", 25, "-"),
    "dir": KernelColumn("Direction", 5, "na"),
    "sub": KernelColumn("SubSeqId", 3, "na", True),
    "mod": KernelColumn("Module", 15, "na"),
    "op": KernelColumn("Op", 15, "na"),
    "kernel": KernelColumn("Kernel", 10, "na"),
    "params": KernelColumn("Params", 10, "na"),
    "sil": KernelColumn("Sil(ns)", 10, "na", True),
    "tc": KernelColumn("TC", 2, "na"),
    "device": KernelColumn("Device", 6, "na", True),
    "stream": KernelColumn("Stream", 6, "na", True),
    "grid": KernelColumn("Grid", 12, "na"),
    "block": KernelColumn("Block", 12, "na"),
    "flops": KernelColumn("FLOPs", 14, "na", True),
    "bytes": KernelColumn("Bytes", 12, "na", True),
}
"""By the word that chooses it; PyProf's own (pyprof/prof/output.py and its documentation)."""


BETWEEN_LINES = " -> "
