"""The function called in the loop, apart from model, backward, optimizer, input and communication,
in which the program's thread spends most of the critical path. Of the calls in it
the innermost function of the user's own that holds most of that time stands for it, with the call below that holds
most.

Change: that function takes no time. Certain where a known fix avoids the call (``catalogue.json``); likely
where it takes at least a third of the step, which is much for what trains nothing; else theoretical, because what
it does may be needed. Wrong where it is the work itself, such as in a program without modules.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import costliest, mask_of
from torch_tb_profiler.analysis.arrays.nesting import climb
from torch_tb_profiler.analysis.facts.host_names import distinct, name_mask
from torch_tb_profiler.analysis.figures.selection import judged_steps
from torch_tb_profiler.analysis.figures.source_lines import OWN, line_ranks
from torch_tb_profiler.analysis.findings.catalogue import Fix, known_fix
from torch_tb_profiler.analysis.findings.edits import host_skips
from torch_tb_profiler.analysis.findings.host_time import (
    LEAST,
    MOST,
    MUCH,
    NO_NAME,
    on_path,
    python_loop,
)
from torch_tb_profiler.analysis.findings.operators import beneath
from torch_tb_profiler.analysis.findings.rule import HOST, Candidate, Rule, RuleContext
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.python_frames import function_name
from torch_tb_profiler.store.roles import Role

_NOTABLE = 0.15
"""Share of a call from which on a known one in it is named."""


class _Pieces(msgspec.Struct, frozen=True):
    """Stretches of the path: their innermost span, the call that they are in, and their begin and end, ns."""

    event: Ints
    start: Ints
    end: Ints
    call: Ints

    @property
    def time(self) -> Ints:
        return self.end - self.start

    def take(self, chosen: Mask) -> _Pieces:
        return _Pieces(self.event[chosen], self.start[chosen], self.end[chosen], self.call[chosen])


def _claim(context: RuleContext) -> Candidate | None:
    spans = context.trace["spans"]
    if context.has_device or not (spans["role"] == Role.PYTHON).any():
        return None
    pieces = _pieces(context)
    length = context.windows.length
    if not len(pieces.event):
        return None
    pieces, total = _largest(context, pieces)
    if total < LEAST * length:
        return None
    chain = _chain(context, pieces)
    place, callee = _place(context, chain)
    row = np.unique(place.call)
    taken = int(place.time.sum())
    fix, part = _known(context, row, Role.PYTHON)
    most = fix is not None and part >= MOST * taken
    if fix is None:
        fix, part = _known(context, row, Role.OPERATOR)
    steps, name = len(context.steps), _plain(context, place)
    seen, evaluates = len(np.unique(_step_of(context, place.start))), _evaluates(context, row)
    # Asked of the steps that have it alone, the others tell.
    every = len(judged_steps(context.facts))
    what = f"calling {name}"
    if evaluates:
        what = f"{'evaluation' if seen < every else 'running modules without gradients'} in {name}"
    often, rounds = python_loop(context, row)
    much = taken >= MUCH * length and (not evaluates or seen < every)
    return Candidate(
        place.call,
        place.start,
        place.end,
        {
            "taken": taken / steps,
            "calls": context.per_step(row),
            "in_steps": seen,
            "of_steps": steps,
            "part": 0 if fix is None or most else part / steps,
            "rounds": rounds,
        },
        {
            "often": often,
            "what": fix.what if fix and most else what,
            "kind": fix.what if fix and most else what if evaluates else "",
            "callee": "" if most or callee is None else _plain(context, callee),
            "attempt": fix.attempt if fix else "",
            "known": fix.what if fix and not most else "",
            "source": "\n".join(fix.source) if fix else "",
        },
        certainty=fix.certainty if fix and most else "likely" if much else "theoretical",
        edit=host_skips(row),
    )


def _known(context: RuleContext, row: Ints, role: Role) -> tuple[Fix | None, int]:
    """The known call that takes most of some calls, and its time, ns; None below ``_NOTABLE`` of theirs."""
    spans = context.trace["spans"]
    within = beneath(context, row)
    inner = np.flatnonzero(within & (spans["role"] == role))
    name = spans["name"][inner]
    rows: dict[Fix, list[Ints]] = {}
    for number in distinct(name, context.trace.strings):
        if fix := known_fix(context.trace.strings[number]):
            rows.setdefault(fix, []).append(inner[name == number])
    took = {fix: context.when(np.concatenate(own)).length for fix, own in rows.items()}
    best = max(took, key=lambda fix: took[fix], default=None)
    if best is None or took[best] < _NOTABLE * context.when(row).length:
        return None, 0
    return best, took[best]


def _evaluates(context: RuleContext, row: Ints) -> bool:
    """Whether modules whose results are not differentiated take most of some calls."""
    modules = context.training.modules
    within = beneath(context, row)[modules]
    took = context.when(modules[within]).length
    return bool(took >= MOST * context.when(row).length)


def _pieces(context: RuleContext) -> _Pieces:
    """Stretches of the path in what the loop calls besides training."""
    parent = context.parent
    event, start, end = on_path(context, *HOST)
    loop, other = context.training.loop, context.training.housekeeping
    mine = other[event]
    event, start, end = event[mine], start[mine], end[mine]
    # Called by the loop itself, or by nobody.
    outermost = other & np.append(loop, True)[parent]
    call = climb(parent, event, outermost).astype(np.int64)
    known = call >= 0
    return _Pieces(event[known], start[known], end[known], call[known])


def _largest(context: RuleContext, pieces: _Pieces) -> tuple[_Pieces, int]:
    """Those of the calls of one name that take most, and their time, ns."""
    own, total = costliest(context.trace["spans"]["name"][pieces.call], pieces.time)
    return pieces.take(own), total


def _chain(context: RuleContext, pieces: _Pieces) -> list[_Pieces]:
    """From the call down: the callees that hold most of it."""
    parent = context.parent
    role = context.trace["spans"]["role"]
    whole, chain = int(pieces.time.sum()), [pieces]
    while True:
        current = chain[-1]
        level = mask_of(len(parent) + 1, current.call)
        deeper = current.take(current.event != current.call)
        if not len(deeper.event):
            return chain
        child = climb(parent, deeper.event, level[parent]).astype(np.int64)
        deeper = _Pieces(deeper.event, deeper.start, deeper.end, child)
        deeper, total = _largest(context, deeper)
        if total < MOST * whole or role[deeper.call[0]] != Role.PYTHON:
            return chain
        chain.append(deeper)


def _place(context: RuleContext, chain: list[_Pieces]) -> tuple[_Pieces, _Pieces | None]:
    """The innermost function of the user's own, and what it calls; the first call where there is none."""
    name = context.trace["spans"]["name"]
    names = np.array([name[link.call[0]] for link in chain])
    rank = line_ranks(context.trace.strings, names)[names]
    unnamed = name_mask(context.trace.strings, names, NO_NAME.search)[names]
    own = np.flatnonzero((rank == OWN) & ~unnamed)
    if not len(own):
        return chain[0], None
    last = int(own[-1])
    return chain[last], chain[last + 1] if last + 1 < len(chain) else None


