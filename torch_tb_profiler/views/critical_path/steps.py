"""Routes ``/critical_path/steps`` and ``/critical_path/step``: all steps by cause, and why one takes longer than the
median step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import largest_by
from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS
from torch_tb_profiler.analysis.critical_path.lanes import PathSegments, Source, path_lanes
from torch_tb_profiler.analysis.critical_path.ranks import RanksPath, RankTrace
from torch_tb_profiler.analysis.critical_path.step_groups import (
    MOST,
    Part,
    PathRows,
    group_parts,
    own_groups,
    own_rows,
    place_parts,
    run_groups,
    run_rows,
    with_small_ones,
)
from torch_tb_profiler.analysis.critical_path.step_groups import StepGroups as StepGroups
from torch_tb_profiler.analysis.critical_path.verdict_texts import step_label
from torch_tb_profiler.analysis.distributed.measures import measured
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.facts.step_kinds import LEAST_TO_JUDGE
from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, unique_values
from torch_tb_profiler.store.display import (
    DisplayColumn,
    DisplaySpec,
    DisplayTable,
    display_columns,
)
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.python_frames import PythonFrame
from torch_tb_profiler.store.strings import NO_STRINGS
from torch_tb_profiler.units import format_count, format_names, format_ns
from torch_tb_profiler.views.critical_path.glyph import (
    MOST_LANES,
    LaneTimes,
    LaneWork,
    lane_times,
    lane_work,
)
from torch_tb_profiler.views.display_wire import table_of, wire_columns
from torch_tb_profiler.views.distributed.texts import all_called, called, world_size
from torch_tb_profiler.views.steps import first_steps, kinds_of_steps, step_rows, subject_of_job
from torch_tb_profiler.views.wire import KindOfSteps, Subject, Wire
from torch_tb_profiler.views.words.texts import GROUP_LABELS, group_label
from torch_tb_profiler.views.words.vocabulary import vendor_words

_DOES = {
    "compute": ("computes", " longer"),
    "copies": ("copies", " longer"),
    "data_loading": ("loads data", ""),
    "communication": ("communicates", " longer"),
    "waiting": ("waits", " for a rank"),
    "host_code": ("runs", " host code"),
    "not_recorded": ("recorded", " nothing of it"),
}
"""What a rank does, and what follows where neither line nor operator is known."""
_SHORT = regex(r"[\w:.#]{1,40}")
MOST_LATE = 64
"""Ranks that are listed, the latest ones."""
ALIKE = 0.01
"""A step that differs by no more of the median step takes as long."""
NOTABLE = 0.05
"""Share of a step from which on what a group takes of it is told."""

_C = DisplayColumn
STEP_CAUSES = DisplaySpec(
    "step_causes",
    "What the end of every step waited for, in groups of causes that add up to `wall_ns`; missing where the path is not known.",
    (
        _C("step", "id", "", "Number of the step, from 0."),
        _C("name", "text", "", "Name, e.g. `ProfilerStep#5`."),
        _C("wall_ns", "time", "", "Length."),
        *(_C(f"{key}_ns", "time", label, label) for key, label in GROUP_LABELS.items()),
        *display_columns("""
    kind      text   -  -                  What its kind is called; empty where that is not known.
    cold      flag   -  -                  A first step that sets up.
    odd       flag   -  -                  Slower than others of its kind by far more than they differ.
    cut       flag   -  -                  Only a part of it was recorded.
    own_step  row    -  unit=row_of_steps  Its number in the asked trace.
    longest   row    -  unit=row_of_steps  The longest of the row's steps.
    steps     count  -  -
