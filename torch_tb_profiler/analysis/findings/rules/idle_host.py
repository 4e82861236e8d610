"""The source line, else the operator, else the call, in which the host is longest on the critical path
while the device is idle and the host launches nothing: outside of stretches in which launches follow each
other within 1 ms, of the DataLoader and of waiting.

Change: it takes no host time there. Certain.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import costliest, sum_by
from torch_tb_profiler.analysis.arrays.intervals import measure, shared, subtract, union
from torch_tb_profiler.analysis.arrays.nesting import climb
from torch_tb_profiler.analysis.critical_path.origins import lines_of, names_of, operators_of
from torch_tb_profiler.analysis.facts.host_names import spans_named
from torch_tb_profiler.analysis.findings.candidate import THRESHOLD
from torch_tb_profiler.analysis.findings.gaps import SHORT_GAP
from torch_tb_profiler.analysis.findings.host_time import on_path, silent
from torch_tb_profiler.analysis.findings.known_fixes import known_fix
from torch_tb_profiler.analysis.findings.rule import HOST, Candidate, Rule, RuleContext
from torch_tb_profiler.analysis.what_if.changes import launching
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.replay import Durations, take_away
from torch_tb_profiler.analysis.what_if.simulation import Edit
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.python_frames import PythonFrame
from torch_tb_profiler.store.roles import Role


def _claim(context: RuleContext) -> Candidate | None:
    if not context.has_device:
        return None
    event, start, end = on_path(context, *HOST)
    piece, start, end = _not_launching(context, event, start, end)
    if not len(piece):
        return None
    event = event[piece]
    places = _places(context, event)
    # While the device still works, the host holds nothing up.
    idle = measure(union(context.gaps.start, context.gaps.end), start, end)
    own, idles = costliest(places, idle)
    if idles < THRESHOLD * context.windows.length:
        return None
    place = int(places[own][0])
    return Candidate(
        event[own],
        start[own],
        end[own],
        {
            "longest": int((end - start)[own].max()),
            "stretches": int(own.sum()) / len(context.steps),
        },
        {"doing": _words(context, place), "nothing": "" if place >= 0 else "nothing"}
        | _known(context, event[own], (end - start)[own]),
        edit=_without(context, place),
    )


def _known(context: RuleContext, event: Ints, time: Ints) -> dict[str, str]:
    """What is known of the call that takes most of some stretches of host events, in words."""
    spans, parent = context.trace["spans"], context.parent
    python = spans["role"] == Role.PYTHON
    call = climb(parent, event, spans_named(context.trace, python, known_fix))
    if not (call >= 0).any():
        return {}
    known = call[call >= 0]
    own, took = costliest(spans["name"][known], time[call >= 0])
    fix = known_fix(context.name_of(known[own][0]))
    if fix is None or 2 * took < time.sum():
        return {}
    return {"kind": fix.what, "attempt": fix.attempt, "source": "\n".join(fix.source)}


def _places(context: RuleContext, event: Ints) -> Array:
    """What stands for each host event: its line, else its operator, else its name (string numbers); −1
    for the step itself.
    """
    line, operator = (
        lines_of(context.trace, context.facts, event),
        operators_of(context.trace, context.facts, event),
    )
    name = names_of(context.trace, event)
    name = np.where(context.names.step[name] >= 0, -1, name)
    operator = np.where(context.names.step[operator] >= 0, -1, operator)
    return np.where(line >= 0, line, np.where(operator >= 0, operator, name))


def _not_launching(
    context: RuleContext, event: Ints, start: Ints, end: Ints
) -> tuple[Ints, Ints, Ints]:
    """The parts of stretches of host threads in which their thread does not launch: ``(position, start,
    end)``.
    """
    periods = launching(context.scene, SHORT_GAP)
    track = context.trace["spans"]["track"][event]
    quiet = silent(context)
    parts = []
    for thread in np.unique(track).tolist():
        own = np.flatnonzero(track == thread)
        free = subtract(union(start[own], end[own]), quiet)
        if thread in periods:
            free = subtract(free, periods[thread])
        position, begin, stop = shared(start[own], end[own], free)
        parts.append((own[position], begin, stop))
    none = np.zeros(0, np.int64)
    piece, begin, stop = (
        np.concatenate(column) for column in zip((none, none, none), *parts, strict=True)
    )
    return piece, begin, stop


def _without(context: RuleContext, place: int) -> Edit:
    """All host time of a place without launches is gone."""

    def edit(scene: Scene, durations: Durations) -> None:
        host = scene.graph.host

        def gone() -> tuple[Ints, Ints]:
            row = np.flatnonzero(np.isin(host.cause, HOST) & (host.span >= 0))
            row = row[_places(context, host.span[row]) == place]
            position, start, end = _not_launching(
                context, host.span[row], host.start[row], host.end[row]
            )
            return row, sum_by(position, len(row), end - start)

        take_away(durations, *scene.once(edit, gone))

    return edit


def _words(context: RuleContext, place: int) -> str:
    """``zoom at scipy/ndimage/_interpolation.py(739)``; empty for −1."""
    text = context.facts.strings[place] if place >= 0 else ""
    frame = PythonFrame.of(text)
    if frame is None or frame.line is None:
        return text
    return f"{frame.function} at {frame.file}({frame.line})"


RULE = Rule(
    place=110,
    claim=_claim,
    title="The {device} waits for the host",
    action="Move host work out of the {step}",
    fact="nothing is launched for up to {longest}",
    sentence="""The host launches nothing for {stretches} stretches per {step}, the longest of
    {longest}, and they are on the critical path; without them the {step} is {gain} ({share}) shorter.""",
    attempt="""Look at what the host does there: computing on the CPU, loading or compiling kernels,
    reading files, logging. Move it out of the {step} or into another thread.""",
    caveat="""The host itself may wait for what the trace does not show: a request, a file, another
    process. A first call compiles or loads kernels once.""",
    views=("overview", "trace"),
    cause="The host holds the {device} up for {gain} of {the_step}",
    without="Without that",
    details=(
        ("doing", "It is in {doing}."),
        ("kind", "It is {kind}."),
        ("nothing", "Nothing was recorded of what it does there."),
    ),
    numbers={"longest": ("Longest", "ns"), "stretches": ("Stretches", "count")},
)
