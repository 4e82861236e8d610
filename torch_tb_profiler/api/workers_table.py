"""The table of the traces that were opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.figures.step_table import averaged
from torch_tb_profiler.api.table_frame import table_frame
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.store.display import display_spec
from torch_tb_profiler.store.strings import NO_STRINGS

if TYPE_CHECKING:
    from pandas import DataFrame

WORKERS = display_spec("""
workers: One row per trace that was opened.
    run           text       -  -                    Name of the run.
    worker        text       -  -                    Name of the worker.
    span          text       -  -                    Name of the span.
    rank          id         -  optional unit=rank   Its rank.
    world_size    count      -  optional unit=ranks  Ranks of the job.
    events        count      -  unit=events          Entries of `traceEvents`.
    steps         count      -  unit=steps           Steps.
    mean_step_ns  mean time  -  -                    Mean wall time of complete steps, of the kind with most time.
    path          text       -  -                    The file.
""")


def workers_frame(traces: Sequence[TraceContext]) -> DataFrame:
    """One row per trace that was opened."""
    opened = [context.opened for context in traces]
    selected = [
        (context.facts["steps"], averaged(context.facts, context.selection())) for context in traces
    ]
    walls = [step_lengths(table)[rows] for table, rows in selected]
    table = WORKERS.build(
        NO_STRINGS,
        run=[o.run.name for o in opened],
        worker=[o.worker.name for o in opened],
        span=[o.span.name for o in opened],
        rank=[o.worker.rank for o in opened],
        world_size=[o.worker.world_size for o in opened],
        events=[o.trace.entries for o in opened],
        steps=[table.n for table, _ in selected],
        mean_step_ns=[wall.mean() if len(wall) else None for wall in walls],
        path=[o.span.path for o in opened],
    )
    return table_frame(table)
