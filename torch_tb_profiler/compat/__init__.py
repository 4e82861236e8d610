"""Other tools' own lines, unchanged but for the import: HTA's analysis of counters here, PyProf's programs as the modules
``compat.parse`` and ``compat.prof``. What they give comes from ``api`` and ``cli``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from torch_tb_profiler.api.opening import open_all
from torch_tb_profiler.errors import NotFound

if TYPE_CHECKING:
    from pandas import DataFrame

    from torch_tb_profiler.api.frames import TraceFrames

_OF_COUNTERS = {"kernel": "name", "top_op": "top_level_op", "bottom_op": "bottom_level_op"}
_LEFT_OUT = "short_name step time_ns flops bytes intensity flops_rate unit precision peak launch"
"""Columns that HTA does not have; ``open(path).counters`` has them."""


class TraceAnalysis:
    """HTA's class of that name, as far as counters go; ``traces``: by rank. SourceError: nothing can be read there."""

    def __init__(
        self,
        trace_files: Mapping[int, str] | None = None,
        trace_dir: str | os.PathLike[str] = "",
    ) -> None:
        traces = (
            open_all(trace_dir)
            if trace_files is None
            else [open_all(os.path.join(trace_dir, file))[0] for file in trace_files.values()]
        )
        ranks = [trace.context.opened.worker.rank for trace in traces] if not trace_files else []
        numbered = trace_files or [n if r is None else r for n, r in enumerate(ranks)]
        self.traces: dict[int, TraceFrames] = dict(zip(numbered, traces, strict=True))

    def get_cupti_counter_data_with_operators(
        self, ranks: Sequence[int] | None = None
    ) -> list[DataFrame]:
        """A frame per rank, by default of rank 0: a row per profiled kernel with HTA's names of columns, µs. ``correlation`` and
        ``external_id`` are those of its launch, ``input_dims`` and ``input_type`` of the operator that made it.

        Raises:
            NotFound: there is no such rank.
        """
        wanted = list(ranks or [0])
        if missing := [rank for rank in wanted if rank not in self.traces]:
            raise NotFound(f"There is no rank {missing[0]}.", f"There are {sorted(self.traces)}.")
        return [_counters(self.traces[rank]) for rank in wanted]


def _counters(trace: TraceFrames) -> DataFrame:
    import pandas

    counters, events = trace.counters, trace.events.set_index("event", drop=False)
    ranges = events.reindex(counters["event"]).reset_index(drop=True)
    launches = events.reindex(counters["launch"]).reset_index(drop=True)
    operators = events.reindex(launches["operator"]).reset_index(drop=True)
    named = counters.drop(columns=_LEFT_OUT.split(), errors="ignore").rename(columns=_OF_COUNTERS)
    known = {
        "index": named.pop("event"),
        "cat": ranges["category"].astype(str),
        "name": named.pop("name"),
        "pid": pandas.to_numeric(ranges["process"], errors="coerce").astype("Int64"),
        "tid": pandas.to_numeric(ranges["thread"], errors="coerce").astype("Int64"),
        "ts": ranges["start_ns"] / 1000,
        "dur": ranges["dur_ns"] / 1000,
        "stream": ranges["stream"].fillna(-1),
        "correlation": launches["correlation"].fillna(-1),
        "external_id": launches["external_id"].fillna(-1),
        "iteration": counters["step"].fillna(-1),
        "input_dims": operators["input_shapes"],
        "input_type": operators["input_dtypes"],
    }
    named["op_stack"] = named["op_stack"].map(list)
    frame: DataFrame = pandas.DataFrame({**known, **named})
    return frame
