"""Steps as the page's selector and charts need them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import block_begins
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepKind
from torch_tb_profiler.analysis.facts.steps import odd_reasons
from torch_tb_profiler.analysis.figures.median_step import median_step, middle
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.analysis.figures.selection import Selection as Selection
from torch_tb_profiler.analysis.figures.selection import has_steps, select
from torch_tb_profiler.analysis.figures.selection import judged as judged
from torch_tb_profiler.analysis.figures.step_kinds import (
    MICRO_BATCHES,
    of_leading_kind,
    plain_names,
    told_apart,
    training_steps,
)
from torch_tb_profiler.analysis.figures.step_table import counted as counted
from torch_tb_profiler.analysis.figures.step_table import step_table
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.store.categories import CATEGORIES
from torch_tb_profiler.store.columns import Array, Ints, Mask, unique_values
from torch_tb_profiler.store.display import TEXTS, DisplayColumn, DisplayTable, listed
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.units import format_count, format_counted, format_names, format_ns, plural
from torch_tb_profiler.views.display_wire import records, wire_columns

if TYPE_CHECKING:
    from torch_tb_profiler.views.wire import KindOfSteps, Missing, StepsPayload, Subject

T = TypeVar("T", bound=msgspec.Struct)
MOST_STEP_ROWS = 4096
_OF_THE_FIRST = ("step", "start_ns")


def summed_over(facts: Facts, selection: Selection) -> str:
    """Which steps the sums of a table are of, in a sentence: ``Sums over the 5 chosen steps.``"""
    chosen, of = len(selection.steps), facts["steps"].n
    if selection.whole or not has_steps(facts):
        return "Sums over the whole recording."
    if chosen == 1:
        return "Sums over one step."
    return f"Sums over {f'all {of}' if chosen == of else f'the {chosen} chosen'} steps."


def leading_part(name: str, part_ns: int, whole_ns: int, whole: str) -> str:
    """``aten::mm takes 13.3 ms of 50.6 ms in operators.``: what a table of times says first."""
    return f"{name} takes {format_ns(part_ns)} of {format_ns(whole_ns)} {whole}."


def first_steps(n: int) -> Ints:
    """Where each row begins among ``n`` steps; all rows but the last one hold equally many."""
    return block_begins(n, MOST_STEP_ROWS)


def step_rows(table: DisplayTable) -> DisplayTable:
    """A table of steps with a column ``steps``, how many each row holds. Times are summed, a flag is set
    where one step's is, a text is the first that is not empty; the name says the first and the last.
    """
    first = first_steps(table.n)
    count = np.diff(np.append(first, table.n))
    if len(first) == table.n:
        return table.with_columns(steps=count)
    columns = {c.name: _summed(table, c, first) for c in table.spec.columns if c.name in table}
    return DisplayTable(table.spec, table.strings, {**columns, "steps": count})


def row_names(names: list[str], first: Ints) -> list[str]:
    """``ProfilerStep#0 to ProfilerStep#24`` of each row."""
    last = np.append(first, len(names))[1:] - 1
    return [
        names[a] if a == b else f"{names[a]} to {names[b]}"
        for a, b in zip(first.tolist(), last.tolist(), strict=True)
    ]


def _summed(table: DisplayTable, column: DisplayColumn, first: Ints) -> Any:
    values = table[column.name]
    if column.name == "name":
        return row_names([text or "" for text in table.texts("name")], first)
    if column.kind in TEXTS:
        texts = listed(values)
        edges = [*first.tolist(), len(texts)]
        return [next(filter(None, texts[a:b]), "") for a, b in itertools.pairwise(edges)]
    values = np.asarray(values)
    if column.name in _OF_THE_FIRST:
        return values[first]
    if values.dtype == np.bool_:
        return np.logical_or.reduceat(values, first)
    return _known_sums(values, first)


def _known_sums(values: Array, first: Ints) -> Array:
    """Sums; −1 where one of the values is unknown."""
    sums = np.add.reduceat(values, first)
    return np.where(np.minimum.reduceat(values, first) < 0, -1, sums)


def choose(
    facts: Facts,
    first: int | None = None,
    last: int | None = None,
    skip_cold: bool = False,
    name: str = "steps",
    kind: str = "",
) -> Selection:
    """The steps that a request names by their ``step``; without bounds all of them, and everything
    where the recording marks none.

    ``name``: that of the parameter, for the message. ``kind``: what theirs is called (``plain_names``), empty for any.

    Raises:
        BadRequest: there is no such step.
    """
    try:
        found = select(facts, first, last, skip_cold)
    except IndexError as error:
        raise BadRequest(f"Parameter {name}: {error}.", "Take the indices from /steps.") from None
    if not kind:
        return found
    names = np.array([*plain_names(facts), ""])
    own = found.steps[names[facts["steps"]["kind"][found.steps]] == kind]
    if not len(own):
        raise BadRequest(
            f"Parameter {name.replace('steps', 'step_kind')} is {kind!r}, but none of the chosen steps is of that kind.",
            "Take the names of kinds from /overview.",
        )
    return msgspec.structs.replace(found, steps=own)


