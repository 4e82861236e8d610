"""What several kernels of calls reach of their roofs together: those of one name, and those of one family."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by
from torch_tb_profiler.analysis.efficiency.rates import HELPS, Rows, Shares
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.store.display import DisplayTable, display_spec
from torch_tb_profiler.store.strings import NO_STRINGS

TOGETHER = display_spec("""
kernels_together: One row per kernel, or per family of the performance models, those with most time first.
    name     text   Family          term=efficiency_family optional width=200
    time_ns  time   Time            term=efficiency_time bar width=100
    calls    count  Calls           term=calls
    kernels  count  Kernels         term=efficiency_kernel
    of_roof  share  Of its roof     term=efficiency_of_roof optional width=256
    roof     text   -               optional
    no_roof  text   -               optional
    matrix   share  {Matrix_cores}  term=matrix_core_share optional width=110
""")
"""``of_roof``: the time that they would take at their roofs, of the time that they take; ``matrix``: share of the time with matrix cores."""
MOSTLY = 0.95
"""As much of the time must have a known roof for a share to be told of all."""
SEVERAL = "several roofs"


def together(names: Sequence[str | None], rows: Rows, shares: Shares) -> DisplayTable:
    """``TOGETHER`` of ``kernel_rows``; ``names``: what each of them is of."""
    place: dict[str | None, int] = {}
    of = np.array([place.setdefault(name, len(place)) for name in names], np.int64)
    n = len(place)
    time = sum_by(of, n, rows.time)
    roofs, reasons = ([Counter[str]() for _ in range(n)] for _ in range(2))
    for one, took, roof, reason in zip(
        of.tolist(), rows.time.tolist(), shares.roof, shares.no_roof, strict=True
    ):
        (roofs if roof else reasons)[one][roof or reason] += took
    known = np.array([roof.total() for roof in roofs], np.float64)
    # All work of a call is counted in one of its kernels.
    judged = known + np.array([reason[HELPS] for reason in reasons])
    least = np.bincount(of, np.nan_to_num(shares.of_roof) * rows.time, n)
    told = (known > 0) & (judged >= MOSTLY * time)
    used, unknown = (
        sum_by(of, n, np.where(rows.matrix == knowledge, rows.time, 0))
        for knowledge in (Knowledge.YES, Knowledge.UNKNOWN)
    )
    matrix = np.where(unknown > 0, np.nan, used / np.maximum(time, 1))
    table = TOGETHER.build(
        NO_STRINGS,
        name=list(place),
        time_ns=time,
        calls=sum_by(of, n, rows.calls),
        kernels=np.bincount(of[group_rows((of, rows.kernel))[0]], minlength=n),
        of_roof=np.where(told, least / np.maximum(judged, 1), np.nan),
        roof=[
            _roof(roof, whole) if is_told else None
            for roof, whole, is_told in zip(roofs, judged.tolist(), told.tolist(), strict=True)
        ],
        no_roof=[
            None if is_told else next(iter(reason.most_common(1)), ("", 0))[0]
            for reason, is_told in zip(reasons, told.tolist(), strict=True)
        ],
        matrix=np.where(time > 0, matrix, np.nan),
    )
    return table.take(np.argsort(-time, kind="stable"))


def _roof(roofs: Counter[str], judged: float) -> str:
    [(roof, most)] = roofs.most_common(1)
    return roof if len(roofs) == 1 or most >= MOSTLY * judged else SEVERAL
