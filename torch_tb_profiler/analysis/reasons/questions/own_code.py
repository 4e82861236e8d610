"""The program's own code, outside of what trains: the functions that the loop calls apart from model, backward, optimizer, input and
communication, and Python and functions of no use to the gradients that run within these, in which the program's thread spends the critical path.

::

    loop ─┬ step (model, backward, optimizer)          noise.py: forward ▓▓▓ Python of its own: within the model
          └ log_metrics ─ write ─ <built-in write>     write holds most of log_metrics: calling write

Evidence: of each call of the loop that takes 5 % of the steps or more, the innermost function of the user's own that holds half of
it stands for it, with the call below that holds most; within what trains, the time in frames of one function of the user's own and in
what these call of Python's own, outside of every operator and library. On a host alone also the time in which nothing was recorded of its thread
while no other one worked, by the call before it (within one pass only beyond 1 ms: less is the usual time from one operator to the next), and
without frames the operators that train nothing. Three places at most.
Change: that function, or that time, is gone. Certain where a known fix avoids the call (``catalogue.json``); likely where it takes a third of
the step (time without a record only in half of the steps, or at a regular distance: else it is the machine's), or is a Python loop of a
thousand calls; else theoretical, because what it does may be needed. Wrong where it is the work itself, such
as in a program without modules, and where recording each Python call is what takes the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, picked, sum_by
from torch_tb_profiler.analysis.arrays.intervals import intersect, measure, subtract, union
from torch_tb_profiler.analysis.arrays.nesting import climb, with_ancestors
from torch_tb_profiler.analysis.critical_path.verdict_texts import in_how_many
from torch_tb_profiler.analysis.facts.host_names import spans_named
from torch_tb_profiler.analysis.figures.selection import judged_steps
from torch_tb_profiler.analysis.figures.source_lines import OWN
from torch_tb_profiler.analysis.findings.catalogue import known_fix, known_within, words_of_fix
from torch_tb_profiler.analysis.findings.edits import host_skips, thread_time_gone
from torch_tb_profiler.analysis.findings.gaps import SHORT_GAP
from torch_tb_profiler.analysis.findings.rule import (
    HOST,
    Candidate,
    Claims,
    Pieces,
    Question,
    RuleContext,
)
from torch_tb_profiler.analysis.reasons.dispatch import PRODUCTS
from torch_tb_profiler.analysis.reasons.places import Places
from torch_tb_profiler.analysis.reasons.uses import DRAWS
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask, unique_values
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.python_frames import function_name
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.units import format_names

LEAST = 0.05
"""Share of the steps from which on a function is worth a word."""
MUCH = 1 / 3
"""Share of the steps from which on housekeeping is likely more than it needs to be."""
NO_NAME = regex(r"\): <(?:listcomp|genexpr|dictcomp|setcomp|lambda)>$")
"""Functions within another that has a name."""
MOST = 0.5
"""Share of a call that one callee must hold to stand for it."""
_LOOP = 1000
"""Calls of one function per step from which on a Python loop makes them."""
_NOTHING = PathCause.NOT_RECORDED
_SEE = """Record with torch_tb_profiler.record, or with_stack=True, to see the line of Python: files, logging, garbage collection, \
sleeping and loops in Python call no operator."""
_MOST_FOUND, _MOST_NAMES = 3, 6
_FORWARD = -2
"""Stands for the name of the operators of a forward pass."""
_READS, _MAKES = ("aten::resolve_neg", "aten::resolve_conj"), "aten::lift_fresh"
"""What ``numpy()`` and ``tolist()`` call last, and what a tensor of values goes through."""
_MAKING = 4
"""Operators of ``torch.tensor``, the last one of them aside."""


def _claim(context: RuleContext) -> Claims:
    python = context.spans["role"] == Role.PYTHON
    found = _without_frames(context)
    if python.any():
        own = (context.rank == OWN) & ~spans_named(context.trace, python, NO_NAME.search)
        found += [*_beside(context, own), *_within(context, own), *_aside(context, own)]
    least = LEAST * context.windows.length / len(context.steps)
    found = [one for one in found if one.numbers["taken"] >= least]
    return sorted(found, key=lambda one: -one.numbers["taken"])[:_MOST_FOUND]


def _largest(
    context: RuleContext, pieces: Pieces, columns: Sequence[Array]
) -> Iterator[tuple[Mask, int]]:
    """Of pieces that are alike in some columns those that take most, and the time of each, ns."""
    first, group = group_rows(columns)
    total = sum_by(group, len(first), pieces.end - pieces.start)
    for one in np.argsort(-total, kind="stable")[:_MOST_FOUND].tolist():
        if total[one] >= LEAST * context.windows.length:
            yield group == one, int(total[one])


def _without_frames(context: RuleContext) -> list[Candidate]:
    """Of a host's program, operators that train nothing where no frames tell who calls them, and the time in which nothing was recorded."""
    if context.has_device or context.main_track < 0:
        return []
    name, training = context.spans["name"], context.training
    pieces = _quiet(context)
    # What was recorded last before nothing was tells it apart.
    kind, label = np.full(len(pieces.row), -1, np.int64), picked(name, pieces.row).astype(np.int64)
    if not context.facts.summary.has_stacks and len(training.differentiated):
        tops = training.housekeeping & np.append(training.loop, True)[context.parent]
        tops &= context.names.step[name] < 0
        event = context.on_path(*HOST)
        called = context.lifted(
            event.take(context.spans["track"][event.row] == context.main_track), tops
        )
        pieces += called
        own = np.where(_forwards(context, called.row), _FORWARD, name[called.row])
        kind, label = np.append(kind, own), np.append(label, np.full(len(own), -1))
    return [
        _part(context, pieces.take(mine), int(kind[mine][0]))
        for mine, _ in _largest(context, pieces, (kind, label))
    ]


