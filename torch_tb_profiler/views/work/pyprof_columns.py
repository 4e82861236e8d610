"""The columns of PyProf's kernel table. The command line checks the wanted ones before it opens the
trace, and so before numpy is imported: what a ``DisplayColumn`` needs stands here in plain tuples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch_tb_profiler.store.display import Kind

BETWEEN_LINES = " -> "


class KernelColumn(NamedTuple):
    """Fields of a ``DisplayColumn``; ``width``: characters that it is printed with at least."""

    name: str
    kind: Kind
    label: str
    width: int
    doc: str
    unit: str = ""

    @property
    def absent(self) -> str:
        """What PyProf prints where there is no value."""
        return "-" if self.name in ("seq", "altseq", "layer", "trace") else "na"


_ALL = (
    ("idx", "id", "Idx", 7, "Number of the row, from 1."),
    ("seq", "id", "SeqId", 7, "Sequence number of autograd."),
    ("altseq", "text", "AltSeqId", 8, "Other sequence numbers around the launch, comma-separated."),
    ("tid", "text", "TId", 12, "Thread of the launch."),
    ("layer", "text", "Layer", 10, "Innermost range `layer:NAME`, else the path of `nn.Module`s."),
    (
        "trace",
        "text",
        "CallTrace",
        25,
        "Lines of the program, `file:line -> file:line`, outermost first.",
    ),
    ("dir", "text", "Direction", 5, "`fprop` or `bprop`."),
    ("sub", "id", "SubSeqId", 3, "Earlier kernels of the same call."),
    ("mod", "text", "Module", 15, "Module of the call: `aten`, `torch.nn.functional` …"),
    ("op", "text", "Op", 15, "The call."),
    ("kernel", "text", "Kernel", 10, "Full name of the kernel."),
    ("params", "text", "Params", 10, "Its parameters: `M=…,N=…,K=…,type=fp16`."),
    ("sil_ns", "time", "Sil(ns)", 10, "Time on the device."),
    ("tc", "text", "TC", 2, "Matrix cores: `1` used, `0` not used, `-` nothing to multiply."),
    ("device", "id", "Device", 6, "Device."),
    ("stream", "id", "Stream", 6, "Stream."),
    ("grid", "text", "Grid", 12, "Grid, `x,y,z`.", "blocks"),
    ("block", "text", "Block", 12, "Block, `x,y,z`.", "threads"),
    ("flops", "FLOP", "FLOPs", 14, "Floating-point operations of this launch."),
    ("bytes", "bytes", "Bytes", 12, "Least memory traffic of this launch."),
)
COLUMNS = {values[0].removesuffix("_ns"): KernelColumn(*values) for values in _ALL}
"""By the word that chooses it; PyProf's own (pyprof/prof/output.py and its documentation)."""
