"""Route ``/kernel``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from torch_tb_profiler.analysis.figures.absent import absent
from torch_tb_profiler.analysis.figures.kernels import (
    KernelRows,
    NoOperator,
    kernel_rows,
    short_name,
)
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.nullable import (
    OTHER,
    UNKNOWN,
    optional_floats,
    optional_integers,
    rounded,
)
from torch_tb_profiler.views.texts import missing, no_operator_reason
from torch_tb_profiler.views.vocabulary import vocabulary
from torch_tb_profiler.views.wire import Attribution, KernelColumns, KernelGroup, KernelPayload


def kernel_payload(
    facts: Facts, selection: Selection, group: KernelGroup, limit: int
) -> KernelPayload:
    """Kernels launched in the selected steps; the ``limit`` longest have rows of their own, the
    rest is pooled in the last row.
    """
    rows = kernel_rows(facts, selection, group)
    kept = min(len(rows.name), limit)
    return KernelPayload(
        group=group,
        vocabulary=vocabulary(facts),
        rows=_columns(facts, rows, kept, group == "properties"),
        pooled=len(rows.name) - kept,
        attribution=attribution(facts),
        missing=missing(absent(facts), ("device", "host")),
    )


def attribution(facts: Facts) -> Attribution:
    """How many device events of the whole trace were followed to their launch and operator."""
    counts = facts.summary["attribution"]
    return Attribution(
        device_events=counts["device_events"],
        kernels=counts["kernels"],
        with_launch=counts["with_launch"],
        with_operator=counts["with_operator"],
    )


def _columns(facts: Facts, rows: KernelRows, kept: int, properties: bool) -> KernelColumns:
    texts = facts.strings
    rest = len(rows.name) > kept
    names = texts.many(rows.name[:kept])
    blank: list[Any] = [None] if rest else []
    nothing: list[Any] = [None] * (kept + rest)

    def text(values: NDArray[Any]) -> list[str | None]:
        return (
            [*(texts[n] if n >= 0 else None for n in values[:kept].tolist()), *blank]
            if properties
            else nothing
        )

    def pooled(values: NDArray[Any], how: Any) -> list[int]:
        return [*values[:kept].tolist(), *([int(how(values[kept:]))] if rest else [])]

    return KernelColumns(
        name=[*names, *([OTHER] if rest else [])],
        short=[*map(short_name, names), *([OTHER] if rest else [])],
        operator=text(rows.operator),
        reason=[*_reasons(facts, rows.reason[:kept]), *blank] if properties else nothing,
        grid=text(rows.grid),
        block=text(rows.block),
        registers=[*optional_integers(rows.registers[:kept]), *blank] if properties else nothing,
        shared_memory_bytes=[*optional_integers(rows.shared_memory[:kept]), *blank]
        if properties
        else nothing,
        calls=pooled(rows.calls, np.sum),
        total_ns=pooled(rows.total, np.sum),
        mean_ns=[
            *rounded(rows.mean[:kept]),
            *([round(int(rows.total[kept:].sum()) / int(rows.calls[kept:].sum()))] if rest else []),
        ],
        shortest_ns=pooled(rows.shortest, np.min),
        longest_ns=pooled(rows.longest, np.max),
        blocks_per_sm=[*optional_floats(rows.blocks_per_sm[:kept]), *blank],
        occupancy=[*optional_floats(rows.occupancy[:kept] / 100), *blank],
        matrix=[*rows.matrix[:kept].tolist(), *([UNKNOWN] if rest else [])],
        matrix_eligible=[*rows.matrix_eligible[:kept].tolist(), *([UNKNOWN] if rest else [])],
        communication=[
            *(bool(c) for c in rows.communication[:kept].tolist()),
            *([False] if rest else []),
        ],
    )


def _reasons(facts: Facts, values: NDArray[Any]) -> list[str | None]:
    device = vocabulary(facts).device
    texts = {
        int(r): no_operator_reason(r.name, device) for r in NoOperator if r is not NoOperator.KNOWN
    }
    return [texts.get(int(v)) for v in values]
