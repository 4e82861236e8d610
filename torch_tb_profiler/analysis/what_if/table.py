"""Predictions as tables and plain values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.critical_path.table import KINDS
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.figures.step_kinds import of_one_kind
from torch_tb_profiler.analysis.what_if.changes import PRESETS, Applied, read_change
from torch_tb_profiler.analysis.what_if.outcomes import reach_of, step_interval
from torch_tb_profiler.analysis.what_if.simulation import Edit, Prediction, Simulation
from torch_tb_profiler.analysis.what_if.stages import StagedEdit, in_order
from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable, display_spec
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import WHAT_IF_STEPS, PathCause
from torch_tb_profiler.store.model import Facts

_C = DisplayColumn
_PER_STEP = "Mean over the selected steps of the kind that takes most time."
WHAT_IF = display_spec(
    """
what_if: What a step would take with each change; of several changes together, one row.
    change        code       Change        -  As the command line takes it.
    words         text       What changes  -  In words.
    measured_ns   mean time  Measured      -  Wall time. <per_step>
    replayed_ns   mean time  Replayed      -  Simulated without a change. <per_step>
    replay_error  share      Replay error  -  By how much the replay misses the wall time.
    predicted_ns  mean time  Predicted     -  Simulated with the change. <per_step>
    low_ns        mean time  Low           -  Lower end of the interval: what such changes came to, how steps differ, how the replay fits.
    high_ns       mean time  High          -  Upper end of the interval.
    saved_ns      mean time  Saved         -  Measured less predicted. <per_step>
    saved         share      Saved         -  Share of the measured time.
""",
    per_step=_PER_STEP,
)
WHAT_IF_KINDS = DisplaySpec(
    "what_if_kinds",
    "What the critical path is made of before and after changes.",
    (
        _C("kind", "text", "", f"One of: {', '.join(KINDS)}."),
        _C("measured_ns", "mean time", "Measured", _PER_STEP),
        _C("predicted_ns", "mean time", "Predicted", _PER_STEP),
    ),
)
PREDICTED_STEPS = display_spec("""
predicted_steps: Every selected step before and after changes.
    step          id         -          -               Number of the step in the trace, from 0.
    name          text       Step       width=160       Name, e.g. `ProfilerStep#5`.
    measured_ns   time       Measured   term=path_time  Wall time.
    replayed_ns   mean time  Replayed   term=replay     Simulated without a change.
    predicted_ns  mean time  Predicted  term=predicted  Simulated with the changes.
    saved         share      Saved      term=what_if    Share of the measured time; below 0: it takes longer.
    steps         count      -          -