_NOUNS = {
    StepKind.PREFILL: "prefill",
    StepKind.DECODE: "decode",
    StepKind.MIXED: "mixed iteration",
    StepKind.TRAINING: "training step",
    StepKind.VALIDATION: "validation",
    StepKind.MICRO_BATCH: "micro-batch",
    StepKind.LAST_MICRO_BATCH: "last micro-batch",
}


def several_kinds(facts: Facts) -> bool:
    """Whether there are steps of several kinds, cold ones aside."""
    return int((facts["step_kinds"]["what"] != StepKind.COLD).sum()) > 1


def kinds_of_steps(names: Sequence[str], kind: Ints, wall: Ints, odd: Mask) -> list[KindOfSteps]:
    """The kinds of some steps, the one with most time first; empty where they are of one. ``names``: what each is called;
    ``kind``: of every step, int64, −1 of those that speak for none; ``wall``: their lengths, int64 ns; ``odd``: those that the median
    of their kind leaves out where it has others.
    """
    from torch_tb_profiler.views.wire import KindOfSteps

    found = []
    for number in unique_values(kind[kind >= 0]).tolist():
        rows = np.flatnonzero(kind == number)
        kept = wall[rows[~odd[rows]]] if not odd[rows].all() else wall[rows]
        median = int(kept[middle(kept)])
        told = KindOfSteps(name=names[number], steps=len(rows), median_ns=median)
        found.append((-int(wall[rows].sum()), told))
    ordered = [told for _, told in sorted(found, key=lambda each: each[0])]
    return ordered if len(ordered) > 1 else []


def step_noun(facts: Facts, rows: Ints) -> str:
    """What a step of the leading kind of some is called where there are several kinds: ``decode``, ``micro-batch``, ``step``."""
    kind = facts["steps"]["kind"][of_leading_kind(facts, rows)]
    if not several_kinds(facts) or not len(kind) or kind[0] < 0:
        return "step"
    return _NOUNS.get(StepKind(facts["step_kinds"]["what"][kind[0]]), "step")


def accumulation_text(facts: Facts) -> str:
    """How many micro-batches make a training step, and how long that takes; empty where gradients are not accumulated."""
    kinds = facts["step_kinds"]
    last = np.flatnonzero(kinds["what"] == StepKind.LAST_MICRO_BATCH)
    if not len(last):
        return ""
    groups = training_steps(facts)
    if not groups:
        return "Gradient accumulation: no training step was recorded whole, from one step of the optimizer to the next."
    lengths = step_lengths(facts["steps"])
    whole = format_ns(round(float(np.mean([lengths[rows].sum() for rows in groups]))))
    part = int(np.max(kinds["optimizer"][last]))
    optimizer = f", {format_ns(part)} of it the optimizer" if part > 0 else ""
    return f"Gradient accumulation: a training step is {len(groups[0])} micro-batches, {whole}{optimizer}."


def other_kinds(facts: Facts, rows: Ints, most: int = 3) -> list[tuple[str, str]]:
    """How long the steps of other kinds than the leading one of some take, and by what they are told apart, which may be empty:
    ``the one prefill took 89.2 ms``, ``without a graph launch, where a decode has 81``. Of micro-batches nothing.
    """
    steps, kinds, names = facts["steps"], facts["step_kinds"], told_apart(facts)
    own = steps["kind"][of_leading_kind(facts, rows)]
    lead = int(own[0]) if len(own) else -1
    told = []
    for kind in range(kinds.n if lead >= 0 else 0):
        if kind == lead or kinds["what"][kind] in (StepKind.COLD, *MICRO_BATCHES):
            continue
        own = np.flatnonzero(steps["kind"] == kind)
        time = format_ns(round(float(np.median(step_lengths(steps)[own]))))
        which = _which(facts, kind, names[kind][1], len(own) > 1)
        took = f"the one {which} took {time}"
        took = took if len(own) == 1 else f"the {format_count(len(own))} {which} take {time} each"
        graphs, others = (int(kinds["graphs"][one]) for one in (kind, lead))
        count = format_counted(graphs, "graph launch", "graph launches")
        launching = f"with {count}" if graphs else "without a graph launch"
        has = format_count(others) if others else "none"
        apart = f"{launching}, where a {_which(facts, lead, names[lead][1])} has {has}"
        told.append((took, apart if (graphs > 0) != (others > 0) else ""))
    return told[:most]