"""),
    ),
)


class StepCausesPayload(Wire, frozen=True, kw_only=True):
    """Route ``/critical_path/steps``. ``ranks``: of how many ranks the path is, 0 of this trace alone. While ``progress`` is
    below 1 ranks are being read and no step is known: ask again. ``sentences``: which step is odd and why, else how alike they
    are. ``device``: what computes, `CPU` without an accelerator.
    ``median``: the number of the step of median length among those that are neither cold, odd nor cut off; ``slowest_odd``: of
    the odd step that takes longest; −1 none. ``kinds``: as of ``OverviewPayload``.
    ``lanes``: what the device and the host of the rank on the path did in each row. Of very many steps a row is the sum of
    several, without lanes.
    """

    progress: float
    subject: Subject = Subject()
    sentences: list[str] = msgspec.field(default_factory=list)
    ranks: int = 0
    device: str = ""
    median: int = -1
    median_ns: int = -1
    slowest_odd: int = -1
    kinds: list[KindOfSteps] = msgspec.field(default_factory=list)
    note: str = ""
    lanes: list[LaneTimes] = msgspec.field(default_factory=list)
    steps: Annotated[dict[str, Any], table_of(STEP_CAUSES)]


class DifferencePart(Wire, frozen=True, kw_only=True):
    """What differs. ``group``: its key, `other` for all that are small. ``who``: the rank; ``what``: the operator; ``at``: the
    user's line as `file.py:12`, ``line`` all of it; each empty where nothing alone makes half of the difference.
    """

    group: str
    label: str
    difference_ns: int
    who: str
    what: str
    at: str
    line: str


class LateRank(Wire, frozen=True, kw_only=True):
    """A rank and how late it came to the collectives of the step in all; null unknown."""

    name: str
    late_ns: int | None


class ComparedStep(Wire, frozen=True, kw_only=True):
    """A step: its number, its number in the trace that is to be looked at (−1 none), what people call it, and its length."""

    step: int
    trace_step: int
    label: str
    wall_ns: int


class StepDifferencePayload(Wire, frozen=True, kw_only=True):
    """Route ``/critical_path/step``: why a step takes longer, or shorter, than the median step; null without another step. The
    differences of ``parts``, the largest first, add up to that of the steps. ``places``: operators at their lines that differ
    most, of a trace alone; ``late``: how late each rank came, the ranks in their order. ``worker`` and ``span``: the trace to look
    at, of the rank that makes the largest part; empty: the asked one.
    """

    headline: str
    worker: str
    span: str
    step: ComparedStep
    median: ComparedStep | None
    parts: list[DifferencePart]
    places: list[DifferencePart]
    late: list[LateRank]


class Worker(msgspec.Struct, frozen=True):
    """A rank of a run: what it is called, and its recording."""

    rank: int | None
    worker: str
    span: str


class StepsOfTrace(msgspec.Struct, frozen=True):
    """The steps of one trace."""

    facts: Facts
    insight: Insight
    lane_work: Callable[[], LaneWork] | None = None
    workers: Sequence[Worker] = ()

    def groups(self) -> StepGroups:
        """All of its steps."""
        return own_groups(self.facts, self.insight)

    def lanes(self) -> list[LaneTimes]:
        """What the device and its host did in each; empty where that is not known."""
        if self.lane_work is None:
            return []
        path, steps = self.insight["critical_path"], self.facts["steps"]
        none = np.zeros(path.n, np.int64)
        columns = (path["start"], path["end"], path["cause"], path["event"].astype(np.int64))
        segments = PathSegments(NO_STRINGS, none, *columns, none, none)
        drawn = path_lanes(segments, {0: Source(self.lane_work())})
        return lane_times(drawn, steps["start"], steps["end"])

    def rows(self, groups: StepGroups, steps: Sequence[int]) -> PathRows:
        """What is on the paths of some."""
        return own_rows(self.facts, self.insight, groups, steps)

    def late(self, step: int) -> list[LateRank]:
        """Nobody is."""
        return []

    def trace_step(self, step: int, rank: int) -> int:
        """It is the step itself."""
        return step

    def note(self, groups: StepGroups) -> str:
        """Nothing."""
        return ""


class StepsOfRun(msgspec.Struct, frozen=True):
    """The steps of a run by the path through all ranks. ``asked``: the rank whose own steps are told, −1 none; ``total``: workers."""

    figures: RunFigures
    path: RanksPath
    open_rank: Callable[[int], RankTrace | None]
    workers: Sequence[Worker]
    total: int
    asked: int

    def groups(self) -> StepGroups:
        """All common steps."""
        return run_groups(self.figures, self.path, self.open_rank, self.asked)

    def lanes(self) -> list[LaneTimes]:
        """What the device and the host of the rank on the path did in each; empty where it comes through too many ranks."""
        path, sources = self.path, {}
        ranks = unique_values(path.rank).tolist()
        if len(ranks) > MOST_LANES:
            return []
        for rank in ranks:
            if (opened := self.open_rank(rank)) is not None:
                work = lane_work(opened.trace, opened.facts, opened.insight)
                sources[rank] = Source(work, self.figures.aligned[rank].offset)
        none = np.zeros(len(path.start), np.int64)
        columns = (path.rank, path.start, path.end, path.cause, path.event)
        drawn = path_lanes(PathSegments(NO_STRINGS, *columns, none, none), sources)
        return lane_times(drawn, path.begin, path.stop)

    def rows(self, groups: StepGroups, steps: Sequence[int]) -> PathRows:
        """What is on the paths of some."""
        return run_rows(self.path, self.open_rank, groups, steps)

    def trace_step(self, step: int, rank: int) -> int:
        """The number of a common step in the trace of a rank, −1 none; of the asked rank where ``rank`` is −1."""
        rank = self.asked if rank < 0 else rank
        if rank < 0:
            return -1
        own = np.flatnonzero(self.figures.steps.place[rank] == step)
        return int(own[0]) if len(own) else -1

    def late(self, step: int) -> list[LateRank]:
        """Every rank, of very many those that came latest."""
        late = measured(self.figures, "late")[:, step]
        if not (late >= 0).any():
            return []
        shown = np.sort(np.argsort(-late, kind="stable")[:MOST_LATE])
        return [
            LateRank(
                name=called(self.workers[rank]),
                late_ns=int(late[rank]) if late[rank] >= 0 else None,
            )
            for rank in shown.tolist()
        ]

    def note(self, groups: StepGroups) -> str:
        """Which ranks were not read, and which steps are not known."""
        read, notes = len(self.figures.ranks), []
        total = max(world_size(self.figures) or 0, self.total)
        if read < total:
            notes.append(f"{format_count(read)} of {format_count(total)} ranks were read.")
        unknown = int((~groups.known).sum())
        if unknown:
            notes.append(
                f"The path of {format_count(unknown)} of {format_count(len(groups.names))} steps is not known."
            )
        return " ".join(notes)


Steps = StepsOfTrace | StepsOfRun


def reading_payload(progress: float) -> StepCausesPayload:
    """While ranks are being read."""
    return StepCausesPayload(
        progress=progress, steps={column.name: [] for column in STEP_CAUSES.columns}
    )


def step_causes_payload(steps: Steps, groups: StepGroups) -> StepCausesPayload:
    """Every step by group."""
    count, wall = len(groups.names), groups.wall
    table = STEP_CAUSES.build(
        NO_STRINGS,
        step=np.arange(count),
        name=list(groups.names),
        wall_ns=wall,
        **{f"{key}_ns": groups.time[:, number] for number, key in enumerate(GROUPS)},
        kind=[groups.kinds[kind] if 0 <= kind < len(groups.kinds) else "" for kind in groups.kind],
        cold=groups.cold,
        odd=groups.odd,
        cut=groups.cut,
        own_step=groups.own,
        longest=np.arange(count),
        steps=np.ones(count, np.int64),
    )
    ranks, rows = len(steps.workers), _merged(table, groups)
    return StepCausesPayload(
        subject=subject_of_job((one.worker for one in steps.workers), np.flatnonzero(groups.known)),
        progress=1.0,
        sentences=list(_told(steps, groups)),
        ranks=ranks,
        device=_device(groups),
        median=groups.median,
        median_ns=int(wall[groups.median]) if groups.median >= 0 else -1,
        slowest_odd=groups.slowest_odd,
        kinds=_kinds(groups),
        note=steps.note(groups),
        lanes=steps.lanes() if rows.n == count else [],
        steps=wire_columns(rows),
    )


def _kinds(groups: StepGroups) -> list[KindOfSteps]:
    """Those of the steps that are neither cold nor cut off."""
    kind = np.where(groups.cold | groups.cut | (groups.wall <= 0), -1, groups.kind)
    return kinds_of_steps(groups.kinds, kind, groups.wall, groups.odd)


def _told(steps: Steps, groups: StepGroups) -> Iterator[str]:
    """Why the slowest odd step takes longer. Without one how long the others take, and what makes the longest of them longer."""
    if not len(groups.names):
        yield "The recording has no steps."
        yield "Record several, and mark each with profiler.step()."
    if len(groups.names) == 1 and groups.known[0]:
        yield f"The recording has one step of {format_ns(groups.wall[0])}."
        order = np.argsort(-groups.time[0], kind="stable").tolist()
        parts = [
            f"{format_ns(groups.time[0, group])} {_inside(_label([*GROUPS][group], groups))}"
            for group in order
            if groups.time[0, group] >= NOTABLE * groups.wall[0]
        ]
        yield f"What its end waited for: {', '.join(parts)}."
        yield "Record several steps to see which is slow, and why."
        return
    looked_at = groups.slowest_odd
    if looked_at < 0 and groups.usual.any():
        alike = groups.usual & (groups.kind == groups.kind[groups.median])
        looked_at = int(np.where(alike, groups.wall, -1).argmax())
        yield _alike(groups.wall[alike], _kinds(groups), step_label(groups.names, looked_at))
    if looked_at < 0:
        return
    why = step_difference_payload(steps, groups, looked_at)
    same = why.median is None or _as_long(why.step, why.median)
    if groups.odd[looked_at] or not same:
        yield why.headline
    if why.median is not None and not same:
        yield f"The median step, {why.median.label}, takes {format_ns(why.median.wall_ns)}."


def _alike(walls: Ints, kinds: Sequence[KindOfSteps], only: str) -> str:
    """How long steps of which none is odd take. ``walls``: those of the leading kind, ns; ``only``: what one alone is called."""
    if kinds:
        each = [f"{kind.name} {format_ns(kind.median_ns)}" for kind in kinds]
        return f"No step is odd within its kind: {format_names(each)}."
    if len(walls) < 2:
        return f"Step {only} alone was recorded whole and sets nothing up: no other is like it."
    low, high = format_ns(walls.min()), format_ns(walls.max())
    take = f"take {low} to {high}" if low != high else f"take {low} each"
    if len(walls) < LEAST_TO_JUDGE:
        return f"The {format_count(len(walls))} steps {take}: too few to call one odd."
    return f"No step is odd: {format_count(len(walls))} {take}."


def _merged(table: DisplayTable, groups: StepGroups) -> DisplayTable:
    """Of very many steps a row is several; it is named by where its first and longest steps are."""
    first = first_steps(table.n)
    rows = step_rows(table)
    if rows.n == table.n:
        return rows
    place = np.repeat(np.arange(len(first)), np.diff(np.append(first, table.n)))
    longest = largest_by(place, len(first), groups.wall)
    return rows.with_columns(own_step=groups.own[first], longest=longest)


def _label(key: str, groups: StepGroups) -> str:
    return group_label(key, _device(groups))


def _device(groups: StepGroups) -> str:
    return vendor_words(groups.vendor).device if groups.has_device else "CPU"


def step_difference_payload(steps: Steps, groups: StepGroups, step: int) -> StepDifferencePayload:
    """Why a step takes as long as it does.

    Raises:
        BadRequest: there is no such step.
    """
    if not 0 <= step < len(groups.names):
        raise BadRequest(
            f"Parameter step: step {step} does not exist.",
            "Take the numbers from /critical_path/steps.",
        )
    median = groups.median_for(step)
    if median < 0 or not groups.known[step]:
        return _without_comparison(steps, groups, step)
    rows = steps.rows(groups, [step, median])
    parts = group_parts(rows, groups, step, median)
    large, small = with_small_ones(parts)
    words = _Words(rows, groups, steps.workers)
    shown = [words.part(part) for part in large]
    if small:
        shown.append(words.other(small))
    rank = parts[0].rank if parts else -1
    own, other = (_compared(steps, groups, one, rank) for one in (step, median))
    looked_at = steps.workers[rank] if rank >= 0 else None
    return StepDifferencePayload(
        headline=_headline(words, parts, own, other),
        worker=looked_at.worker if looked_at else "",
        span=looked_at.span if looked_at else "",
        step=own,
        median=other,
        parts=shown,
        places=[] if steps.workers else [words.part(part) for part in place_parts(rows, step)],
        late=steps.late(step),
    )


def _without_comparison(steps: Steps, groups: StepGroups, step: int) -> StepDifferencePayload:
    own = _compared(steps, groups, step, -1)
    of_its_kind = " of its kind" if groups.known.sum() > 1 else ""
    told = (
        f"The recording has no other step{of_its_kind} to compare step {own.label} with."
        if groups.known[step]
        else f"The critical path of step {own.label} is not known."
    )
    return StepDifferencePayload(
        headline=told, worker="", span="", step=own, median=None, parts=[], places=[], late=[]
    )


def _compared(steps: Steps, groups: StepGroups, step: int, rank: int) -> ComparedStep:
    return ComparedStep(
        step=step,
        trace_step=steps.trace_step(step, rank),
        label=step_label(groups.names, step),
        wall_ns=int(groups.wall[step]),
    )


class _Words(msgspec.Struct, frozen=True):
    """What the parts of a difference are called."""

    rows: PathRows
    groups: StepGroups
    workers: Sequence[Worker]

    def part(self, part: Part) -> DifferencePart:
        name = _plain(self.rows.strings[part.name]) if part.name >= 0 else ""
        line = self.rows.strings[part.line] if part.line >= 0 else ""
        who = all_called(self.workers, [part.rank]) if part.rank >= 0 else ""
        key = list(GROUPS)[part.group]
        return DifferencePart(
            group=key,
            label=_label(key, self.groups),
            difference_ns=part.difference,
            who=f"the path leaves {who}" if part.left else who,
            what=name,
            at=_at(line),
            line=line,
        )

    def other(self, small: Sequence[Part]) -> DifferencePart:
        labels = [_inside(_label(list(GROUPS)[part.group], self.groups)) for part in small]
        return DifferencePart(
            group="other",
            label="All else",
            difference_ns=sum(part.difference for part in small),
            who=", ".join(labels),
            what="",
            at="",
            line="",
        )


def _at(line: str) -> str:
    """``train.py:12`` of ``folder/train.py(12): main``; ``main of train.py`` where the line is not known."""
    frame = PythonFrame.of(line)
    if frame is None or not frame.is_source:
        return ""
    file = frame.file.replace("\\", "/").rpartition("/")[2]
    return f"{file}:{frame.line}" if frame.line is not None else f"{frame.function} of {file}"


def _headline(
    words: _Words, parts: Sequence[Part], step: ComparedStep, median: ComparedStep
) -> str:
    """``Step 7 takes 9.78 ms longer: rank 2 loads data at train.py:12.`` in at most twelve words."""
    if step.step == median.step:
        return f"Step {step.label} is the median step."
    difference = step.wall_ns - median.wall_ns
    if _as_long(step, median):
        return f"Step {step.label} takes as long as the median step."
    longer = difference > 0
    begin = f"Step {step.label} takes {format_ns(abs(difference))} {'longer' if longer else 'less'}"
    causes = [part for part in parts if (part.difference > 0) == longer]
    if causes[0].difference / difference >= MOST:
        return f"{begin}: {_cause(words.part(causes[0]), longer)}."
    # No group alone makes half of it: as many as do together.
    reached = np.cumsum([part.difference / difference for part in causes])
    count = int(np.searchsorted(reached, MOST)) + 1
    labels = [_inside(words.part(part).label) for part in causes[:count]]
    return f"{begin}: {format_names(labels, count)}."


def _as_long(step: ComparedStep, median: ComparedStep) -> bool:
    """Whether a step and the median step do not differ by more than people care about."""
    return abs(step.wall_ns - median.wall_ns) <= ALIKE * median.wall_ns


def _cause(part: DifferencePart, longer: bool) -> str:
    line = part.at if ":" in part.at else ""
    if not longer:
        return f"less {_inside(part.label)}{f' at {line}' if line else ''}"
    who = part.who or "it"
    verb, alone = _DOES[part.group]
    if part.group in ("waiting", "not_recorded"):
        return f"{who} {verb}{alone}"
    if line:
        return f"{who} {verb}{' ' if part.group == 'host_code' else ' at '}{line}"
    if part.group in ("compute", "host_code") and _SHORT.fullmatch(part.what):
        return f"{who} runs {part.what}"
    return f"{who} {verb}{alone}"


def _inside(label: str) -> str:
    """A label within a sentence: ``host code``, ``CPU compute``."""
    return label if label[1:2].isupper() else label[0].lower() + label[1:]


def _plain(name: str) -> str:
    """An operator as it is, the function of a frame, a kernel without its types."""
    frame = PythonFrame.of(name)
    if frame is not None:
        return frame.function
    return name if _SHORT.fullmatch(name) else short_name(name)
