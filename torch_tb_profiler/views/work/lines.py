"""Route ``/lines``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.figures.source_lines import LineGroup as LineGroup
from torch_tb_profiler.analysis.module.ladder import LADDER, line_ladder
from torch_tb_profiler.analysis.module.own_lines import LINES, own_lines
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.python_frames import PythonFrame, function_name
from torch_tb_profiler.units import format_ns
from torch_tb_profiler.views.display_wire import table_of, wire_columns
from torch_tb_profiler.views.steps import summed_over
from torch_tb_profiler.views.wire import Missing, Vocabulary, Wire
from torch_tb_profiler.views.words.texts import missing
from torch_tb_profiler.views.words.vocabulary import vocabulary

NOTABLE, MOST_PARTS = 0.05, 3
"""Share of the path from which on a rung is named, and how many at most."""


class LinesPayload(Wire, frozen=True, kw_only=True):
    """Route ``/lines``. ``sentences``: where the path splits by call chain, and which steps the sums are of. ``ladder``: its rungs.
    ``pooled``: lines that the last of ``rows`` pools; 0 none.
    """

    vocabulary: Vocabulary
    sentences: list[str]
    ladder: Annotated[dict[str, Any], table_of(LADDER)]
    rows: Annotated[dict[str, Any], table_of(LINES)]
    pooled: int
    missing: list[Missing]


def lines_payload(
    trace: Trace,
    facts: Facts,
    insight: Insight,
    selection: Selection,
    group: LineGroup,
    limit: int,
) -> LinesPayload:
    """The ladder of the selected steps, and their lines, at most ``limit`` and a row that pools the rest."""
    table = own_lines(trace, facts, insight, selection, group)
    ladder = line_ladder(trace, facts, insight, selection)
    lacks = missing(absent(facts), ("host", "stack"))
    return LinesPayload(
        vocabulary=vocabulary(facts),
        sentences=[*_told(ladder, lacks), summed_over(facts, selection)]
        if ladder.n or table.n
        else [],
        ladder=wire_columns(ladder),
        rows=wire_columns(table.head(limit)),
        pooled=max(0, table.n - limit),
        missing=lacks,
    )


def _told(ladder: DisplayTable, lacks: list[Missing]) -> Iterator[str]:
    """Where the path first splits, what of it no call is known of, and why the rungs are no lines."""
    whole, placed = (ladder.attributes[key] for key in ("path_ns", "placed_ns"))
    parent, time = ladder["parent"].tolist(), ladder["path_ns"].tolist()
    names = [_short(name) for name in ladder["name"]]
    above, parts = -1, _parts(parent, time, -1, whole)
    # A call of which most lies in one that it calls says less than that one.
    while len(parts) == 1 and (above < 0 or 2 * time[parts[0]] >= time[above]):
        above = parts[0]
        parts = _parts(parent, time, above, whole)
    part = [
        f"{format_ns(time[row])} in {function_name(ladder['name'][row])}{_mostly(ladder, row)}"
        for row in parts
    ]
    if len(parts) > 1 and above >= 0:
        yield f"From {names[above]} the path splits: {', '.join(part)}, of {format_ns(whole)}."
    elif len(parts) > 1:
        yield f"The {format_ns(whole)} on the path: {', '.join(part)}."
    elif above >= 0:
        own = int(ladder["own_ns"][above])
        rest = f", {format_ns(own)} of it in no rung beneath" if own < time[above] else ""
        yield f"{names[above]} takes {format_ns(time[above])} of the {format_ns(whole)} on the path{rest}."
    else:
        yield f"No call is known for the {format_ns(whole)} on the path."
    lines = "line" in ladder["kind"]
    if (above >= 0 or parts) and whole - placed >= NOTABLE * whole:
        yield f"{format_ns(whole - placed)} of the path have no known {'line' if lines else 'call'}."
    if ladder.n and not lines:
        why = next((gap.why for gap in lacks if gap.key == "stack"), "")
        yield f"{why or 'No Python frame was recorded around these calls.'} So the rungs are modules, annotations and operators."


def _parts(parent: list[int], time: list[int], above: int, whole: int) -> list[int]:
    """The notable rungs right beneath one, the longest first."""
    return [row for row, up in enumerate(parent) if up == above and time[row] >= NOTABLE * whole][
        :MOST_PARTS
    ]


def _mostly(ladder: DisplayTable, row: int) -> str:
    """What a rung does besides computing, which goes without saying."""
    group = ladder["group"][row] or "compute"
    return "" if group in ("compute", "host_code") else f" (mostly {group.replace('_', ' ')})"


def _short(name: str) -> str:
    frame = PythonFrame.of(name)
    return frame.short if frame else name
