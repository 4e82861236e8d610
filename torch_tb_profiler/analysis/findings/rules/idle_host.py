"""The source line, else the operator, else the call, in which the host is longest on the critical path
while the device is idle and the host launches nothing: outside of stretches in which launches follow each
other within 1 ms, of the DataLoader and of waiting.

Change: it takes no host time there. Certain.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import costliest, picked, sum_by
from torch_tb_profiler.analysis.arrays.intervals import join, measure, shared, subtract, union
from torch_tb_profiler.analysis.critical_path.origins import lines_of, names_of, operators_of
from torch_tb_profiler.analysis.findings.candidate import THRESHOLD
from torch_tb_profiler.analysis.findings.gaps import SHORT_GAP
from torch_tb_profiler.analysis.findings.rule import HOST, Candidate, Pieces, Question, RuleContext
from torch_tb_profiler.analysis.what_if.changes import launching
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.replay import Durations
from torch_tb_profiler.analysis.what_if.simulation import Edit
from torch_tb_profiler.store.columns import Array, Ints, unique_values
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.python_frames import PythonFrame, function_name


def _claim(context: RuleContext) -> Candidate | None:
    path = context.on_path(*HOST, PathCause.NOT_RECORDED)
    track = np.where(path.row >= 0, picked(context.spans["track"], path.row), context.main_track)
    piece, start, end = _not_launching(context, track, path.start, path.end)
    if not len(piece):
        return None
    pieces = Pieces(path.row[piece], start, end)
    places = _places(context, pieces.row)
    # While the device still works, the host holds nothing up.
    idle = measure(context.gaps.time, start, end)
    quiet, length = places < 0, end - start
    # Where nothing was recorded, long stretches tell what short ones do not, at the edges of a recording as well.
    idle[quiet] = measure(subtract(context.windows, context.work.time), start, end)[quiet]
    idle[quiet & (length < min(SHORT_GAP, length[quiet].max(initial=0)))] = 0
    own, idles = costliest(places, idle)
    own &= idle > 0
    if idles < THRESHOLD * context.windows.length:
        return None
    place, pieces, length = int(places[own][0]), pieces.take(own), length[own]
    at, longest = int(length.argmax()), int(length.max())
    if place >= 0:
        words = {"doing": _words(context, place)}
    else:
        before, after = context.neighbours(pieces.start, pieces.end)
        pieces = Pieces(before, pieces.start, pieces.end)
        each = {"after": int(before[at]), "before": int(after[at])}
        told = [f"{k} {function_name(context.name_of(n))}" for k, n in each.items() if n >= 0]
        words = {"why": ", ".join(("Nothing was recorded of what it does there", *told))}
    return Candidate(
        pieces,
        {"longest": longest, "stretches": len(length) / len(context.steps)},
        words,
        # What happens where nothing was recorded may be needed.
        certainty="certain" if place >= 0 else "likely",
        unplanned=bool(place < 0 and 2 * longest > length.sum()),
        edit=_without(context, place, SHORT_GAP if longest >= SHORT_GAP else 0),
    )


def _places(context: RuleContext, event: Ints) -> Array:
    """What stands for each host event: its line, else its operator, else its name (string numbers); −1
    for the step itself.
    """
    line, operator = (
        lines_of(context.trace, context.facts, context.insight.tables, event),
        operators_of(context.trace, context.facts, event),
    )
    name = names_of(context.trace, event)
    name = np.where(context.names.step[name] >= 0, -1, name)
    operator = np.where(context.names.step[operator] >= 0, -1, operator)
    return np.where(line >= 0, line, np.where(operator >= 0, operator, name))


def _not_launching(
    context: RuleContext, track: Array, start: Ints, end: Ints
) -> tuple[Ints, Ints, Ints]:
    """The parts of stretches of threads (rows of tracks) in which no thread launches, for one may wait for another: ``(position, start, end)``."""
    quiet = join(context.silent_end, *launching(context.scene, SHORT_GAP).values())
    parts = []
    for thread in unique_values(track).tolist():
        own = np.flatnonzero(track == thread)
        free = subtract(union(start[own], end[own]), quiet)
        position, begin, stop = shared(start[own], end[own], free)
        parts.append((own[position], begin, stop))
    none = np.zeros(0, np.int64)
    piece, begin, stop = (
        np.concatenate(column) for column in zip((none, none, none), *parts, strict=True)
    )
    return piece, begin, stop


def _without(context: RuleContext, place: int, least: int) -> Edit:
    """All host time of a place without launches is gone; where nothing was recorded, of stretches of ``least`` ns."""

    def edit(scene: Scene, durations: Durations) -> None:
        host = scene.graph.host

        def gone() -> tuple[Ints, Ints]:
            mine = np.isin(host.cause, HOST) & (host.span >= 0)
            mine |= (host.cause == PathCause.NOT_RECORDED) & (host.track == context.main_track)
            row = np.flatnonzero(mine)
            row = row[_places(context, host.span[row].astype(np.int64)) == place]
            position, start, end = _not_launching(
                context, host.track[row], host.start[row], host.end[row]
            )
            # What it does while the device works may wait for that.
            idle = end - start - measure(context.work.time, start, end)
            gone = np.where((place >= 0) | (end - start >= least), idle, 0)
            return row, sum_by(position, len(row), gone)

        row, time = scene.once(edit, gone)
        if len(row):
            durations.segment[row] = np.maximum(durations.segment[row] - time, 0)

    return edit


def _words(context: RuleContext, place: int) -> str:
    """``zoom at scipy/ndimage/_interpolation.py(739)``; empty for −1."""
    text = context.facts.strings[place] if place >= 0 else ""
    frame = PythonFrame.of(text)
    if frame is None or frame.line is None:
        return text
    return f"{frame.function} at {frame.file}({frame.line})"


QUESTION = Question(__name__)
QUESTION.state("idle_host", 110, _claim, of_device=True)
