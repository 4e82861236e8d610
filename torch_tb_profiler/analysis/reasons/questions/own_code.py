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

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import costliest, group_rows, picked, sum_by
from torch_tb_profiler.analysis.arrays.intervals import intersect, measure, subtract, union
from torch_tb_profiler.analysis.arrays.nesting import climb, with_ancestors
from torch_tb_profiler.analysis.critical_path.verdict_texts import in_how_many
from torch_tb_profiler.analysis.facts.host_names import name_mask
from torch_tb_profiler.analysis.figures.selection import judged_steps
from torch_tb_profiler.analysis.figures.source_lines import OWN
from torch_tb_profiler.analysis.findings.catalogue import Fix, known_fix, known_within
from torch_tb_profiler.analysis.findings.edits import host_skips, thread_time_gone
from torch_tb_profiler.analysis.findings.gaps import SHORT_GAP
from torch_tb_profiler.analysis.findings.rule import HOST, Candidate, Claims, Question, RuleContext
from torch_tb_profiler.analysis.reasons.dispatch import PRODUCTS
from torch_tb_profiler.analysis.reasons.places import Places
from torch_tb_profiler.analysis.reasons.uses import DRAWS
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, Mask, unique_values
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
    spans = context.spans
    python = spans["role"] == Role.PYTHON
    found = _without_frames(context)
    if python.any():
        unnamed = name_mask(context.trace.strings, spans["name"][python], NO_NAME.search)
        own = (context.rank == OWN) & ~unnamed[spans["name"]]
        found += [*_beside(context, own), *_within(context, own), *_aside(context, own)]
    least = LEAST * context.windows.length / len(context.steps)
    found = [one for one in found if one.numbers["taken"] >= least]
    return sorted(found, key=lambda one: -one.numbers["taken"])[:_MOST_FOUND]


def _without_frames(context: RuleContext) -> list[Candidate]:
    """Of a host's program, operators that train nothing where no frames tell who calls them, and the time in which nothing was recorded."""
    if context.has_device or context.main_track < 0:
        return []
    start, end, before = _quiet(context)
    kind = np.full(len(start), -1, np.int64)
    called = np.zeros(0, np.int64)
    if not context.facts.summary.has_stacks and len(context.training.differentiated):
        event, begin, until = context.on_path(*HOST)
        training = context.training
        tops = training.housekeeping & np.append(training.loop, True)[context.parent]
        tops &= context.names.step[context.spans["name"]] < 0
        top = climb(context.parent, event, tops).astype(np.int64)
        own = (top >= 0) & (context.spans["track"][event] == context.main_track)
        called, begin, until = top[own], begin[own], until[own]
        start, end = np.concatenate((start, begin)), np.concatenate((end, until))
        kind = np.append(kind, context.spans["name"][called])
    forwards = _forwards(context, called)
    # What was recorded last before nothing was tells it apart.
    after = picked(context.spans["name"], before).astype(np.int64)
    row, label = np.append(before, called), np.append(after, np.full(len(called), -1))
    kind[len(before) :][forwards] = _FORWARD
    first, group = group_rows((kind, label))
    total = sum_by(group, len(first), end - start)
    order = np.argsort(-total, kind="stable")[:_MOST_FOUND]
    chosen = [
        group == one for one in order.tolist() if total[one] >= LEAST * context.windows.length
    ]
    return [
        _part(context, row[mine], start[mine], end[mine], int(kind[mine][0])) for mine in chosen
    ]


def _forwards(context: RuleContext, called: Ints) -> Mask:
    """Which of some operators that train nothing are those of a forward pass: called as in the one that is differentiated, in a stretch with a
    product.
    """
    if not len(called):
        return np.zeros(0, np.bool_)
    spans, training = context.spans, context.training
    own = context.home(training.differentiated, context.outermost(context.operators))
    forward = np.isin(spans["name"][called], spans["name"][own[own >= 0]])
    trains = context.on_main(np.flatnonzero(training.own))
    stretch = np.searchsorted(spans["start"][trains], spans["start"][called])
    products = forward & context.named(called, PRODUCTS.match)
    return np.asarray(forward & np.isin(stretch, stretch[products]))


def _quiet(context: RuleContext) -> tuple[Ints, Ints, Ints]:
    """When nothing was recorded of the program's thread on the critical path, no other thread worked, and it is not the usual time from one
    operator of a pass to the next: ``(start, end, before)``, ``before``: the call that ended last, −1 none.
    """
    spans, training, path = (
        context.spans,
        context.training,
        context.insight["critical_path"],
    )
    event = path["event"].astype(np.int64)
    marks = np.append(context.names.step[spans["name"]] >= 0, np.False_)[event]
    silent = np.isin(path["step"], context.steps) & np.isin(path["cause"], (*HOST, _NOTHING))
    silent &= marks | ((event < 0) & (path["cause"] == _NOTHING))
    others = context.calls[spans["track"][context.calls] != context.main_track]
    busy = context.when(unique_values(context.collectives, others))
    quiet = subtract(union(path["start"][silent], path["end"][silent]), busy)
    quiet = intersect(quiet, context.windows)
    edges = context.neighbours(quiet.start, quiet.end)
    backward, region = (
        [np.append(mask, np.False_)[row] for row in edges]
        for mask in (training.backward, context.names.region[spans["name"]])
    )
    same = (edges[0] >= 0) & (edges[1] >= 0) & ~region[0] & ~region[1]
    kept = ~(same & (backward[0] == backward[1])) | (quiet.end - quiet.start > SHORT_GAP)
    return quiet.start[kept], quiet.end[kept], edges[0][kept].astype(np.int64)