def _step_of(context: RuleContext, start: Ints) -> Ints:
    return np.searchsorted(context.facts["steps"]["start"][context.steps], start, side="right")


def _plain(context: RuleContext, place: _Pieces) -> str:
    return function_name(context.name_of(place.call[0]))


RULE = Rule(
    place=290,
    claim=_claim,
    title="A call in the loop takes much of the {step} and trains nothing",
    action="Call {what} less often",
    fact="{taken} of the {step}",
    sentence="""Of what the loop does besides training, one call takes most: {taken} of the {step},
    in {which_steps}{at}. Without it the {step} is {gain} ({share}) shorter.""",
    attempt="Do it less often, on fewer values, or in another thread or process.",
    caveat="""What the program needs of it remains. In a program that neither trains nor has modules it may be
    the work itself.""",
    views=("overview", "trace"),
    certainty="likely",
    cause="{what} takes {taken} of {the_step}",
    without="Without {what}",
    details=(
        ("calls", "Calls per {step}: {calls}."),
        ("kind", "It is {kind}."),
        ("callee", "Most of it is in {callee}."),
        ("often", "It is a Python loop: {often} is called {rounds} times per {step}."),
        ("known", "Of that, {part} goes to {known}."),
    ),
    numbers={
        "taken": ("Taken", "ns"),
        "calls": ("Calls", "count"),
        "in_steps": ("Steps with it", "count"),
        "of_steps": ("", "count"),
        "part": ("", "ns"),
        "rounds": ("Rounds of the Python loop", "count"),
    },
)
