"""Time of the program's thread between its forward pass, backward pass, optimizer, input and communication,
after the same of them again and again: in operators that train nothing, or in which
nothing was recorded. With call stacks only the latter, because ``own_code`` tells the functions; so, too, without a
backward pass, where any operator may be the work.

Evidence: these operators, or what came before. Within one pass only stretches beyond 1 ms: shorter ones are the usual
time from one operator to the next.
Change: the stretches after one of them, or the operator that takes most of these, take no time. Likely from a third
of the step on, else theoretical. Wrong where what happens there is needed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.arrays.intervals import (
    Intervals,
    intersect,
    measure,
    shared,
    subtract,
    union,
)
from torch_tb_profiler.analysis.findings.catalogue import known_fix
from torch_tb_profiler.analysis.findings.edits import thread_time_gone
from torch_tb_profiler.analysis.findings.gaps import SHORT_GAP
from torch_tb_profiler.analysis.findings.host_time import LEAST, MOST, MUCH
from torch_tb_profiler.analysis.findings.rule import HOST, Candidate, Rule, RuleContext
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.python_frames import function_name
from torch_tb_profiler.store.roles import Role

_CALLS = (Role.OPERATOR, Role.ANNOTATION, Role.RUNTIME, Role.PYTHON)
_BACKWARD = "the backward pass"
_OPTIMIZER = re.compile(r"torch/optim/")
_PROFILER = re.compile(r"user_annotation|profiler|_RecordFunction")
_SEE = """Record with torch_tb_profiler.record, or with_stack=True, to see the line of Python: files,
logging, garbage collection, sleeping and loops in Python call no operator."""


class _Calls(msgspec.Struct, frozen=True):
    """What the loop calls, in time order: rows, what each is called, whether it is training, and its time, ns."""

    row: Ints
    label: list[str]
    own: Mask
    start: Ints
    end: Ints

    def take(self, chosen: Mask) -> _Calls:
        label = [self.label[number] for number in np.flatnonzero(chosen)]
        return _Calls(
            self.row[chosen], label, self.own[chosen], self.start[chosen], self.end[chosen]
        )


def _claim(context: RuleContext) -> Candidate | None:
    if context.has_device or context.main_track < 0:
        return None
    calls = _calls(context)
    tells_work = not context.facts.summary.has_stacks and len(context.training.differentiated) > 0
    anchors = calls.take(calls.own) if tells_work else calls
    if len(anchors.row) < 2:
        return None
    after, start, end = _stretches(context, anchors)
    if not len(after):
        return None
    each, group = np.unique([anchors.label[number] for number in after], return_inverse=True)
    total = sum_by(group, len(each), end - start)
    best = group == total.argmax()
    if total.max() < LEAST * context.windows.length:
        return None
    after, start, end = after[best], start[best], end[best]
    words = {
        "before": str(each[total.argmax()]),
        "after": _usual(anchors.label[at + 1] for at in after if at + 1 < len(anchors.label)),
    }
    inner = calls.take(measure(union(start, end), calls.start, calls.start + 1) > 0)
    quiet = subtract(union(start, end), union(inner.start, inner.end))
    if quiet.length >= MOST * total.max():
        piece, begin, until = shared(start, end, quiet)
        return _candidate(context, anchors.row[after[piece]], begin, until, words | _NOTHING)
    names, kind = np.unique(inner.label, return_inverse=True)
    took = sum_by(kind, len(names), inner.end - inner.start)
    order = np.argsort(-took, kind="stable")
    chief = str(names[order[0]])
    words["most"] = ", ".join(names[order[:3]].tolist())
    if took.max() >= MOST * total.max():
        one = kind == order[0]
        fix = known_fix(chief)
        words |= {"what": f"{chief} takes", "attempt": fix.attempt if fix else ""}
        words["source"] = "\n".join(fix.source) if fix else ""
        return _candidate(context, inner.row[one], inner.start[one], inner.end[one], words)
    words |= {"what": f"{chief} and other operators that train nothing take"}
    whole = np.append(inner.start, quiet.start), np.append(inner.end, quiet.end)
    row = np.append(inner.row, np.full(len(quiet.start), inner.row[0]))
    return _candidate(context, row, *whole, words)


_NOTHING = {"what": "nothing was recorded for", "nothing": "yes", "attempt": " ".join(_SEE.split())}


def _candidate(
    context: RuleContext, row: Ints, start: Ints, end: Ints, words: dict[str, str]
) -> Candidate:
    time = union(start, end)
    table, steps = context.facts["steps"], context.steps
    present = measure(time, table["start"][steps], table["end"][steps]) > 0
    thread = np.full(len(start), context.main_track)
    if words.get("nothing") and words.get("before"):
        seen = int(present.sum())
        often = "in every step" if seen == len(steps) else f"in {seen} of {len(steps)} steps"
        often = "once" if len(start) == 1 else "in the recording" if context.is_whole else often
        words |= {
            "why": f"It comes after {words['before']}, {often}; with_stack=True shows its line."
        }
    return Candidate(
        row,
        start,
        end,
        {
            "taken": time.length / len(steps),
            "longest": int((time.end - time.start).max()),
            "in_steps": int(present.sum()),
            "of_steps": len(steps),
        },
        words | {"once": "yes" if present.sum() == 1 < len(steps) else ""},
        certainty="likely" if time.length >= MUCH * context.windows.length else "theoretical",
        edit=thread_time_gone(thread, start, end),
    )


def _calls(context: RuleContext) -> _Calls:
    """What the loop calls on the program's thread."""
    spans, parent = context.trace["spans"], context.parent
    training = context.training
    called = (training.own | training.housekeeping) & np.append(training.loop, True)[parent]
    called &= np.isin(spans["role"], _CALLS) & (spans["track"] == context.main_track)
    row = np.flatnonzero(called)
    start, end = context.times(row)
    label = [
        _BACKWARD if is_backward else _label(context.trace.strings[number])
        for is_backward, number in zip(
            training.backward[row].tolist(), spans["name"][row].tolist(), strict=True
        )
    ]
    return _Calls(row, label, training.own[row], start, end)


