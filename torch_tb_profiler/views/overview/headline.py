"""The sentences on top of the Overview, the summary and the report: is the accelerator busy, how long
a step takes, which step is odd, what is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.critical_path.verdict_texts import number_of
from torch_tb_profiler.analysis.facts.defects import UNCLEAR_RANK
from torch_tb_profiler.analysis.facts.steps import WHOLE_SPAN
from torch_tb_profiler.analysis.figures.missing_data import SETTING
from torch_tb_profiler.analysis.figures.step_kinds import GROWING
from torch_tb_profiler.units import format_ns, format_share
from torch_tb_profiler.views.wire import Average, DefectItem, DeviceSummary, Sentence, Vocabulary
from torch_tb_profiler.views.words.texts import NO_KNOWN_WORK

_MOST_ODD = 4
_MOST_KINDS = 4
Steps = Mapping[str, Any]
"""The columns of ``STEPS``."""


def headline(
    words: Vocabulary,
    source: str,
    steps: Steps,
    average: Average | None,
    devices: Sequence[DeviceSummary],
    health: Sequence[DefectItem],
    counters_only: bool,
    unplaced: str | None = None,
    allocations_alone: bool = False,
    noun: str = "step",
    kinds: str = "",
) -> list[Sentence]:
    """Over the selected steps; ``counters_only``: counters were recorded in place of times;
    ``unplaced``: the events that have no role; ``allocations_alone``: nothing else was recorded; ``noun``: what a step of which
    the average is called; ``kinds``: what those of other kinds are.
    """
    if allocations_alone:
        return list(_loss(health))
    whole = source == WHOLE_SPAN and len(steps["step"]) <= 1
    time = list(_time(steps, average, whole, noun))
    if devices:
        busy = _busy(words, devices, "the recorded time" if whole else _steps_text(steps, average))
        found = [busy, *time]
    elif unplaced and not counters_only:
        text = f"{NO_KNOWN_WORK}, but the role of {unplaced} is unknown: {SETTING} tells it."
        found = [*time, Sentence(key="busy", text=text)]
    else:
        lack = (
            "Hardware counters were recorded instead of kernel times"
            if counters_only
            else "Which device work is this rank’s is unclear"
            if any(item.name == UNCLEAR_RANK for item in health)
            else "No accelerator activity was recorded"
        )
        # Without an accelerator the time is the news, not that there was none.
        found = [
            *time,
            Sentence(key="busy", text=f"{lack}: every figure here is the host’s."),
        ]
    told = [Sentence(key="kinds", text=kinds)] if kinds else []
    return [*found, *_kinds(steps), *told, *_odd(steps), *_loss(health)]


def _steps_text(steps: Steps, average: Average | None) -> str:
    selected = _rows(steps, "selected")
    if len(selected) == 1 < len(steps["step"]):
        return f"step {number_of(steps['name'][selected[0]], steps['step'][selected[0]])}"
    whole = [row for row in selected if not steps["cut"][row]] or selected
    # Of all steps the cold ones speak for none, where others are left.
    if len(selected) == len(steps["step"]):
        whole = [row for row in whole if not steps["cold"][row]] or whole
    count = sum(steps["steps"][row] for row in whole)
    return "the step" if count == 1 else f"{count} steps"


def _rows(steps: Steps, flag: str) -> list[int]:
    return [row for row, is_set in enumerate(steps[flag]) if is_set]


def _busy(words: Vocabulary, devices: Sequence[DeviceSummary], period: str) -> Sentence:
    shares = [device.utilization for device in devices if device.utilization is not None]
    several = f"{len(shares) or len(devices)} {words.device}s were"
    who = several if len(devices) > 1 else f"{devices[0].title} was"
    if not shares:
        why = f": {devices[0].unknown[0]}" if devices[0].unknown else ""
        return Sentence(key="busy", text=_stopped(f"How busy {who} is unknown{why}"))
    low, high = format_share(min(shares)), format_share(max(shares))
    span = low if low == high else f"{low} to {high}"
    return Sentence(key="busy", text=f"{who} busy {span} of {period}.")


def _time(steps: Steps, average: Average | None, whole: bool, noun: str) -> Iterator[Sentence]:
    if average is None:
        # Where there is no step at all, the page says so in place of the chart.
        if len(steps["step"]):
            text = "No step is selected, so there is no average step."
            yield Sentence(key="time", text=text)
        return
    wall = average.wall_ns
    who = (
        "The recording lasts"
        if whole
        else f"The {noun} takes"
        if average.steps == 1
        else f"On average a {noun} takes"
    )
    text = f"{who} {format_ns(wall)}{_without_cold(steps, average)}."
    yield Sentence(key="time", text=text)


def _without_cold(steps: Steps, average: Average) -> str:
    """Which of the selected steps are left out."""
    # Of very many steps a row is several.
    left = len(_rows(steps, "selected")) - average.steps
    apart = [row for row in _rows(steps, "selected") if steps["cold"][row] or steps["cut"][row]]
    if left != len(apart) or not left or max(steps["steps"]) > 1:
        return ""
    kinds = " and ".join(kind for kind in ("cold", "cut") if any(steps[kind][r] for r in apart))
    return f" without the {kinds} {'one' if left == 1 else 'ones'}"


def _kinds(steps: Steps) -> Iterator[Sentence]:
    """How long the steps of each kind take, whichever are selected; cold and cut ones are none."""
    # Of very many steps a row is several.
    if max(steps["steps"], default=1) > 1:
        return
    walls: dict[str, list[int]] = {}
    for row, kind in enumerate(steps["kind"]):
        if kind and not steps["cold"][row] and not steps["cut"][row]:
            walls.setdefault(kind, []).append(steps["wall_ns"][row])
    if len(walls) > 1:
        most = sorted(walls.items(), key=lambda pair: -sum(pair[1]))
        parts = [_kind_text(kind, times) for kind, times in most]
        text = f"Kinds of steps (median of each): {'; '.join(parts[:_MOST_KINDS])}"
        more = f"; {len(parts) - _MOST_KINDS} more" if len(parts) > _MOST_KINDS else ""
        yield Sentence(key="kinds", text=f"{text}{more}.")
    for kind, times in walls.items():
        if GROWING in kind:
            grown = f"from {format_ns(times[0])} to {format_ns(times[-1])}"
            which = "Steps" if len(walls) == 1 else f"Steps of the kind “{kind}”"
            text = f"{which} become longer as the program runs, {grown}."
            yield Sentence(key="kinds", text=text)


def _kind_text(kind: str, times: Sequence[int]) -> str:
    many = "1 step" if len(times) == 1 else f"{len(times)} steps"
    return f"{kind}, {many} of {format_ns(round(float(np.median(times))))}"


def _odd(steps: Steps) -> Iterator[Sentence]:
    """Odd steps are named whichever steps are selected: they are a fact of the trace, and the page
    does not jump when one is chosen.
    """
    odd, reason = _rows(steps, "odd"), steps["odd_reason"]
    if len(odd) == 1:
        row = odd[0]
        why = f": {reason[row]}" if reason[row] else f" ({format_ns(steps['wall_ns'][row])})"
        text = f"Step {number_of(steps['name'][row], steps['step'][row])} is odd{why}"
        yield Sentence(key="odd", text=_stopped(text))
    elif odd:
        names = [
            f"{number_of(steps['name'][row], steps['step'][row])} ({reason[row]})"
            if len(odd) == 2 and reason[row]
            else number_of(steps["name"][row], steps["step"][row])
            for row in odd[:_MOST_ODD]
        ]
        more = " …" if len(odd) > _MOST_ODD else ""
        text = f"{len(odd)} steps are odd: {', '.join(names)}{more}."
        yield Sentence(key="odd", text=text)


def _loss(health: Sequence[DefectItem]) -> Iterator[Sentence]:
    """Figures of a recording that is not whole must not be read as if it were."""
    if any(item.severity in ("data_loss", "error") for item in health):
        text = (
            "Part of the recording is lost, so the figures are too small where it is missing: see"
            " Trace health."
        )
        yield Sentence(key="loss", text=text)


def _stopped(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