def _part(context: RuleContext, row: Ints, start: Ints, end: Ints, kind: int) -> Candidate:
    """What is said of a part of the steps that no frame tells of: of a name, of a forward pass, or of time without a record (−1)."""
    silent = kind == -1
    table, steps = context.facts["steps"], context.steps
    time = union(start, end)
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
    words = {"what": text, "attempt": fix.attempt if fix else ""}
    words["source"] = "\n".join(fix.source) if fix else ""
    if kind == _FORWARD:
        names = dict.fromkeys(context.name_of(one) for one in unique_values(row)[:_MOST_NAMES])
        words["what"] = "a forward pass without gradients"
        words["kind"] = f"evaluation, or the model called again: {', '.join(names)}"
    if silent:
        when = f"in {in_how_many(len(hits), every).removeprefix('in ')}"
        when = "in the recording" if context.is_whole else "once" if len(start) == 1 else when
        text = "the backward pass" if row[0] >= 0 and context.training.backward[row[0]] else text
        comes = f"It comes {_between(context, row, start, end, text)}, {when}"
        row = context.shown(row, np.searchsorted(table["start"], start, side="right") - 1)
        words = {"what": "time without a record", "nothing": "yes", "attempt": _SEE}
        words["why"] = f"{comes}; with_stack=True shows its line."
    seen = row >= 0
    return Candidate(
        row[seen],
        start[seen],
        end[seen],
        {"taken": time.length / len(steps), "in_steps": int(present.sum()), "of_steps": len(steps)},
        words,
        certainty="likely" if much else "theoretical",
        edit=thread_time_gone(np.full(len(start), context.main_track), start, end),
    )


def _between(context: RuleContext, before: Ints, start: Ints, end: Ints, text: str) -> str:
    """What was recorded around the longest of some stretches without a record, ``text`` before it."""
    longest = int(np.argmax(end - start))
    _, after = context.neighbours(start[longest : longest + 1], end[longest : longest + 1])
    read = before[longest] >= 0 and context.name_of(int(before[longest])) in _READS
    first = "a tensor's values were read (numpy(), tolist())" if read else text
    said = f"after {first}" if first else "first"
    if after[0] < 0:
        return said
    calls = context.on_main(context.operators)
    at = int(np.searchsorted(calls, after[0]))
    made = context.named(calls[at : at + _MAKING], _MAKES.__eq__).any()
    then = (
        "a tensor is made of Python's values"
        if made
        else function_name(context.name_of(int(after[0])))
    )
    return f"{said} and before {then}"


def _beside(context: RuleContext, own: Mask) -> list[Candidate]:
    """Of what the loop calls besides training, the places that take most; nothing of a device's program that trains nothing: it may serve."""
    if context.has_device and not context.training.backward.any():
        return []
    event, start, end = context.on_path(*HOST)
    other = context.training.housekeeping
    event, start, end = (column[other[event]] for column in (event, start, end))
    places = Places.made(context.parent, context.spans["name"], other)
    total = places.within(event, end - start)
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
        inside = places.beneath(chain[last])[places.of[event]]
        callee = chain[last + 1] if mine and last + 1 < len(chain) else -1
        row = np.flatnonzero(places.of == chain[last])
        if not mine:
            # What a library wraps, such as by a decorator, tells more than the wrapper.
            wrapped = context.outermost(np.flatnonzero(own & context.beneath(row)))
            if context.when(wrapped).length >= MOST * total[top]:
                row = wrapped
        called = climb(context.parent, event[inside], context.mask(row)).astype(np.int64)
        piece = called, start[inside], end[inside]
        found.append(_called(context, *piece, picked(places.name, np.array([callee]))[0]))
    return found