def _label(name: str) -> str:
    if _PROFILER.search(name):
        return "the begin of the step"
    return "the optimizer" if _OPTIMIZER.search(name) else function_name(name)


def _stretches(context: RuleContext, anchors: _Calls) -> tuple[Ints, Ints, Ints]:
    """Within the steps, where the thread is after one of ``anchors`` and before the next: ``(position, start, end)``."""
    last = max(int(context.windows.end.max(initial=0)), int(anchors.end[-1]))
    begin, until = anchors.end, np.append(anchors.start[1:], last)
    same = np.append(_passes(anchors), False)
    wanted = (until > begin) & (~same | (until - begin > SHORT_GAP))
    at = np.flatnonzero(wanted)
    piece, start, end = shared(begin[at], until[at], _counted(context))
    return at[piece], start, end


def _counted(context: RuleContext) -> Intervals:
    """When the program's thread is on the critical path and waits for no other, collectives of other threads left out."""
    path, track = context.insight["critical_path"], context.trace["spans"]["track"]
    mine = np.isin(path["cause"], (*HOST, PathCause.NOT_RECORDED))
    mine &= (path["event"] < 0) | (track[path["event"]] == context.main_track)
    on_path = union(path["start"][mine], path["end"][mine])
    return subtract(intersect(on_path, context.windows), context.when(context.collectives))


def _passes(anchors: _Calls) -> Mask:
    """Whether each of them and the next are of one pass: forward, backward, or operators of no known one."""
    kind = np.array(
        [
            0 if label == _BACKWARD else 2 + number if _is_region(label) else 1
            for number, label in enumerate(anchors.label)
        ]
    )
    return np.asarray(kind[1:] == kind[:-1])


def _is_region(label: str) -> bool:
    return "#" in label


def _usual(labels: Iterable[str]) -> str:
    """The one that is there most often."""
    [(label, _)] = Counter(labels).most_common(1) or [("", 0)]
    return label


RULE = Rule(
    place=291,
    claim=_claim,
    title="Part of the {step} trains nothing",
    action="Do what trains nothing less often",
    fact="{taken} of the {step}, at most {longest} at once",
    sentence="""On average {taken} of the {step} is neither model, optimizer, input nor communication, in
    {which_steps}; the longest stretch is {longest}. Without it the {step} is {gain} ({share}) shorter.""",
    attempt="Do it less often, in fewer calls, or beside the training.",
    caveat="What the program does there may be needed, so less than all of it may be saved.",
    views=("overview", "trace"),
    certainty="likely",
    cause="{what} {taken} of {the_step}",
    without="Without that",
    details=(
        (
            "nothing",
            """Nothing was recorded there: without call stacks that is what Python code (loops, logging, garbage
            collection), reading and writing files, and waiting (a lock, a sleep) look like.""",
        ),
        ("before", "It comes after {before}."),
        ("after", "Then comes {after}."),
        ("once", "It happened once and may not recur."),
        ("most", "Most of it is in {most}."),
    ),
    numbers={
        "taken": ("Taken", "ns"),
        "longest": ("Longest", "ns"),
        "in_steps": ("Steps with it", "count"),
        "of_steps": ("", "count"),
    },
)
