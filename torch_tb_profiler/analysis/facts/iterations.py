"""Iterations of an inference server, by the annotations that it writes around them.

One iteration is one outermost annotation of the thread that has most of them. What an inner one says more is added::

    step[DECODE bs=32]                                                          ─┐  one iteration:
      execute_32_context_0(sq0…)_generation_32(sq32sk32785sqsq32sqsk32785)       ─┘  decode of 32 requests, Σsk 32785
What drafts is part of the iteration that verifies it: of the one after it where the recording begins with a draft, else of
the one before it::

    draft     execute_context_0(0)_generation_4(20)     draft     …             iteration 0 ends before the second draft
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec.structs import astuple, replace

from torch_tb_profiler.analysis.arrays.grouping import (
    costliest,
    extreme_by,
    group_rows,
    picked,
    scatter,
    sum_by,
)
from torch_tb_profiler.analysis.arrays.intervals import (
    Intervals,
    join,
    measure,
    union,
    window_at,
)
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.host_names import distinct
from torch_tb_profiler.hardware.server_steps import PHASES, Requests, ServerStep, server_step
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.fact_schema import ITERATIONS
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringBuilder, StringTable

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.facts.calltree import CallTree
    from torch_tb_profiler.analysis.facts.device_causes import DeviceCauses

LEAST_REPEATS = 3
LEAST_COVERAGE = 0.5
"""What anybody may write, such as ``prefill``, marks iterations or steps if it repeats and covers this share of the time."""
_SUMS = ("requests", "query", "keys", "query_squares", "query_keys")
_SIDES = ("context", "generation")
LONGEST_NAME = 48


class ServerIterations(msgspec.Struct, frozen=True):
    """Iterations in time order; they do not overlap.

    row: rows of spans of their annotations, int64 of shape (iterations,).
    said: number of what each annotation says, an index of ``meanings``; the same shape.
    start, end: of the annotations and the drafts that belong to them; draft: the time of those; int64 ns, the same shape.
    """

    row: Ints
    said: Ints
    meanings: tuple[ServerStep, ...]
    start: Ints
    end: Ints
    draft: Ints

    @classmethod
    def of(
        cls, spans: Table, row: Ints, said: Ints, meanings: Sequence[ServerStep]
    ) -> ServerIterations:
        """Iterations without drafts."""
        start = spans["start"][row]
        return cls(
            row, said, tuple(meanings), start, start + spans["dur"][row], np.zeros_like(start)
        )

    @property
    def phase(self) -> Array:
        """Index of ``PHASES`` of every iteration, uint8."""
        number = [PHASES.index(meaning.phase) for meaning in self.meanings]
        return np.array(number, np.uint8)[self.said]


def server_iterations(trace: Trace) -> ServerIterations:
    """The iterations of a server; none in traces of other programs.

    Annotations on the host count, and where there are none their shadows on the device.
    """
    spans = trace["spans"]
    row, said = np.zeros(0, np.int64), np.zeros(0, np.int64)
    meanings: list[ServerStep] = []
    for role in (Role.ANNOTATION, Role.DEVICE_ANNOTATION):
        row = np.flatnonzero(spans["role"] == role)
        meaning, meanings = _meanings(spans["name"][row], trace.strings)
        said = meaning[spans["name"][row]]
        row, said = row[said >= 0], said[said >= 0]
        row, said, meanings = _of_servers(spans, row, said, meanings)
        if len(row):
            break
    here, _ = costliest(spans["track"][row], np.ones(len(row), np.bool_)) if len(row) else (row, 0)
    row, said = row[here], said[here]
    draft = _drafts(meanings)[said]
    if draft.all():
        return _outermost(spans, row, said, meanings)
    found = _outermost(spans, row[~draft], said[~draft], meanings)
    return _with_drafts(found, spans, outermost(spans, row[draft]))


def _drafts(meanings: Sequence[ServerStep]) -> Mask:
    return np.array([meaning.phase == "draft" for meaning in meanings], np.bool_)


def _with_drafts(found: ServerIterations, spans: Table, draft: Ints) -> ServerIterations:
    """The iterations with the drafts, rows of spans in time order, that they verify or that follow them."""
    since = spans["start"][draft]
    until = since + spans["dur"][draft]
    of = np.searchsorted(found.start, since, side="right") - 1
    inside = (of >= 0) & (since < found.end[of])
    outside = np.flatnonzero(~inside)
    if len(outside) and of[outside[0]] < 0:
        of[outside] += 1
    n = len(found.row)
    kept = (of >= 0) & (of < n)
    of, since, until = of[kept], since[kept], until[kept]
    return replace(
        found,
        start=np.minimum(found.start, extreme_by(np.minimum, of, n, since)),
        end=np.maximum(found.end, extreme_by(np.maximum, of, n, until)),
        draft=sum_by(of, n, until - since),
    )


def _meanings(name: Array, strings: StringTable) -> tuple[Ints, list[ServerStep]]:
    """By number of a string what it says, an index of the list, −1 nothing; int64 of shape (strings + 1,)."""
    number = np.full(len(strings) + 1, -1, np.int64)
    found: list[ServerStep] = []
    for text in distinct(name, strings):
        if said := server_step(strings[text]):
            number[text] = len(found)
            found.append(said)
    return number, found


def _of_servers(
    spans: Table, row: Ints, said: Ints, meanings: list[ServerStep]
) -> tuple[Ints, Ints, list[ServerStep]]:
    """Those in the words of a server; without any, those in words that anybody uses, if they repeat and cover enough."""
    own, drafts = (
        np.array([bool(meaning.server) for meaning in meanings], np.bool_),
        _drafts(meanings),
    )
    if not len(row):
        return row, said, meanings
    if own[said].any():
        kept = (own | drafts)[said]
        return row[kept], said[kept], meanings
    if drafts[said].all():
        return row[:0], said[:0], meanings
    start = spans["start"][row]
    end = start + spans["dur"][row]
    enough = LEAST_COVERAGE * (int(end.max()) - int(start.min()))
    if len(row) < LEAST_REPEATS or union(start, end).length < enough:
        return row[:0], said[:0], meanings
    return row, said, meanings


def said_around(trace: Trace, tree: CallTree, tells: Callable[[ServerStep], bool]) -> Array:
    """String number of the innermost annotation around each node of the call tree for which ``tells``
    is true, −1 none; int32 of shape (nodes + 1,), the last one −1.
    """
    name = trace["spans"]["name"][tree.row]
    annotation = trace["spans"]["role"][tree.row] == Role.ANNOTATION
    number, meanings = _meanings(name[annotation], trace.strings)
    told = np.array([*map(tells, meanings), False], np.bool_)[number]
    if not told.any():
        return np.full(len(name) + 1, -1, np.int32)
    around = nearest(tree.parent, annotation & told[name])
    return np.asarray(picked(name, np.append(around, np.int32(-1))))


def outermost(spans: Table, row: Ints) -> Ints:
    """Those of one thread that begin within none before, in time order."""
    order, outer = _in_order(spans, row)
    return row[order[outer]]


def _in_order(spans: Table, row: Ints) -> tuple[Ints, Mask]:
    """``(order, outer)``: spans of one thread by begin, and which of them begin within none before."""
    start, dur = spans["start"][row], spans["dur"][row]
    order = np.lexsort((-dur, start))
    reached = np.maximum.accumulate((start + dur)[order])
    outer = np.append(True, start[order][1:] >= reached[:-1])[: len(row)]
    return order, outer


def _outermost(spans: Table, row: Ints, said: Ints, meanings: list[ServerStep]) -> ServerIterations:
    """The annotations of one thread that begin within no other, with what the inner ones say."""
    order, outer = _in_order(spans, row)
    row, said = row[order], said[order]
    of = np.cumsum(outer) - 1
    result = said[outer].copy()
    inner = np.flatnonzero(~outer)
    if len(inner):
        pair = [of[inner], said[inner]]
        first, _ = group_rows(pair)
        several = np.bincount(pair[0][first], minlength=len(result)) > 1
        known: dict[tuple[int, int], int] = {}
        for at in first.tolist():
            holder, more = int(pair[0][at]), int(pair[1][at])
            if several[holder]:
                continue
            key = (int(result[holder]), more)
            if key not in known:
                known[key] = len(meanings)
                meanings.append(_merged(meanings[key[0]], meanings[more]))
            result[holder] = known[key]
    return ServerIterations.of(spans, row[outer], result, meanings)


def _merged(outer: ServerStep, inner: ServerStep) -> ServerStep:
    """What the outer annotation says, and the inner one where that says more."""
    sides = [_more(getattr(outer, side), getattr(inner, side)) for side in _SIDES]
    batch = outer.batch if outer.batch >= 0 else inner.batch
    stated = outer.stated or inner.stated if outer.phase == "other" else outer.stated
    return replace(outer, context=sides[0], generation=sides[1], batch=batch, stated=stated)


def _more(outer: Requests, inner: Requests) -> Requests:
    pairs = zip(astuple(outer), astuple(inner), strict=True)
    return Requests(*(own if own >= 0 else other for own, other in pairs))


def short_names(strings: StringBuilder, texts: StringTable, name: Ints) -> Ints:
    """Names as people read them: long ones without the sums of squares; numbers of strings."""
    short = {number: strings.intern(_short(texts[number])) for number in distinct(name, texts)}
    return np.array([short[number] for number in name.tolist()], np.int64)


def _short(text: str) -> str:
    said = server_step(text) if len(text) > LONGEST_NAME else None
    if said is None or said.server != "vLLM":
        return text
    context, generation = said.context, said.generation
    sides = (context.requests, context.query, generation.requests, generation.query)
    return "execute_context_{}({})_generation_{}({})".format(*sides)


def phase_of_steps(iterations: Table, steps: int) -> Ints:
    """A number per step, the same for steps of the same phase; steps without an iteration are of one kind."""
    phase = scatter(steps, iterations["step"], iterations["phase"])
    return phase


def iteration_table(
    trace: Trace,
    found: ServerIterations,
    host_start: Ints,
    host_end: Ints,
    caused: DeviceCauses,
    device_step: Array,
    left_out: Intervals,
) -> Table:
    """``ITERATIONS``: a row per step that holds an iteration; where it holds several (a user's own steps do), their sums.

    ``host_start``, ``host_end``: of the steps. ``device_step``: the step of every device event. ``left_out``: work from
    before the recording: the host's waits for it count in none of the times.
    """
    spans = trace["spans"]
    begin = spans["start"][found.row]
    step = window_at(host_start, host_end, begin).astype(np.int64)
    inside = np.flatnonzero(step >= 0)
    own = step[inside]
    steps, first, count = np.unique(own, return_index=True, return_counts=True)
    place = np.searchsorted(steps, own)
    row, said = found.row[inside], found.said[inside]
    alone = count == 1
    columns: dict[str, Array] = {}
    for side in _SIDES:
        values = np.array(
            [astuple(getattr(meaning, side)) for meaning in found.meanings], np.int64
        ).reshape(-1, len(_SUMS))[said]
        for key, value in zip(_SUMS, values.T, strict=True):
            columns[f"{side}_{key}"] = _known_sum(place, len(steps), value)
    batch = np.array([meaning.batch for meaning in found.meanings], np.int64)[said]
    start, end = found.start[inside], found.end[inside]
    before, until = end[:-1], np.maximum(start[1:], end[:-1])
    between = np.append(-1, until - before - measure(left_out, before, until))
    begun, gap = device_gaps(spans, caused, device_step, len(host_start), left_out)
    return ITERATIONS.build(
        step=steps,
        name=spans["name"][row][first],
        phase=_phases(place, len(steps), found.phase[inside]),
        **columns,
        batch=np.where(alone, batch[first], -1),
        draft=_known_sum(place, len(steps), found.draft[inside]),
        host=_known_sum(place, len(steps), end - start - measure(left_out, start, end)),
        scheduler=between[first],
        gap=np.where(begun[steps], gap[steps], -1),
    )


def _known_sum(group: Ints, groups: int, values: Ints) -> Ints:
    """Sums per group; −1 where a value is unknown, or the sum is more than fits."""
    rough = np.bincount(group, weights=values.astype(np.float64), minlength=groups)
    total = np.zeros(groups, np.int64)
    np.add.at(total, group, values)
    least = extreme_by(np.minimum, group, groups, values)
    return np.where((least < 0) | (rough > 2**62), -1, total)


def _phases(group: Ints, groups: int, phase: Array) -> Array:
    """The phase of all iterations of a group, mixed where prefill and decode meet."""
    seen = np.zeros((groups, len(PHASES)), np.bool_)
    seen[group, phase] = True
    prefill, decode, mixed, _, draft = seen.T
    choice = scatter(groups, draft, PHASES.index("draft"), PHASES.index("other"), np.uint8)
    choice[decode] = PHASES.index("decode")
    choice[prefill] = PHASES.index("prefill")
    choice[mixed | (prefill & decode)] = PHASES.index("mixed")
    return choice


def device_gaps(
    spans: Table, caused: DeviceCauses, device_step: Array, steps: int, left_out: Intervals
) -> tuple[Mask, Ints]:
    """``(known, idle)`` of every step: how long the device was idle before the first work of the step, since the last
    work of the steps before it, ns. Work of no step in between is no idleness, nor is work from before the recording.
    """
    begin = spans["start"][caused.row]
    end = begin + spans["dur"][caused.row]
    owned = (device_step >= 0) & (device_step < steps)
    group = device_step[owned]
    has_work = np.bincount(group, minlength=steps) > 0
    first = extreme_by(np.minimum, group, steps, begin[owned])
    last = extreme_by(np.maximum, group, steps, end[owned])
    reached = np.maximum.accumulate(np.where(has_work, last, np.iinfo(np.int64).min))
    earlier = np.append(np.iinfo(np.int64).min, reached[:-1]) if steps else reached
    known = has_work & (earlier > np.iinfo(np.int64).min)
    since = np.where(known, earlier, 0)
    until = np.where(known, np.maximum(first, since), 0)
    busy = measure(join(union(begin, end), left_out), since, until)
    return known, until - since - busy