def _which(facts: Facts, kind: int, apart: str, several: bool = False) -> str:
    """``prefill``, ``steps of kind B``, ``decodes without graphs``."""
    noun = _NOUNS.get(StepKind(facts["step_kinds"]["what"][kind]), "step")
    of = "of " if apart.startswith("kind") else ""
    return " ".join(filter(None, (plural(noun) if several else noun, f"{of}{apart}")))


def kinds_text(facts: Facts, others: Iterable[tuple[str, str]], said: bool = False) -> str:
    """What follows the answer on the leading kind of some steps: how the others (``other_kinds``) differ; ``said``: the answer
    says how long they take.
    """
    told = [
        (f"{took.partition(' took ')[0]} is {apart}" if apart else "")
        if said
        else ", ".join(filter(None, (took, apart)))
        for took, apart in others
    ]
    text = "; ".join(filter(None, told))
    text = text and f"{text[:1].upper()}{text[1:]}."
    return " ".join(filter(None, (accumulation_text(facts), text)))


def subject_of(facts: Facts, rows: Ints, **whose: str) -> Subject:
    """What figures of some rows of steps are of. ``whose``: job, recording and ranks, where they are known; a route adds them."""
    from torch_tb_profiler.views.wire import Subject

    if not has_steps(facts):
        return Subject(**whose)
    kinds, names = facts["steps"]["kind"], [*plain_names(facts), ""]
    told = dict.fromkeys(names[kind] for kind in kinds[np.asarray(rows, np.int64)].tolist())
    return Subject(steps=numbers_text(rows), kind=", ".join(filter(None, told)), **whose)


def subject_of_job(workers: Iterable[str], steps: Ints | int) -> Subject:
    """What figures of all of some workers are of. ``steps``: common ones, or how many of them from the first on."""
    from torch_tb_profiler.views.wire import Subject

    rows = np.arange(steps) if isinstance(steps, int) else steps
    return Subject(ranks=format_names(list(workers)), steps=numbers_text(rows))


def of_whom(payload: T, job: str, recording: str, worker: str) -> T:
    """A payload whose subject says whose figures these are; ``worker``: where they are not of several."""
    told: Subject | None = getattr(payload, "subject", None)
    if told is None:
        return payload
    told = msgspec.structs.replace(told, job=job, recording=recording, ranks=told.ranks or worker)
    return msgspec.structs.replace(payload, subject=told)


def numbers_text(rows: Ints) -> str:
    """``0-3,5`` of some ascending numbers."""
    rows = np.asarray(rows, np.int64)
    runs = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1) if len(rows) else []
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


def window_text(facts: Facts, selection: Selection) -> str:
    """What figures are over, behind "of": ``3 steps``, ``2 of 3 steps``, ``the recording``."""
    count, n = len(selection.steps), facts["steps"].n
    if not has_steps(facts):
        return "the recording"
    if count == 1:
        row = int(selection.steps[0])
        return "the step" if n == 1 else facts.strings[int(facts["steps"]["name"][row])]
    return f"{format_count(count)} {'' if count == n else f'of {format_count(n)} '}steps"


def steps_payload(
    facts: Facts, selection: Selection, lacks: Sequence[Missing] = ()
) -> StepsPayload:
    """Route ``/steps``; ``lacks``: what else was not recorded."""
    # Commands choose steps, and need no payload.
    from torch_tb_profiler.views.wire import StepsPayload
    from torch_tb_profiler.views.words.texts import missing

    median = median_step(facts, np.arange(facts["steps"].n))
    return StepsPayload(
        subject=subject_of(facts, selection.steps),
        steps=step_columns(facts, selection),
        median=-1 if median is None else median,
        iterations=facts["iterations"].n,
        missing=[*missing(absent(facts), ("steps", "device", "memory", "host", "stack")), *lacks],
    )


def step_columns(facts: Facts, selection: Selection) -> dict[str, Any]:
    """The columns of ``STEPS``, of every step of the trace; of very many a row is several."""
    table = step_table(facts, selection)
    texts = [""] * table.n
    for row, (category, excess) in odd_reasons(facts).items():
        direction = "more" if excess >= 0 else "less"
        from torch_tb_profiler.views.words.texts import CATEGORY_TEXT

        words = CATEGORY_TEXT[category]
        texts[row] = f"{format_ns(abs(excess))} {direction} {words} than the median step"
    return wire_columns(step_rows(table.with_columns(odd_reason=texts)))


def step_objects(steps: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The steps as one object per step, as JSON of the command line has it."""
    objects = records(steps)
    for step in objects:
        step["index"] = step.pop("step")
        step.pop("steps", None)
        step["categories_ns"] = {name: step.pop(f"{name}_ns") for name in CATEGORIES}
    return objects