def _called(context: RuleContext, call: Ints, start: Ints, end: Ints, callee: int) -> Candidate:
    """What is said of a function that the loop calls."""
    row, taken, steps = unique_values(call), int((end - start).sum()), len(context.steps)
    fix = _known(context, row, taken)
    table = context.facts["steps"]["start"][context.steps]
    seen = len(unique_values(np.searchsorted(table, start, side="right")))
    # Asked of the steps that have it alone, the others tell.
    every, evaluates = len(judged_steps(context.facts)), _evaluates(context, row)
    first, group = group_rows((context.spans["name"][call],))
    first = call[first[sum_by(group, len(first), end - start) >= LEAST * taken]]
    named = dict.fromkeys(function_name(context.name_of(one)) for one in np.sort(first))
    name = format_names(list(named))
    what = f"calling {name}"
    if evaluates:
        what = f"{'evaluation' if seen < every else 'running modules without gradients'} in {name}"
    often, rounds = _python_loop(context, row)
    much = taken >= MUCH * context.windows.length and (not evaluates or seen < every)
    # Random numbers that the loop itself draws are its input.
    much = (much or bool(often)) and not DRAWS.search(name) and bool(context.training.own.any())
    return Candidate(
        call,
        start,
        end,
        {
            "taken": taken / steps,
            "calls": context.per_step(row),
            "in_steps": seen,
            "of_steps": steps,
            "rounds": rounds,
        },
        {
            "often": often,
            "what": fix.what if fix else what,
            "kind": fix.what if fix else what if evaluates else "",
            "callee": ""
            if fix or callee < 0
            else function_name(context.trace.strings[int(callee)]),
            "attempt": fix.attempt if fix else "",
            "source": "\n".join(fix.source) if fix else "",
        },
        certainty=fix.certainty if fix else "likely" if much else "theoretical",
        edit=host_skips(row),
    )


def _known(context: RuleContext, row: Ints, taken: int) -> Fix | None:
    """The known call of Python that takes most of the time of some calls, ns."""
    inner = np.flatnonzero(context.beneath(row) & (context.spans["role"] == Role.PYTHON))
    took = known_within(context, inner)
    best = max(took, key=lambda fix: took[fix], default=None)
    return best if best is not None and took[best] >= MOST * taken else None


def _evaluates(context: RuleContext, row: Ints) -> bool:
    """Whether modules whose results are not differentiated take most of some calls."""
    modules = context.training.modules
    within = context.beneath(row)[modules]
    took = context.when(modules[within]).length
    return bool(took >= MOST * context.when(row).length)


def _within(context: RuleContext, own: Mask) -> list[Candidate]:
    """The functions that run Python within the model, its backward pass or optimizer."""
    spans = context.spans
    event, start, end = context.on_path(PathCause.PYTHON)
    rank = context.rank
    nearest_line = climb(context.parent, event, rank >= 1)
    mine = (nearest_line >= 0) & (rank[nearest_line] == OWN) & context.training.inside[event]
    event, start, end = event[mine], start[mine], end[mine]
    function = climb(context.parent, event, own).astype(np.int64)
    found: list[Candidate] = []
    # The loop itself is no place.
    left = (function >= 0) & ~context.training.loop[function]
    while len(found) < _MOST_FOUND and left.any():
        name = np.where(left, picked(spans["name"], function), -1)
        best, total = costliest(name, np.where(left, end - start, 0))
        if total < LEAST * context.windows.length:
            break
        left &= ~best
        row = unique_values(function[best])
        often, rounds = _python_loop(context, row)
        what, steps = function_name(context.name_of(row[0])), len(context.steps)
        numbers = {"taken": total / steps, "calls": context.per_step(row), "rounds": rounds}
        numbers |= {"frames": int(best.sum()) / steps, "in_steps": steps, "of_steps": steps}
        words = {"what": f"Python in {what}", "kind": "", "often": often}
        found.append(
            Candidate(
                function[best],
                start[best],
                end[best],
                numbers,
                words,
                certainty="likely"
                if often or total >= MUCH * context.windows.length
                else "theoretical",
                edit=thread_time_gone(spans["track"][function[best]], start[best], end[best]),
            )
        )
    return found


def _aside(context: RuleContext, own: Mask) -> list[Candidate]:
    """The user's functions within model and backward in which nothing is differentiated, and what of libraries they call so: hooks, checks,
    statistics, printing.
    """
    training, parent = context.training, context.parent
    if not len(training.differentiated):
        return []
    spans = context.spans
    works = context.mask(training.differentiated)
    works |= context.mask(training.modules) | training.backward | training.loop
    holds = with_ancestors(parent, works)
    updates = context.rows_named(context.calls, lambda name: name.startswith("Optimizer."))
    within = training.inside & ~context.beneath(updates)
    called = (
        (context.rank >= 1) & (context.rank != OWN) & np.append(own & ~training.loop, False)[parent]
    )
    frame = np.flatnonzero((own | called) & within & ~holds)
    event, start, end = context.on_path(*HOST)
    call = climb(parent, event, context.mask(context.outermost(frame))).astype(np.int64)
    known = call >= 0
    call, start, end = call[known], start[known], end[known]
    names = spans["name"][call]
    found = []
    for name in unique_values(names).tolist():
        mine = names == name
        if int((end - start)[mine].sum()) >= LEAST * context.windows.length:
            one = _called(context, call[mine], start[mine], end[mine], -1)
            words = one.words | {
                "kind": one.words["kind"]
                or "part of model or backward, and nothing in it is differentiated"
            }
            found.append(msgspec.structs.replace(one, words=words))
    return found


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
