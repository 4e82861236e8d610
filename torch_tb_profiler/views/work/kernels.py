"""Route ``/kernel``."""

from __future__ import annotations

import msgspec

from torch_tb_profiler.analysis.figures.kernels import KernelGroup, NoOperator, kernel_rows
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.figures.unique_labels import unique_labels
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.untrusted import prepared
from torch_tb_profiler.views.display_wire import wire_columns
from torch_tb_profiler.views.steps import leading_part, summed_over
from torch_tb_profiler.views.wire import (
    Attribution,
    KernelPayload,
    MeasuredCounters,
    NoOperatorReason,
)
from torch_tb_profiler.views.words.texts import missing
from torch_tb_profiler.views.words.vocabulary import vocabulary

NO_OPERATOR_TEXTS = {
    NoOperator.NO_LAUNCH: "no launch recorded",
    NoOperator.NO_HOST: "the trace has no host operators",
    NoOperator.OUTSIDE: "launched outside every operator",
    NoOperator.GRAPH: "replayed by a {device} graph launch",
}


NOT_MEASURED = MeasuredCounters(name=[], short_name=[], calls=[], counters=[], values=[])


def kernel_payload(
    facts: Facts,
    selection: Selection,
    group: KernelGroup,
    limit: int,
    measured: MeasuredCounters = NOT_MEASURED,
) -> KernelPayload:
    """Kernels launched in the selected steps, and their counters; beyond ``limit`` pooled in the last row."""
    rows = kernel_rows(facts, selection, group, of_calls=True)
    words = vocabulary(facts)
    full, short = ([text or "" for text in rows.texts(key)] for key in ("name", "short_name"))
    rows = rows.with_columns(short_name=unique_labels(full, short))
    time = rows["total_ns"]
    return KernelPayload(
        group=group,
        sentences=[
            leading_part(
                rows.texts("short_name")[0] or "", int(time[0]), int(time.sum()), "in kernels"
            ),
            summed_over(facts, selection),
        ]
        if rows.n
        else [],
        vocabulary=words,
        rows=wire_columns(rows.head(limit)),
        measured=measured,
        reasons=[
            NoOperatorReason(key=reason.name.lower(), text=text.format(device=words.device))
            for reason, text in NO_OPERATOR_TEXTS.items()
        ],
        pooled=max(rows.n - limit, 0),
        attribution=msgspec.convert(
            facts.summary.attribution, prepared(Attribution), from_attributes=True
        ),
        missing=missing(absent(facts), ("device", "host")),
    )
