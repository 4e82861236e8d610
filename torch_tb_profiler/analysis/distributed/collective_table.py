"""The table of the collectives of one worker."""

from __future__ import annotations

from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.insight import Insight

_C = DisplayColumn
COLLECTIVES = DisplaySpec(
    "collectives",
    "One row per collective or point-to-point transfer of the worker, in time order. The columns"
    " from `match` on are of runs of several workers: `match` is missing where no other worker's is"
    " known to be the same, `wait_ns` where it cannot be told.",
    (
        _C("kind", "text", "", "`all_reduce`, `all_gather`, `send` …"),
        _C("library", "text", "", "`nccl`, `rccl`, `gloo` …", optional=True),
        _C("group", "text", "", "Process group.", optional=True),
        _C("group_size", "count", "", "Ranks of the group.", optional=True, unit="ranks"),
        _C("dtype", "text", "", "Element type.", optional=True),
        _C("bytes", "bytes", "", "Message size as nccl-tests counts it.", optional=True),
        _C("sequence", "id", "", "Number that the backend gave it.", optional=True),
        _C("peer", "id", "", "The other rank of a send or recv.", optional=True, unit="rank"),
        _C("start_ns", "time", "", "Begin, after the first event of the trace."),
        _C("dur_ns", "time", "", "Length, waiting included."),
        _C("exposed_ns", "time", "", "Of it, time in which the device computed nothing."),
        _C("step", "id", "", "The step.", optional=True, unit="step"),
        _C(
            "event", "id", "", "Its kernel, or the host's region or operator.", unit="row of events"
        ),
        _C("host_event", "row", "", "The host call that started it."),
        _C(
            "match", "id", "", "Its number, the same on every worker that took part.", optional=True
        ),
        _C("wait_ns", "time", "", "Of its length, waiting for the last worker.", optional=True),
        _C("transfer_ns", "time", "", "The rest of its length.", optional=True),
        _C("last_worker", "text", "", "The worker that came last.", optional=True),
        _C("skewed", "flag", "", "The profilers' own starts spoil its waiting: not on the page."),
    ),
)


def collective_table(insight: Insight) -> DisplayTable:
    """The collectives of the worker, without what only the run tells."""
    table = insight["collectives"]
    same = ("kind", "library", "group", "dtype", "group_size", "bytes", "sequence", "peer", "step")
    return COLLECTIVES.build(
        insight.strings,
        **{name: table[name] for name in (*same, "event")},
        start_ns=table["start"],
        dur_ns=table["end"] - table["start"],
        exposed_ns=table["exposed"],
        host_event=table["host"],
    )