def _forwards(context: RuleContext, called: Ints) -> Mask:
    """Which of some operators that train nothing are those of a forward pass: called as in the one that is differentiated, in a stretch with a
    product.
    """
    spans, training = context.spans, context.training
    own = context.home(training.differentiated, context.outermost(context.operators))
    forward = np.isin(spans["name"][called], spans["name"][own[own >= 0]])
    trains = context.on_main(np.flatnonzero(training.own))
    stretch = np.searchsorted(spans["start"][trains], spans["start"][called])
    products = forward & context.named(called, PRODUCTS.match)
    return np.asarray(forward & np.isin(stretch, stretch[products]))


def _quiet(context: RuleContext) -> Pieces:
    """When nothing was recorded of the program's thread on the critical path, no other thread worked, and it is not the usual time from one
    operator of a pass to the next; rows of the calls that ended last before it, −1 none.
    """
    names, training, path = context.names, context.training, context.insight["critical_path"]
    name, event = context.spans["name"], path["event"].astype(np.int64)
    marks = np.append(names.step[name] >= 0, np.False_)[event]
    silent = np.isin(path["step"], context.steps) & np.isin(path["cause"], (*HOST, _NOTHING))
    silent &= marks | ((event < 0) & (path["cause"] == _NOTHING))
    others = context.calls[context.spans["track"][context.calls] != context.main_track]
    busy = context.when(unique_values(context.collectives, others))
    quiet = subtract(union(path["start"][silent], path["end"][silent]), busy)
    quiet = intersect(quiet, context.windows)
    edges = context.neighbours(quiet.start, quiet.end)
    backward, region = (
        [np.append(mask, np.False_)[row] for row in edges]
        for mask in (training.backward, names.region[name])
    )
    same = (edges[0] >= 0) & (edges[1] >= 0) & ~region[0] & ~region[1]
    kept = ~(same & (backward[0] == backward[1])) | (quiet.end - quiet.start > SHORT_GAP)
    return Pieces(edges[0].astype(np.int64), quiet.start, quiet.end).take(kept)


