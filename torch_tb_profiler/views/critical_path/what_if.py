"""Route ``/what_if``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np

from torch_tb_profiler.analysis.critical_path.lane_stretches import step_segments
from torch_tb_profiler.analysis.critical_path.lanes import LaneWork
from torch_tb_profiler.analysis.critical_path.table import KINDS
from torch_tb_profiler.analysis.figures.selection import Selection, judged
from torch_tb_profiler.analysis.figures.step_kinds import of_one_kind
from torch_tb_profiler.analysis.what_if.changes import CHANGES, SELECTORS, Applied, read_changes
from torch_tb_profiler.analysis.what_if.simulated_step import simulated_step
from torch_tb_profiler.analysis.what_if.simulation import Prediction, Simulation
from torch_tb_profiler.analysis.what_if.table import (
    PREDICTED_STEPS,
    WHAT_IF,
    WHAT_IF_KINDS,
    edits,
    interval_of,
    is_absent,
    kept_predictions,
    kind_changes,
    predicted_steps,
    preset_table,
)
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.critical_path.payload import PathStrip, path_strip
from torch_tb_profiler.views.display_wire import table_of, wire_columns
from torch_tb_profiler.views.steps import step_rows, subject_of
from torch_tb_profiler.views.wire import Subject, Wire
from torch_tb_profiler.views.words.vocabulary import vocabulary


class ChangeParameter(Wire, frozen=True, kw_only=True):
    """A parameter of a change; without a default it is empty. ``values``: the only ones, if there are."""

    name: str
    default: str
    about: str
    values: list[str]


class DeclaredChange(Wire, frozen=True, kw_only=True):
    """A change that can be simulated. ``words``: what it does; for parameters in braces: ``{of_name}``
    is `` of `` and the value, or nothing where all are meant; ``{chosen}`` all selectors that are given.
    ``selects``: at least one selector must be.
    """

    name: str
    words: str
    selects: bool
    parameters: list[ChangeParameter]


class ChosenChange(Wire, frozen=True, kw_only=True):
    """A change with its values: as text, and in words."""

    change: str
    words: str


class WhatIfPrediction(Wire, frozen=True, kw_only=True):
    """All chosen changes together; times per step, ns. ``absent``: nothing that they act on was recorded. ``kinds``: what the
    critical path is made of. ``drawn``: of a single step of which all was recorded, as it is and as predicted; else empty.
    ``device``: what computes.
    """

    changes: list[ChosenChange]
    measured_ns: int
    replayed_ns: int
    replay_error: float
    predicted_ns: int
    low_ns: int
    high_ns: int
    absent: bool
    kinds: Annotated[dict[str, Any], table_of(WHAT_IF_KINDS)]
    steps: Annotated[dict[str, Any], table_of(PREDICTED_STEPS)]
    drawn: list[PathStrip]
    device: str


class WhatIfPayload(Wire, frozen=True, kw_only=True):
    """Route ``/what_if``. ``measured_ns``: mean wall time of the steps of ``subject``; ``replay_error``: by
    which share the simulation without a change misses it; null without steps. ``path``: the file in the
    logdir, for commands.
    """

    subject: Subject
    path: str
    steps: int
    measured_ns: int | None
    replay_error: float | None
    presets: Annotated[dict[str, Any], table_of(WHAT_IF)]
    catalogue: list[DeclaredChange]
    prediction: WhatIfPrediction | None


def what_if_payload(
    path: str,
    facts: Facts,
    insight: Insight,
    selection: Selection,
    changes: str,
    simulation: Callable[[], Simulation],
    lanes: Callable[[], LaneWork],
) -> WhatIfPayload:
    """What the selected steps would take, of all those that speak for the program. ``changes``: separated by semicolons; ``simulation`` is made
    only for them. ``lanes``: what the trace shows of its lanes.

    Raises:
        BadRequest: there is no such change.
    """
    selection = judged(facts, selection)
    rows = of_one_kind(facts, selection.steps)
    applied, steps = read_changes(changes), len(rows)
    replay = kept_predictions(facts, insight, selection).get("") if steps else None
    return WhatIfPayload(
        subject=subject_of(facts, rows),
        path=path,
        steps=steps,
        measured_ns=round(float(replay.measured.mean())) if replay else None,
        replay_error=replay.error if replay else None,
        presets=wire_columns(preset_table(facts, insight, selection)),
        catalogue=catalogue(),
        prediction=_prediction(facts, insight, simulation(), applied, selection, lanes)
        if applied and steps
        else None,
    )


def catalogue() -> list[DeclaredChange]:
    """Every change of a single trace."""
    return [
        DeclaredChange(
            name=change.name,
            words=change.words,
            selects=any(not change.defaults.get(key, "*") for key in SELECTORS),
            parameters=[
                ChangeParameter(
                    name=key,
                    default=default,
                    about=change.about[key],
                    values=list(KINDS) if key == "kind" else [],
                )
                for key, default in change.defaults.items()
            ],
        )
        for change in CHANGES.values()
        if not change.of_run
    ]


def _prediction(
    facts: Facts,
    insight: Insight,
    simulation: Simulation,
    changes: Sequence[Applied],
    selection: Selection,
    lanes: Callable[[], LaneWork],
) -> WhatIfPrediction:
    prediction, kinds = kind_changes(facts, simulation, changes, selection)
    low, high = interval_of(prediction, changes)
    return WhatIfPrediction(
        changes=[ChosenChange(change=str(each), words=each.words) for each in changes],
        measured_ns=round(float(prediction.measured.mean())),
        replayed_ns=round(float(prediction.replayed.mean())),
        replay_error=prediction.error,
        predicted_ns=round(float(prediction.predicted.mean())),
        low_ns=round(low),
        high_ns=round(high),
        absent=is_absent(simulation, changes),
        kinds=wire_columns(kinds),
        steps=wire_columns(_step_rows(predicted_steps(facts, prediction, selection))),
        drawn=_drawn(facts, insight, simulation, changes, selection, prediction, lanes),
        device=vocabulary(facts).device if facts.summary.has_device else "CPU",
    )


def _drawn(
    facts: Facts,
    insight: Insight,
    simulation: Simulation,
    changes: Sequence[Applied],
    selection: Selection,
    prediction: Prediction,
    lanes: Callable[[], LaneWork],
) -> list[PathStrip]:
    """A single step as it is, and as predicted."""
    rows = of_one_kind(facts, selection.steps)
    if len(rows) != 1 or not len(
        (now := step_segments(facts, insight, step := int(rows[0]))).start
    ):
        return []
    length, work = round(float(prediction.predicted[0])), lanes()
    then = simulated_step(simulation, edits(changes), step, length, work)
    if then is None:
        return []
    return [path_strip(facts, step, *each) for each in ((now, work), then)]


def _step_rows(steps: DisplayTable) -> DisplayTable:
    rows = step_rows(steps)
    if rows.n == steps.n:
        return rows
    measured, predicted = (
        np.asarray(rows[key], np.float64) for key in ("measured_ns", "predicted_ns")
    )
    return rows.with_columns(saved=1 - predicted / np.maximum(measured, 1))