""")


def edits(changes: Sequence[Applied]) -> list[Edit]:
    """What the changes do, in the order in which they are applied, however they are given."""

    def edit(applied: Applied) -> Edit:
        return StagedEdit(
            applied.change.stage,
            lambda scene, durations: applied.change.apply(scene, durations, applied.values),
            str(applied),
        )

    return in_order(edit(applied) for applied in changes)


def preset_steps(simulation: Simulation, numbers: Sequence[int]) -> Table:
    """The table ``what_if_steps``; ``numbers``: of the strings of the presets. Those that change nothing are
    left out.
    """
    lengths = [simulation.step_lengths(text, edits([read_change(text)])) for text in PRESETS]
    rows = [(-1, simulation.replayed)]
    rows += [
        (number, length)
        for number, length in zip(numbers, lengths, strict=True)
        if length is not None
    ]
    steps = len(simulation.replayed)
    return WHAT_IF_STEPS.build(
        change=np.repeat([number for number, _ in rows], steps),
        step=np.tile(np.arange(steps), len(rows)),
        time=np.concatenate([length for _, length in rows]),
    )


def preset_table(facts: Facts, insight: Insight, selection: Selection) -> DisplayTable:
    """The usual changes that save time in the selected steps, the most first, from what was simulated with the
    insight.
    """
    rows = [
        ([read_change(text)], row)
        for text, row in kept_predictions(facts, insight, selection).items()
        if text and _predicted(row) < LEAST * _measured(row)
    ]
    return prediction_table(facts, sorted(rows, key=lambda pair: _predicted(pair[1])))


def kept_predictions(facts: Facts, insight: Insight, selection: Selection) -> dict[str, Prediction]:
    """What was simulated with the insight, by change; under an empty text the unchanged replay."""
    table, steps = insight["what_if_steps"], facts["steps"]
    if not steps.n:
        return {}
    rows = of_one_kind(facts, selection.steps)
    measured = step_lengths(steps)[rows].astype(np.float64)
    lengths = table["time"].reshape(-1, steps.n)[:, rows].astype(np.float64)
    lengths = np.maximum(lengths - steps["earlier"][rows], 0)
    changes = insight.strings.many(table["change"].reshape(-1, steps.n)[1:, 0])
    path = insight["critical_path_steps"]
    waits = path["cause"] == PathCause.WAITING
    waiting = np.bincount(path["step"][waits], path["time"][waits], steps.n)[rows]
    for row, text in enumerate(changes, 1):
        # Simulated before the other ranks were known: what a rank waits for them stays.
        name, _, factor = (text or "").partition(":factor=")
        if name in ("overlap", "network"):
            stays = waiting * (1 - float(factor or 0))
            lengths[row] = np.minimum(lengths[row] + stays, np.maximum(lengths[0], lengths[row]))
    return {
        text: Prediction.of(measured, lengths[0], length)
        for text, length in zip(["", *changes], lengths, strict=True)
    }


def kind_changes(
    facts: Facts, simulation: Simulation, changes: Sequence[Applied], selection: Selection
) -> tuple[Prediction, DisplayTable]:
    """The prediction for all changes together, and ``WHAT_IF_KINDS``: both paths are simulated, in the
    proportions of the measured and of the predicted step.
    """
    rows = of_one_kind(facts, selection.steps)
    _, before = simulation.predict([], rows)
    prediction, after = simulation.predict(edits(changes), rows)
    parts = [
        path / max(float(path.sum()), 1.0) * time
        for path, time in ((before, _measured(prediction)), (after, _predicted(prediction)))
    ]
    order = np.argsort(-(parts[0] + parts[1]), kind="stable")
    order = order[(parts[0] + parts[1])[order] > 0]
    keys = list(KINDS)
    return prediction, WHAT_IF_KINDS.build(
        facts.strings,
        kind=[keys[kind] for kind in order.tolist()],
        measured_ns=parts[0][order],
        predicted_ns=parts[1][order],
    )


def predicted_steps(facts: Facts, prediction: Prediction, selection: Selection) -> DisplayTable:
    """``PREDICTED_STEPS`` of a prediction for the selected steps of one kind."""
    measured, rows = prediction.measured, of_one_kind(facts, selection.steps)
    return PREDICTED_STEPS.build(
        facts.strings,
        step=rows,
        name=facts.strings.many(facts["steps"]["name"][rows]),
        measured_ns=measured.astype(np.int64),
        replayed_ns=prediction.replayed,
        predicted_ns=prediction.predicted,
        saved=1 - prediction.predicted / np.maximum(measured, 1),
    )


def what_if_table(
    facts: Facts, simulation: Simulation, changes: Sequence[Applied], selection: Selection
) -> DisplayTable:
    """All changes together in one row."""
    prediction, _ = simulation.predict(edits(changes), of_one_kind(facts, selection.steps))
    return prediction_table(facts, [(changes, prediction)])


LEAST = 0.999
"""A preset is shown where it leaves less than this share of the step."""


def prediction_table(
    facts: Facts, rows: Sequence[tuple[Sequence[Applied], Prediction]]
) -> DisplayTable:
    """A row per prediction."""

    def each(value: Callable[[Prediction], float]) -> list[float]:
        return [value(prediction) for _, prediction in rows]

    measured, predicted = (np.array(each(value)) for value in (_measured, _predicted))
    saved = measured - predicted
    ends = np.array([interval_of(row, changes) for changes, row in rows]).reshape(-1, 2)
    return WHAT_IF.build(
        facts.strings,
        change=[" ".join(map(str, changes)) for changes, _ in rows],
        words=["; ".join(applied.words for applied in changes) for changes, _ in rows],
        measured_ns=measured,
        replayed_ns=np.array(each(lambda row: _mean(row.replayed))),
        replay_error=np.array(each(lambda row: row.error)),
        predicted_ns=predicted,
        low_ns=ends[:, 0],
        high_ns=ends[:, 1],
        saved_ns=saved,
        saved=saved / np.maximum(measured, 1),
    )


def interval_of(prediction: Prediction, changes: Sequence[Applied]) -> tuple[float, float]:
    """Least and greatest mean step to expect with some changes, ns."""
    measured, predicted = _measured(prediction), prediction.predicted
    return step_interval(measured, predicted, prediction.error, reach_of(changes))


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else 0.0


def _measured(prediction: Prediction) -> float:
    return _mean(prediction.measured)


def _predicted(prediction: Prediction) -> float:
    return _mean(prediction.predicted)


def what_if_document(
    facts: Facts, simulation: Simulation, changes: Sequence[Applied], selection: Selection
) -> dict[str, Any]:
    """The prediction for all changes together as plain values; times in integer ns, per step."""
    rows = of_one_kind(facts, selection.steps)
    prediction, path = simulation.predict(edits(changes), rows)
    names = facts.strings.many(facts["steps"]["name"][rows])
    plain = prediction_document(prediction, changes, names)
    steps = max(len(rows), 1)
    kinds = {
        kind: round(time / steps)
        for kind, time in zip(KINDS, path.tolist(), strict=True)
        if round(time / steps)
    }
    per_step = plain.pop("steps")
    return {
        **plain,
        "absent": is_absent(simulation, changes),
        "by_kind_ns": kinds,
        "steps": per_step,
    }


def is_absent(simulation: Simulation, changes: Sequence[Applied]) -> bool:
    """Whether nothing that some changes act on was recorded: all lasts as long as without them. Without a change nothing is absent."""
    return bool(changes) and not simulation.changed(edits(changes)).differs


def prediction_document(
    prediction: Prediction, changes: Sequence[Applied], names: Sequence[str]
) -> dict[str, Any]:
    """A prediction of some steps as plain values; ``names``: of the steps."""
    low, high = interval_of(prediction, changes)
    lengths = (prediction.measured, prediction.replayed, prediction.predicted)
    keys = ("measured_ns", "replayed_ns", "predicted_ns")
    measured, replayed, predicted = (round(_mean(values)) for values in lengths)
    return {
        "measured_ns": measured,
        "replayed_ns": replayed,
        "replay_error": prediction.error,
        "predicted_ns": predicted,
        "low_ns": round(low),
        "high_ns": round(high),
        "changes": [{"change": str(applied), "words": applied.words} for applied in changes],
        "steps": [
            {"name": name, **dict(zip(keys, map(round, times), strict=True))}
            for name, *times in zip(names, *(values.tolist() for values in lengths), strict=True)
        ],
    }