def _part(context: RuleContext, pieces: Pieces, kind: int) -> Candidate:
    """What is said of a part of the steps that no frame tells of: of a name, of a forward pass, or of time without a record (−1)."""
    silent, row, start = kind == -1, pieces.row, pieces.start
    table, steps, time = context.facts["steps"], context.steps, pieces.time
    begin, until = table["start"][steps], table["end"][steps]
    present = measure(time, begin, until) > LEAST * (until - begin)
    # What comes now and then, by no other calls and at no regular distance, may be a machine that was busy with something else.
    hits, every = np.flatnonzero(present), len(judged_steps(context.facts))
    regular = len(hits) > 2 and len(unique_values(np.diff(steps[hits]))) == 1
    often = len(hits) > 1 and (not silent or regular or 2 * len(hits) >= every)
    often |= every == 1
    much = often and time.length >= MUCH * (until - begin)[present].sum()
    text = function_name(context.name_of(row[0])) if row[0] >= 0 else ""
    much &= silent or not (
        DRAWS.search(text) or (kind == _FORWARD and len(present) == present.sum())
    )
    fix = known_fix(text) if kind >= 0 else None
    words = {"what": text, **words_of_fix(fix)}
    if kind == _FORWARD:
        names = dict.fromkeys(context.name_of(one) for one in unique_values(row)[:_MOST_NAMES])
        words["what"] = "a forward pass without gradients"
        words["kind"] = f"evaluation, or the model called again: {', '.join(names)}"
    if silent:
        when = f"in {in_how_many(len(hits), every).removeprefix('in ')}"
        when = "in the recording" if context.is_whole else "once" if len(start) == 1 else when
        text = "the backward pass" if row[0] >= 0 and context.training.backward[row[0]] else text
        comes = f"It comes {_between(context, pieces, text)}, {when}"
        row = context.shown(row, np.searchsorted(table["start"], start, side="right") - 1)
        words = {"what": "time without a record", "nothing": "yes", "attempt": _SEE}
        words["why"] = f"{comes}; with_stack=True shows its line."
    numbers = {"taken": time.length / len(steps), "in_steps": int(present.sum())}
    return Candidate(
        Pieces(row, start, pieces.end).take(row >= 0),
        numbers | {"of_steps": len(steps)},
        words,
        certainty="likely" if much else "theoretical",
        edit=thread_time_gone(np.full(len(start), context.main_track), start, pieces.end),
    )


def _between(context: RuleContext, pieces: Pieces, text: str) -> str:
    """What was recorded around the longest of some stretches without a record, ``text`` before it."""
    longest = pieces.take(np.argsort(pieces.start - pieces.end, kind="stable")[:1])
    before, after = longest.row[0], context.neighbours(longest.start, longest.end)[1][0]
    if before >= 0 and context.name_of(before) in _READS:
        text = "a tensor's values were read (numpy(), tolist())"
    said = f"after {text}" if text else "first"
    if after < 0:
        return said
    calls = context.on_main(context.operators)
    at = int(np.searchsorted(calls, after))
    made = context.named(calls[at : at + _MAKING], _MAKES.__eq__).any()
    then = "a tensor is made of Python's values" if made else function_name(context.name_of(after))
    return f"{said} and before {then}"


def _beside(context: RuleContext, own: Mask) -> list[Candidate]:
    """Of what the loop calls besides training, the places that take most; nothing of a device's program that trains nothing: it may serve."""
    if context.has_device and not context.training.backward.any():
        return []
    other, event = context.training.housekeeping, context.on_path(*HOST)
    event = event.take(other[event.row])
    places = Places.made(context.parent, context.spans["name"], other)
    total = places.within(event.row, event.end - event.start)
    found = []
    python = context.spans["role"][places.span] == Role.PYTHON
    tops = np.flatnonzero((places.parent < 0) & (total >= LEAST * context.windows.length))
    tops = tops[np.argsort(-total[tops], kind="stable")]
    # Of a program that trains nothing what comes first may be the work itself.
    more = tops[1:][python[tops[1:]] & context.training.own.any()]
    for top in [*tops[:1].tolist(), *more.tolist()][:_MOST_FOUND]:
        chain = places.chain(top, total, MOST)
        chain = chain[: 1 + int(np.argmin(np.append(python[chain[1:]], False)))]
        mine = [at for at, place in enumerate(chain) if own[places.span[place]]]
        last = mine[-1] if mine else 0
        inside = places.beneath(chain[last])[places.of[event.row]]
        callee = chain[last + 1] if mine and last + 1 < len(chain) else -1
        row = np.flatnonzero(places.of == chain[last])
        if not mine:
            # What a library wraps, such as by a decorator, tells more than the wrapper.
            wrapped = context.outermost(np.flatnonzero(own & context.beneath(row)))
            if context.when(wrapped).length >= MOST * total[top]:
                row = wrapped
        called = context.lifted(event.take(inside), context.mask(row))
        found.append(_called(context, called, int(picked(places.name, np.array([callee]))[0])))
    return found


