"""Another thread runs Python, or a call of it, and holds a lock while the program's thread stands still: in stretches of about
``SWITCH`` or more, where the same call typically takes a fraction of it.

Evidence: what the other thread was in meanwhile. Which lock it is is not recorded: the interpreter's, or one of the program's own.
Change: each such stretch takes as long as the same call typically does. Likely. Wrong where the other thread and
the program's share a core or memory and no lock is what they wait for.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import costliest, mask_of, picked
from torch_tb_profiler.analysis.arrays.intervals import measure, union
from torch_tb_profiler.analysis.critical_path.host import is_waiting_frame
from torch_tb_profiler.analysis.findings.edits import thread_time_gone
from torch_tb_profiler.analysis.findings.rule import Candidate, Pieces, Question, RuleContext
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.python_frames import function_name
from torch_tb_profiler.store.roles import Role

SWITCH = 5_000_000
"""ns after which a waiting thread asks for the lock (``sys.getswitchinterval``)."""
_ABOUT = 0.9
"""Share of ``SWITCH`` from which on a stretch may have been waiting for it."""
_SOURCE = (
    "Global interpreter lock\nhttps://docs.python.org/3/glossary.html#term-global-interpreter-lock"
)
_USUAL = 0.25
"""Share of a stretch that the same call takes at most where it does not wait."""


def _claim(context: RuleContext) -> Candidate | None:
    host, main = context.scene.graph.host, context.main_track
    others = _running_python(context)
    if main < 0 or not len(others):
        return None
    own = host.of_track(main)
    long = own.start + np.flatnonzero(host.end[own] - host.start[own] >= _ABOUT * SWITCH)
    long = long[measure(context.windows, host.start[long], host.end[long]) > 0]
    # What the loop itself does between its calls has no usual length, and operators compute without the lock.
    other = context.training.loop | (context.spans["role"] == Role.OPERATOR)
    long = long[~np.append(other, True)[host.span[long]]]
    if not len(long):
        return None
    name = picked(context.spans["name"], host.span[own])
    same = np.flatnonzero(mask_of(len(context.trace.strings) + 1, name[long - own.start])[name])
    alike = own.start + same
    usual = _medians(name[same], host.end[alike] - host.start[alike])
    usual = usual[np.searchsorted(alike, long)]
    took = host.end[long] - host.start[long]
    brief = usual <= _USUAL * took
    long, usual, took = long[brief], usual[brief], took[brief]
    busy = union(host.start[others], host.end[others])
    held = measure(busy, host.start[long], host.end[long]) >= _ABOUT * took
    long, usual, took = long[held], usual[held], took[held]
    if not len(long):
        return None
    start, end = host.start[long], host.end[long] - usual
    running = Pieces(host.span[others].astype(np.int64), host.start[others], host.end[others])
    shown, steps = running.during(union(start, end)), len(context.steps)
    chief, _ = costliest(context.spans["name"][shown.row], shown.lengths)
    return Candidate(
        shown,
        {"taken": int((end - start).sum()) / steps, "stretches": len(long) / steps},
        {"what": function_name(context.name_of(shown.row[chief][0])), "source": _SOURCE},
        edit=thread_time_gone(np.full(len(start), main), start, end),
    )


def _running_python(context: RuleContext) -> Ints:
    """Segments in which another thread runs Python."""
    spans, host = context.spans, context.scene.graph.host
    other = np.flatnonzero((host.track != context.main_track) & (host.span >= 0))
    other = other[spans["role"][host.span[other]] == Role.PYTHON]
    return np.asarray(other[~context.named(host.span[other], is_waiting_frame)])


def _medians(name: Ints, length: Ints) -> Ints:
    """For each stretch the median of those of its name."""
    order = np.lexsort((length, name))
    first = np.flatnonzero(np.append(True, np.diff(name[order]) != 0))
    count = np.diff(np.append(first, len(order)))
    each = length[order][first + (count - 1) // 2]
    result = np.empty(len(order), np.int64)
    result[order] = np.repeat(each, count)
    return result


QUESTION = Question(__name__)
QUESTION.state("interpreter_held", 44, _claim, certainty="likely")
