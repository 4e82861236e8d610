"""Sentences of the overview of a run: who stands out, who is alike, what is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import consecutive
from torch_tb_profiler.analysis.distributed.coordinates import Dimension
from torch_tb_profiler.analysis.distributed.measures import WORTH
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.distributed.spread import GAP, RankFigure, Spread
from torch_tb_profiler.analysis.facts.step_kinds import ODD_DEVIATIONS
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.units import (
    format_bytes,
    format_count,
    format_limit,
    format_names,
    format_ns,
    format_number,
    format_share,
)
from torch_tb_profiler.views.distributed.texts import world_size
from torch_tb_profiler.views.overview.ranks_wire import RunWorker
from torch_tb_profiler.views.words.texts import capitalised

MOST_RUNS = 8
"""Runs of consecutive ranks that are written out."""
MOST_TOLD = 2
"""Figures of a headline in which ranks stand out."""
_FEW = 0.1
"""A larger share of the ranks is no outlier but a part of the run."""
_MANY = 8
"""More groups than these are not counted in a headline."""
_MORE = {
    "step": ("take{s} {by} longer per step", "take{s} {by} less per step"),
    "computation": ("compute{s} {by} longer per step", "compute{s} {by} less per step"),
    "busy": (
        "keep{s} {its} busy for {by} more of the step",
        "keep{s} {its} idle for {by} more of the step",
    ),
    "exposed": (
        "{has} {by} more exposed communication per step",
        "{has} {by} less exposed communication per step",
    ),
    "memory": ("allocate{s} {by} more memory", "allocate{s} {by} less memory"),
}
_ONE = {"s": "s", "its": "its device", "has": "has"}
_SEVERAL = {"s": "", "its": "their devices", "has": "have"}


def value_text(figure: RankFigure, value: float) -> str:
    """A value of a figure with its unit."""
    if figure == "busy":
        return format_share(value)
    return format_bytes(value) if figure == "memory" else format_ns(value)


def rules() -> list[str]:
    """What counts as an outlier and as alike."""
    return [
        f"A rank stands out if it is more than {format_number(ODD_DEVIATIONS)} usual deviations (1.4826 × the median absolute deviation)"
        f" and more than {format_limit(WORTH)} of the median step from the median; for memory {format_limit(WORTH)} of its median.",
        f"Ranks are alike if no figure has a gap of more than {format_limit(GAP)} of the step, or of the memory, between them, and they"
        " stand out in the same figures.",
    ]


def ranks_text(workers: Sequence[RunWorker]) -> str:
    """``rank 6``, ``ranks 0–5, 8–63``; names where ranks are not known."""
    numbers = sorted(worker.rank for worker in workers if worker.rank is not None)
    if len(numbers) < len(workers):
        return format_names([worker.worker for worker in workers], MOST_RUNS)
    runs = consecutive(sorted(set(numbers)))
    shown = [str(a) if a == b else f"{a}–{b}" if b > a + 1 else f"{a}, {b}" for a, b in runs]
    left = sum(b - a + 1 for a, b in runs[MOST_RUNS:])
    more = f" and {format_count(left)} more" if left else ""
    return f"rank{'s' if len(numbers) > 1 else ''} {', '.join(shown[:MOST_RUNS])}{more}"


def where_text(found: Mapping[Dimension, Sequence[int]]) -> str:
    """``PP 3``, ``PP 0, TP 1 2``, ``groups of 8, stride 4: 3``; empty for nothing."""
    return ", ".join(_places_text(dimension, places) for dimension, places in found.items())


def _places_text(dimension: Dimension, places: Sequence[int]) -> str:
    named = [dimension.values[i] if dimension.values else str(i) for i in places[:MOST_RUNS]]
    text = " ".join(named) + (" …" if len(places) > MOST_RUNS else "")
    if dimension.values:
        return text
    return f"{dimension.name}{':' if dimension.name[-1:].isdigit() else ''} {text}"


def hint_text(dimension: Dimension) -> str:
    """What a dimension is made from."""
    if dimension.values:
        return "The machines that the ranks ran on."
    if dimension.by_name:
        return "Place of a rank in the job, from the name of its file."
    size, stride = format_count(dimension.size), format_count(dimension.stride)
    if dimension.name.startswith(("set of", "group of")):
        return f"{size} sets of ranks that no process group joins, by their lowest ranks."
    step = f"; between neighbours are {stride} ranks" if dimension.stride > 1 else ""
    return f"Place of a rank in its process group of {size}{step}."


def far_text(figure: RankFigure, spread: Spread, worker: int) -> str:
    """How far a rank is from the median: ``28.4 % above, 24.1 usual deviations``."""
    difference = float(spread.values[worker]) - spread.median
    side = "above" if difference > 0 else "below"
    far = f"{value_text(figure, abs(difference))} of the step {side} the median"
    if figure != "busy" and spread.median > 0:
        far = f"{format_share(abs(difference) / spread.median)} {side} the median"
    if spread.deviation > 0:
        far += f", {format_number(round(abs(difference) / spread.deviation, 1))} usual deviations"
    return far


def headline_of(
    workers: Sequence[RunWorker],
    found: Mapping[RankFigure, Spread],
    groups: Sequence[Ints],
    called: Sequence[str],
    progress: float,
    verdict: Sequence[str] = (),
) -> list[str]:
    """Who holds the others back, by the ``verdict`` where it says so, else who stands out; then the median rank.
    ``called``: where the first of the groups are.
    """
    ready = max((int((~np.isnan(each.values)).sum()) for each in found.values()), default=0)
    if progress < 1 and ready < 2:
        return ["The workers are still being read."]
    if not found:
        return ["No worker tells of a step."]
    if ready == 1:
        return ["One rank is read: there is nothing to compare it with.", *_median(found)]
    if verdict:
        return [*verdict, *_median(found)]
    told = list(_who_stands_out(workers, found, ready)) or [_none(found, groups, called, ready)]
    so_far = f"So far {format_count(ready)} of {format_count(len(workers))} ranks are read."
    return [*([so_far] if progress < 1 else []), *told[:MOST_TOLD], *_median(found)]


def _who_stands_out(
    workers: Sequence[RunWorker], found: Mapping[RankFigure, Spread], ready: int
) -> Iterator[str]:
    """Few ranks far out in a figure; each rank once, in the first of the figures."""
    named: set[int] = set()
    for name, spread in found.items():
        new = [worker for worker in spread.outliers.tolist() if worker not in named]
        if new and len(spread.outliers) <= max(2, _FEW * ready):
            named.update(new)
            yield _out(workers, name, spread, new)


def _none(
    found: Mapping[RankFigure, Spread], groups: Sequence[Ints], called: Sequence[str], ready: int
) -> str:
    step = found["step"]
    takes = f"a step takes {_range('step', step.quartiles[0], step.quartiles[-1])}"
    if len(groups) == 1:
        return f"All {format_count(ready)} ranks are alike: {takes}."
    if len(groups) > _MANY or len(groups) == ready:
        return f"Few ranks are alike: {takes}."
    sizes = [
        format_count(len(group)) + (f" ({where})" if where else "")
        for group, where in zip(groups, called, strict=False)
    ]
    return (
        f"The ranks fall into {len(groups)} groups, of {', '.join(sizes[:-1])} and {sizes[-1]}:"
        f" {takes}."
    )


def _out(workers: Sequence[RunWorker], name: RankFigure, spread: Spread, far: Sequence[int]) -> str:
    """Those of some outliers that are on the side of the farthest."""
    difference = {worker: float(spread.values[worker]) - spread.median for worker in far}
    less = difference[far[0]] < 0
    same = [worker for worker in far if (difference[worker] < 0) == less]
    distance = sorted(abs(difference[worker]) for worker in same)
    by = _range(name, distance[0], distance[-1])
    words = _MORE[name][int(less)].format(by=by, **(_ONE if len(same) == 1 else _SEVERAL))
    who = ranks_text([workers[worker] for worker in same])
    start = capitalised(who) if who.startswith("rank") else who
    return f"{start} {words} than the median rank ({value_text(name, spread.median)})."


def _range(figure: RankFigure, low: float, high: float) -> str:
    texts = value_text(figure, low), value_text(figure, high)
    return texts[0] if texts[0] == texts[1] else f"{texts[0]} to {texts[1]}"


def _median(found: Mapping[RankFigure, Spread]) -> list[str]:
    parts = []
    step = found["step"].median if "step" in found else 0.0
    if "step" in found:
        parts.append(f"a step takes {format_ns(step)}")
    if "busy" in found:
        parts.append(f"the device is busy for {format_share(found['busy'].median)} of it")
    if "exposed" in found and step > 0:
        parts.append(
            f"{format_share(found['exposed'].median / step)} of it is exposed communication"
        )
    if "memory" in found:
        parts.append(f"{format_bytes(found['memory'].median)} are allocated at most")
    return [f"Medians over the ranks: {', '.join(parts)}."] if parts else []


def coverage_text(workers: Sequence[RunWorker], total: int, figures: RunFigures) -> str:
    """``60 of 64 ranks are read, 3 are being read, 1 failed.``"""
    states = Counter(worker.state for worker in workers)
    text = f"{format_count(states['ready'])} of {format_count(total)} workers are read"
    if states["waiting"]:
        text += f", {format_count(states['waiting'])} are still being read"
    if states["failed"]:
        text += f", {format_count(states['failed'])} could not be read"
    world = world_size(figures) or 0
    if world > total:
        text += f"; the job had {format_count(world)} ranks"
    return f"{text}."


def notes_of(
    workers: Sequence[RunWorker],
    found: Mapping[RankFigure, Spread],
    total: int,
    progress: float,
) -> list[str]:
    """Of which ranks something is not known, and which are not looked at."""
    notes = []
    if len(workers) < total:
        notes.append(
            f"The run has {format_count(total)} workers; the {format_count(len(workers))} with the nearest ranks are shown."
        )
    if progress < 1:
        return notes
    ready = np.array([worker.state == "ready" for worker in workers], np.bool_)
    lacking = {name: int((np.isnan(spread.values) & ready).sum()) for name, spread in found.items()}
    without = lacking.get("step", 0)
    if without:
        notes.append(f"Nothing is known of the selected steps of {format_count(without)} ranks.")
    for name, count in lacking.items():
        if count > without:
            notes.append(
                f"{capitalised(LABELS[name])} is not known for {format_count(count)} of the ranks."
            )
    return notes


LABELS: Mapping[RankFigure, str] = {
    "step": "step time",
    "computation": "computation",
    "busy": "device use",
    "exposed": "exposed communication",
    "memory": "peak memory",
}