def _called(context: RuleContext, call: Pieces, callee: int = -1, kind: str = "") -> Candidate:
    """What is said of a function that the program calls."""
    row, taken, steps = unique_values(call.row), call.total, len(context.steps)
    inside = context.beneath(row)
    took = known_within(context, np.flatnonzero(inside & (context.spans["role"] == Role.PYTHON)))
    fix = max(took, key=lambda fix: took[fix], default=None)
    fix = fix if fix is not None and took[fix] >= MOST * taken else None
    table = context.facts["steps"]["start"][context.steps]
    seen = len(unique_values(np.searchsorted(table, call.start, side="right")))
    # Asked of the steps that have it alone, the others tell.
    every = len(judged_steps(context.facts))
    # Modules whose results are not differentiated take most of it.
    evaluates = context.runs_modules(row)
    first, group = group_rows((context.spans["name"][call.row],))
    first = call.row[first[sum_by(group, len(first), call.end - call.start) >= LEAST * taken]]
    named = dict.fromkeys(function_name(context.name_of(one)) for one in np.sort(first))
    name = format_names(list(named))
    what = f"calling {name}"
    if evaluates:
        what = f"{'evaluation' if seen < every else 'running modules without a backward pass'} in {name}"
    often, rounds = _python_loop(context, row)
    much = taken >= MUCH * context.windows.length and (not evaluates or seen < every)
    # Random numbers that the loop itself draws are its input.
    much = (much or bool(often)) and not DRAWS.search(name) and bool(context.training.own.any())
    numbers = {"taken": taken / steps, "calls": context.per_step(row), "rounds": rounds}
    words = {"what": what, "kind": what if evaluates else kind, "callee": "", "often": often}
    if fix:
        words |= {"what": fix.what, "kind": fix.what}
    elif callee >= 0:
        words["callee"] = function_name(context.trace.strings[callee])
    return Candidate(
        call,
        numbers | {"in_steps": seen, "of_steps": steps},
        words | words_of_fix(fix),
        certainty=fix.certainty if fix else "likely" if much else "theoretical",
        edit=host_skips(row),
    )


def _within(context: RuleContext, own: Mask) -> Iterator[Candidate]:
    """The functions that run Python within the model, its backward pass or optimizer."""
    event, rank, steps = context.on_path(PathCause.PYTHON), context.rank, len(context.steps)
    nearest_line = climb(context.parent, event.row, rank >= 1)
    mine = (nearest_line >= 0) & (rank[nearest_line] == OWN) & context.training.inside[event.row]
    pieces = context.lifted(event.take(mine), own)
    # The loop itself is no place.
    pieces = pieces.take(~context.training.loop[pieces.row])
    for best, total in _largest(context, pieces, (context.spans["name"][pieces.row],)):
        function = pieces.take(best)
        row = unique_values(function.row)
        often, rounds = _python_loop(context, row)
        numbers = {"taken": total / steps, "calls": context.per_step(row), "rounds": rounds}
        numbers |= {"frames": int(best.sum()) / steps, "in_steps": steps, "of_steps": steps}
        what = f"Python in {function_name(context.name_of(row[0]))}"
        much = often or total >= MUCH * context.windows.length
        yield Candidate(
            function,
            numbers,
            {"what": what, "kind": "", "often": often},
            certainty="likely" if much else "theoretical",
            edit=context.time_gone(function),
        )


def _aside(context: RuleContext, own: Mask) -> Iterator[Candidate]:
    """The user's functions within model and backward in which nothing is differentiated, and what of libraries they call so: hooks, checks,
    statistics, printing.
    """
    training, rank = context.training, context.rank
    if not len(training.differentiated):
        return
    works = context.mask(training.differentiated)
    works |= context.mask(training.modules) | training.backward | training.loop
    holds = with_ancestors(context.parent, works)
    updates = context.rows_named(context.calls, lambda name: name.startswith("Optimizer."))
    within = training.inside & ~context.beneath(updates)
    called = (rank >= 1) & (rank != OWN) & np.append(own & ~training.loop, False)[context.parent]
    frame = np.flatnonzero((own | called) & within & ~holds)
    pieces = context.lifted(context.on_path(*HOST), context.mask(context.outermost(frame)))
    for mine, _ in _largest(context, pieces, (context.spans["name"][pieces.row],)):
        kind = "part of model or backward, and nothing in it is differentiated"
        yield _called(context, pieces.take(mine), kind=kind)


def _python_loop(context: RuleContext, row: Ints) -> tuple[str, float]:
    """The function that Python calls most often within some calls, and how often per step; ``("", 0)`` where no loop does."""
    within = context.beneath(row)
    within[row] = False
    inner = context.spans["name"][within & (context.spans["role"] == Role.PYTHON)]
    each, count = np.unique(inner, return_counts=True)
    often = count.max(initial=0) / len(context.steps)
    if often < _LOOP:
        return "", 0.0
    return function_name(context.trace.strings[int(each[count.argmax()])]), float(often)


QUESTION = Question(__name__)
QUESTION.state("own_code", 290, _claim, certainty="likely")
