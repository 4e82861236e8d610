"""Questions of a fixed form: ``why 7``, ``step 7``, ``rank 2``, ``vs main``, ``line 410``, ``train.py:12``, ``what if no-sync``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import NamedTuple

import msgspec
import numpy as np

from torch_tb_profiler.analysis.critical_path.step_groups import StepGroups
from torch_tb_profiler.analysis.critical_path.verdict import Hold, Verdict
from torch_tb_profiler.analysis.critical_path.verdict_texts import number_of, once_in, step_label
from torch_tb_profiler.analysis.distributed.measures import step_times
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.figures.selection import has_steps
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.python_frames import PythonFrame
from torch_tb_profiler.untrusted import said
from torch_tb_profiler.views.ask.names import Names
from torch_tb_profiler.views.ask.table import Row, address
from torch_tb_profiler.views.critical_path.steps import StepDifferencePayload, Steps

MOST_OTHERS = 5
"""Recordings to compare with, and functions above a line, that are listed."""


class Recording(msgspec.Struct, frozen=True):
    """A recording that can be looked at. ``beside``: whether it was made together with the asked one."""

    run: str
    worker: str
    span: str
    rank: int | None = None
    beside: bool = False

    def as_other(self, **more: str) -> str:
        """The address at which it is compared with."""
        return address("diff", run2=self.run, worker2=self.worker, span2=self.span, **more)


class Ranks(msgspec.Struct, frozen=True):
    """What all ranks of a run tell. ``workers``: worker and span of each rank of the figures; ``times``: how long the median step of the
    job is on each, ns, −1 unknown.
    """

    figures: RunFigures
    verdict: Verdict
    workers: Sequence[tuple[str, str]]
    times: Ints

    @classmethod
    def of(cls, figures: RunFigures, verdict: Verdict, workers: Sequence[tuple[str, str]]) -> Ranks:
        """Those of a run."""
        median = verdict.median
        times = np.full(len(workers), -1) if median is None else step_times(figures)[:, median]
        return cls(figures, verdict, workers, times)


class Asked(msgspec.Struct, frozen=True):
    """What questions are about. ``places``: ranks and runs; ``recordings``: all that there are, ``own`` among them; ``steps``: makes the steps and their
    groups, through all ranks where they are known; ``difference``: why one of them is slow.
    """

    facts: Facts
    names: Names
    places: Names
    own: Recording
    recordings: Sequence[Recording]
    ranks: Ranks | None
    steps: Callable[[], tuple[Steps, StepGroups]]
    difference: Callable[[int], StepDifferencePayload]


class Answered(NamedTuple):
    """Rows, and a sentence where they are not what was asked for."""

    rows: list[Row]
    sentence: str = ""


def answered(asked: Asked, text: str) -> Answered | None:
    """The answer to a question of a fixed form; None of any other."""
    for form, answer in _FORMS:
        found = form.fullmatch(text)
        if found:
            return answer(asked, *(group or "" for group in found.groups()))
    return None


def _why(asked: Asked, number: str) -> Answered:
    _, groups = asked.steps()
    labels = [step_label(groups.names, step) for step in range(len(groups.names))]
    step = _numbered(labels, number) if number else groups.slowest_odd
    if step < 0:
        first = [row for row in asked.names.rows if row.kind == "finding"][:MOST_OTHERS]
        return _no_step(labels, number) if number else Answered(first)
    told = asked.difference(step)
    own, median = told.step, told.median
    change = own.wall_ns - median.wall_ns if median and median.step != own.step else None
    rows = [
        Row(
            "step",
            f"why {own.label}",
            told.headline.removesuffix("."),
            change_ns=change,
            to=address("steps", why=str(step)),
        )
    ]
    if median and change is not None and min(own.trace_step, median.trace_step) >= 0:
        label = f"Step {own.label} beside step {median.label}, the median"
        rows.append(Row("trace", "", label, to=_beside(asked, own.trace_step, median.trace_step)))
    if own.trace_step >= 0:
        rows.append(_only(own.label, own.trace_step, own.wall_ns))
    return Answered(rows)


def _step(asked: Asked, number: str) -> Answered:
    facts = asked.facts
    names = facts.strings.many(facts["steps"]["name"]) if has_steps(facts) else []
    labels = [number_of(name, row) for row, name in enumerate(names)]
    row = _numbered(labels, number)
    if row < 0:
        return _no_step(labels, number)
    label = labels[row]
    return Answered(
        [
            _only(label, row, int(step_lengths(facts["steps"])[row])),
            Row("trace", "", f"Step {label} in the trace", to=address("trace", steps=str(row))),
            Row("step", "", f"Why step {label} is as long as it is", to=f"ask=why+{label}"),
        ]
    )


def _only(label: str, row: int, wall: int) -> Row:
    text = f"Only step {label}, everywhere"
    return Row("step", f"step {label}", text, time_ns=wall, to=address("", steps=str(row)))


def _beside(asked: Asked, step: int, other: int) -> str:
    own = asked.own
    side = {"run2": own.run, "worker2": own.worker, "span2": own.span, "steps2": str(other)}
    return address("trace", steps=str(step), **side)


def _numbered(labels: Sequence[str], number: str) -> int:
    """The step that people know by a number, else the one at that place; −1 none."""
    wanted = str(int(number))
    place = int(wanted)
    if wanted in labels:
        return labels.index(wanted)
    # Where steps have numbers of their own, a place would be another step.
    return place if place < len(labels) and labels[place] == str(place) else -1


def _no_step(labels: Sequence[str], number: str) -> Answered:
    if not labels:
        return Answered([], "The recording marks no steps.")
    there = labels[0] if len(labels) == 1 else f"{labels[0]} to {labels[-1]}"
    return Answered([], f"There is no step {said(number)}. Recorded: {there}.")


def _rank(asked: Asked, number: str) -> Answered:
    rank = int(number)
    found = [one for one in asked.recordings if one.beside and one.rank == rank]
    if not found:
        there = sorted(one.rank for one in asked.recordings if one.beside and one.rank is not None)
        recorded = f"Recorded: {there[0]} to {there[-1]}." if there else "No rank is known."
        return Answered([], f"There is no rank {rank} here. {recorded}")
    one = found[0]
    where = {"worker": one.worker, "span": one.span, "all": ""}
    own_time, told = _told_of(asked.ranks, (one.worker, one.span))
    rows = [
        Row(
            "rank",
            one.worker,
            f"Rank {rank}, everywhere",
            time_ns=own_time,
            to=address("", **where),
        ),
        *told,
        Row("trace", one.worker, f"Rank {rank} in the trace", to=address("trace", **where)),
    ]
    if (one.worker, one.span) != (asked.own.worker, asked.own.span):
        own = f"rank {asked.own.rank}" if asked.own.rank is not None else asked.own.worker
        label = f"Compare {own} with rank {rank}"
        rows.insert(-1, Row("rank", one.worker, label, to=one.as_other()))
    return Answered(rows)


def _told_of(ranks: Ranks | None, name: tuple[str, str]) -> tuple[int | None, list[Row]]:
    """How long the median step of the job is on a rank, and in which steps it holds all others back."""
    if ranks is None or name not in ranks.workers:
        return None, []
    rank, verdict = ranks.workers.index(name), ranks.verdict
    time = int(ranks.times[rank])
    rows = []
    if verdict.hold is not None and rank in verdict.hold.ranks:
        label = "Holds all others back"
        rows.append(Row("rank", name[0], label, time_ns=round(verdict.per_step), to=_DISTRIBUTED))
    for hold in verdict.once:
        if rank in hold.ranks:
            rows.append(_once(hold, ranks, name[0]))
    return time if time >= 0 else None, rows


def _once(hold: Hold, ranks: Ranks, worker: str) -> Row:
    steps = ranks.figures.steps.names
    label = f"{once_in(hold, steps)}, held all others back"
    return Row("rank", worker, label, time_ns=round(hold.each), to=_DISTRIBUTED)


_DISTRIBUTED = address("distributed")


def rank_rows(recordings: Iterable[Recording], ranks: Ranks | None) -> Iterator[Row]:
    """The ranks of a run: first who always holds all others back, then who did so once."""
    listed = [one for one in recordings if one.beside and one.rank is not None]
    told = {one.worker: _told_of(ranks, (one.worker, one.span)) for one in listed}
    holds = [hold.ranks for hold in _holds(ranks)]
    names = ranks.workers if ranks else ()

    def order(one: Recording) -> int:
        number = names.index((one.worker, one.span)) if (one.worker, one.span) in names else -1
        return next((place for place, held in enumerate(holds) if number in held), len(holds))

    for one in sorted(listed, key=order):
        time, rows = told[one.worker]
        more = "; ".join(row.label[0].lower() + row.label[1:] for row in rows)
        where = address("", worker=one.worker, span=one.span, all="")
        yield Row("rank", one.worker, f"Rank {one.rank}", more, time_ns=time, to=where)


def _holds(ranks: Ranks | None) -> list[Hold]:
    if ranks is None:
        return []
    always = [] if ranks.verdict.hold is None else [ranks.verdict.hold]
    return [*always, *ranks.verdict.once]


def run_rows(recordings: Iterable[Recording], own: Recording) -> Iterator[Row]:
    """The other runs."""
    for name in dict.fromkeys(one.run for one in recordings):
        if name != own.run:
            yield Row("run", name, to=address("", run=name, worker="", span=""))


def _vs(asked: Asked, text: str) -> Answered:
    step = re.fullmatch(r"(?:step\s*)?#?(\d{1,9})", text)
    if step:
        found = _step(asked, step[1])
        row = found.rows[0] if found.rows else None
        if row is None:
            return found
        other = row.to.removeprefix("steps=")
        label = f"Compare with {row.name}"
        return Answered([Row("step", row.name, label, to=asked.own.as_other(steps2=other))])
    others = [one for one in asked.recordings if one != asked.own]
    rank = re.fullmatch(r"rank\s*(\d{1,9})", text)
    if rank:
        others = [one for one in others if one.beside and one.rank == int(rank[1])]
    else:
        words = text.casefold().split()
        others = [one for one in others if all(word in _place(one).casefold() for word in words)]
    if others:
        return Answered([_compared(asked, one) for one in _one_of_each_run(asked, others)])
    there = _one_of_each_run(asked, [one for one in asked.recordings if one.run != asked.own.run])
    near = get_close_matches(text.casefold(), [one.run.casefold() for one in there], 1, 0.0)
    there.sort(key=lambda one: one.run.casefold() not in near)
    sentence = f"Nothing is called “{said(text)}” here."
    if not there:
        sentence += " There is no other run to compare with."
    return Answered([_compared(asked, one) for one in there[:MOST_OTHERS]], sentence)


def _place(one: Recording) -> str:
    return f"{one.run} {one.worker} {one.span}"


def _one_of_each_run(asked: Asked, others: Sequence[Recording]) -> list[Recording]:
    """Of each other run the recording of the same rank or worker, else its first; of the own one all."""
    own = asked.own
    chosen: dict[tuple[str, ...], Recording] = {}
    for one in others:
        key = (one.run,) if one.run != own.run else (one.run, one.worker, one.span)
        same = one.worker == own.worker or (one.rank is not None and one.rank == own.rank)
        if key not in chosen or (same and chosen[key].worker != own.worker):
            chosen[key] = one
    return list(chosen.values())[:MOST_OTHERS]


def _compared(asked: Asked, one: Recording) -> Row:
    own = asked.own
    told = one.run if one.run != own.run else one.worker if one.worker != own.worker else one.span
    return Row("run", told, f"Compare with {told}", to=one.as_other())


def _line(asked: Asked, file: str, number: str) -> Answered:
    line = int(number)
    exact: list[Row] = []
    above: dict[str, tuple[int, Row]] = {}
    for row in asked.names.rows:
        frame = PythonFrame.of(row.name) if row.kind in ("line", "memory") else None
        if frame is None or frame.line is None or not _is_file(frame.file, file):
            continue
        if frame.line == line:
            exact.append(row)
        elif frame.line < line and frame.line > above.get(frame.file, (0, row))[0]:
            above[frame.file] = frame.line, row
    if exact:
        return Answered(exact)
    asked_for = f"{said(file)}:{line}" if file else f"line {line}"
    near = [row for _, row in sorted(above.values(), key=lambda found: -found[0])]
    if not near:
        return Answered([], f"Nothing was recorded at {asked_for}.")
    sentence = f"No call begins at {asked_for}. A trace has the first lines of functions: these begin above it."
    return Answered(near[:MOST_OTHERS], sentence)


def _is_file(path: str, asked: str) -> bool:
    path, asked = path.replace("\\", "/"), asked.replace("\\", "/")
    return not asked or path == asked or path.endswith(f"/{asked}")


def _what_if(asked: Asked, text: str) -> Answered:
    from torch_tb_profiler.analysis.what_if.changes import read_changes

    changes = [row for row in asked.names.rows if row.kind == "what_if"]
    words = text.casefold().split()
    found = [
        row for row in changes if all(w in f"{row.name} {row.label}".casefold() for w in words)
    ]
    if found:
        return Answered(found)
    try:
        given = read_changes(text)
    except BadRequest as error:
        return Answered(
            changes, error.message if ":" in text else f"No change has the words “{said(text)}”."
        )
    name = ";".join(map(str, given))
    label = "; ".join(change.words for change in given)
    return Answered([Row("what_if", name, label, to=address("critical_path", what_if=name))])


_NUMBER = r"#?(\d{1,9})"
_FORMS: tuple[tuple[re.Pattern[str], Callable[..., Answered]], ...] = tuple(
    (regex(form, re.IGNORECASE), answer)
    for form, answer in (
        (rf"why(?:\b.*?{_NUMBER}\b.*|\b[^\d]*)", _why),
        (rf"step\s*{_NUMBER}", _step),
        (rf"rank\s*{_NUMBER}", _rank),
        (r"(?:vs\.?|versus|compare(?: with| to)?|(?:what changed )?since)\s+(.+)", _vs),
        (rf"line\s*()\s{_NUMBER}", _line),
        (r"([^\s:]+\.\w{1,8}):(\d{1,9})", _line),
        (r"what if\b[\s.…]*(.*)", _what_if),
    )
)
