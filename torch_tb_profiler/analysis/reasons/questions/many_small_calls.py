"""Many calls that each do little: rounds of a Python loop, over time steps, bands, heads, parameters or samples, each of which costs about
what calling costs.

::

    main   [select][linear][tanh][select][linear][tanh][select]…[stack]        [Select…][Tanh…][Addmm…]…
           └─ round ──────────┘└─ round ───────────┘                           └ backward, by number ┘

Evidence: calls that recur, by name and module instance, within ``RECENT`` calls, one after the other, in ``ROUNDS`` rounds or more; not in
an optimizer. Layers recur as well, so rounds with products are a loop only where one module is called again and again, an element
is taken out of a tensor in each round, no round makes a tensor of a shape that a product of another reads (modules side by side), or the
backward pass has far more products than gradients to accumulate; few rounds only where they follow each other exactly, or where there are as
many as parameters, after the last gradient. Half of the time or more is the cost of calls and
of Python between them (``dispatch.py``). Change: the cost of one round and the work of all remain (over parameters: of one pass over the
tensors); sums of gradients over the rounds, and zeros around the part that each took, go. Likely. Wrong where a round needs the
result of the one before and no single call does the same.
"""

from __future__ import annotations

import math
import re

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import costliest, group_rows
from torch_tb_profiler.analysis.arrays.nesting import climb
from torch_tb_profiler.analysis.facts.host_names import EVALUATE
from torch_tb_profiler.analysis.findings.edits import stretches_take, together, work_scaled
from torch_tb_profiler.analysis.findings.rule import (
    Candidate,
    Claims,
    Pieces,
    Question,
    Reach,
    RuleContext,
)
from torch_tb_profiler.analysis.reasons.calls import Calls, calls_of
from torch_tb_profiler.analysis.reasons.dispatch import PRODUCTS, CallWork
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, Mask, unique_values

ROUNDS, MANY_ROUNDS = 8, 16
"""Rounds from which on calls may be a loop, and from which on they need not follow each other exactly."""
UNKNOWN_ROUNDS = 40
"""Rounds that take an element each, from which on they are a loop though modules are unknown: hardly a network has so many layers."""
ROUND, UNKNOWN_ROUND = 8, 16
"""Most calls of such a round; where modules are unknown."""
RECENT = 32
"""Calls among which one must occur again."""
EXACT = 0.8
"""Share of the calls that are as one round before, where rounds follow each other exactly."""
SHARED = 4
"""Products for each weight, calls for each module, from which on they share it."""
MANY = 32
"""Calls per step."""
SMALL, BRIEF = 100_000, 10_000
"""ns; the median beyond which calls are not what a loop costs; kernels up to this long are mostly start and end."""
NEAR = 8
"""Time between two calls ÷ the median of such times, from which on something else is done there."""
WORK = 0.5
"""Share of a loop's time that work may take."""
_MOST_FOUND = 3
_TAKES = regex(r"aten::(?:select|slice|narrow|item|_local_scalar_dense|index|index_select|unbind)$")
_ENGINES = regex(r"torch\.(?:distributed|autograd)|torch::|aten::as_strided$")
"""Calls that the program does not make itself: backward functions and their hooks."""
_PRODUCT_BACKWARD = regex(
    re.escape(EVALUATE) + r"(?:Addmm|Mm|Bmm|Baddbmm|Mv|\w*Conv\w*|Embedding|Native\w*Norm)Backward"
)
_TAKE_BACKWARD = regex(
    re.escape(EVALUATE)
    + r"(?:Select|Slice|Unbind|Narrow|Index|IndexSelect|Split|Stack|Cat)\w*Backward"
)
_ACCUMULATE = regex(rf"(?:{re.escape(EVALUATE)})?torch::autograd::AccumulateGrad$")


_MOVES = {
    f"aten::{name}": tensors
    for tensors, names in (
        (1, "zero_ norm linalg_vector_norm"),
        (2, "mul mul_ div div_ sqrt sqrt_ square pow neg abs sign clamp clamp_ clone copy_ exp"),
        (3, "add add_ sub sub_ lerp lerp_ maximum minimum"),
        (4, "addcmul addcmul_ addcdiv addcdiv_"),
    )
    for name in names.split()
}
"""Elementwise operators → how many tensors they read and write."""
_ONE_PASS, _OF_MOMENTS = 3, 7
"""Tensors that one pass over parameters reads and writes: of an average or a step; of Adam with its two moments."""


class _Loop(msgspec.Struct, frozen=True):
    """Positions of its calls, ascending; rounds; the place where it is: a line, or the name that is called most. left: of their work, the share that
    one pass over the parameters needs; NaN where the loop does not go over these.
    """

    chosen: Ints
    rounds: int
    place: int
    left: float


def _claim(context: RuleContext) -> Claims:
    calls = calls_of(context)
    if len(calls.row) < MANY:
        return None
    places: dict[int, list[_Loop]] = {}
    for loop in _loops(context, calls):
        places.setdefault(loop.place, []).append(loop)
    if not places:
        return None
    work = CallWork.of(context)
    found = [_found(context, calls, work, loops) for loops in places.values()]
    kept = [one for one in found if one is not None]
    return sorted(kept, key=lambda one: -one.numbers["taken"])[:_MOST_FOUND]


def _loops(context: RuleContext, calls: Calls) -> list[_Loop]:
    """The stretches of calls that are loops."""
    spans, n = context.spans, len(calls.row)
    module = context.home(calls.row, context.training.modules)
    takes = context.named(calls.row, _TAKES.match)
    # What goes over the elements of a tensor may call another module for each, and so may what calls modules side by side.
    each = np.bincount(module[takes & (module >= 0)], minlength=spans.n)
    apart = np.flatnonzero(_is_apart(context, calls) & (module >= 0))
    around = context.home(context.parent[module[apart]], context.training.modules)
    each += np.bincount(around[around >= 0], minlength=spans.n)
    over = climb(context.parent, calls.row.astype(np.int64), each >= ROUNDS)
    holder = np.where(over >= 0, over, module)
    _, key = group_rows((calls.name, np.append(spans["name"], -1)[holder]))
    order = np.argsort(key, kind="stable")
    near = np.zeros(n + 1, np.bool_)
    near[1:-1] = (np.diff(key[order]) == 0) & (np.diff(order) <= RECENT)
    again = np.zeros(n, np.bool_)
    again[order] = near[:-1] | near[1:]
    again &= ~context.named(calls.row, _ENGINES.match)
    new = np.ones(n, np.bool_)
    new[1:] = (calls.step[1:] != calls.step[:-1]) | ~again[:-1] | ~again[1:]
    first = np.flatnonzero(new)
    parameters, after = _parameters(context, calls)
    known: dict[bytes, tuple[int, bool, Ints, Ints]] = {}
    found = []
    for a, b in zip(first.tolist(), np.append(first[1:], n).tolist(), strict=True):
        if b - a < 2 * ROUNDS or not again[a]:
            continue
        own = key[a:b]
        if (text := own.tobytes()) not in known:
            _, kind, count = np.unique(own, return_inverse=True, return_counts=True)
            rounds = int(np.median(count))
            exact = rounds >= MANY_ROUNDS or (rounds >= ROUNDS and _exact(own, rounds))
            # What stands beside a loop is none of its rounds.
            beside = 2 * count < rounds
            known[text] = rounds, exact, np.flatnonzero(~beside[kind]), count[~beside]
        rounds, exact, inside, count = known[text]
        chosen, left = a + inside, math.nan
        if parameters >= ROUNDS and after[a] and not (count % parameters).any():
            left = _one_pass(context, calls.row[chosen])
        elif not exact:
            continue
        if _is_loop(context, calls, chosen, rounds, module[chosen], int(takes[chosen].sum())):
            cost = np.maximum(calls.cost[chosen], 1)
            line, _ = costliest(calls.line[chosen], cost)
            name, _ = costliest(calls.name[chosen], np.ones(len(chosen), np.int64))
            at = int(calls.line[chosen[line][0]])
            place = at if at >= 0 else -2 - int(calls.name[chosen[name][0]])
            found.append(_Loop(chosen, rounds, place, left))
    return found


def _is_apart(context: RuleContext, calls: Calls) -> Mask:
    """Which products make no tensor of a shape that they read, as none of a row of equal layers could."""
    apart = [use is not None and use.makes not in (None, *use.reads[:1]) for use in calls.uses]
    mine = context.named(calls.row, PRODUCTS.match)
    return mine & np.array(apart, np.bool_)[calls.kind] if apart else np.zeros_like(mine)


def _parameters(context: RuleContext, calls: Calls) -> tuple[int, Mask]:
    """How many gradients are accumulated in a step, and which calls come after the last of theirs."""
    row = context.within(context.rows_named(context.operators, _ACCUMULATE.match))
    row, last = context.outermost(row), context.last_begin(context.outermost(row))
    after = context.spans["start"][calls.row] >= last[calls.step]
    return round(len(row) / len(context.steps)), after


def _one_pass(context: RuleContext, row: Ints) -> float:
    """Of what some calls move, the share that one pass moves; 1 where that is not known of most of their time."""
    spans, strings = context.spans, context.trace.strings
    each, kind, count = np.unique(spans["name"][row], return_inverse=True, return_counts=True)
    names = [strings[int(name)] for name in each]
    moves = np.array([_MOVES.get(name, 0) for name in names])
    time = spans["dur"][row]
    if 2 * time[moves[kind] > 0].sum() <= time.sum():
        return 1.0
    needed = _OF_MOMENTS if any("sqrt" in name for name in names) else _ONE_PASS
    return min(needed * int(count[moves > 0].min()) / int((moves * count).sum()), 1.0)


def _exact(key: Ints, rounds: int) -> bool:
    """Whether calls are as those one round before."""
    about = round(len(key) / rounds)
    return any(
        float((key[size:] == key[:-size]).mean()) >= EXACT
        for size in range(max(about - 1, 1), min(about + 2, len(key)))
    )


def _is_loop(
    context: RuleContext, calls: Calls, chosen: Ints, rounds: int, module: Ints, takes: int
) -> bool:
    """Whether some calls go round a loop, and are no layers of a network."""
    products = context.named(calls.row[chosen], PRODUCTS.match)
    if products.sum() < rounds / 2:
        return True
    frames = unique_values(module[products])
    known = bool((frames >= 0).all())
    if known and len(frames) >= SHARED * len(unique_values(context.spans["name"][frames])):
        return True
    least, most = (ROUNDS, ROUND) if known else (UNKNOWN_ROUNDS, UNKNOWN_ROUND)
    if takes >= rounds >= least and len(chosen) <= most * rounds:
        return True
    if known and len(chosen) <= ROUND * rounds and _side_by_side(calls, chosen, products):
        return True
    functions = calls.function[np.isin(calls.of, chosen[products])]
    again = int(context.named(functions, _PRODUCT_BACKWARD.match).sum())
    accumulated = context.per_step(context.rows_named(context.operators, _ACCUMULATE.match))
    return bool(accumulated and again >= SHARED * accumulated)


def _side_by_side(calls: Calls, chosen: Ints, products: Mask) -> bool:
    """Whether no product of some calls reads a tensor of a shape that one of these makes, as layers do."""
    if not calls.uses:
        return False
    uses = [calls.uses[kind] for kind in unique_values(calls.kind[chosen]).tolist()]
    mine = [calls.uses[kind] for kind in unique_values(calls.kind[chosen[products]]).tolist()]
    made = {use.makes if use else None for use in uses}
    return None not in made and made.isdisjoint(
        read for use in mine if use for read in use.reads[:1]
    )


def _found(
    context: RuleContext, calls: Calls, work: CallWork, loops: list[_Loop]
) -> Candidate | None:
    """What is said of the loops at one place."""
    spans, steps = context.spans, len(context.steps)
    chosen = np.concatenate([loop.chosen for loop in loops])
    size = [len(loop.chosen) for loop in loops]
    stretch, rounds = np.repeat(np.arange(len(loops)), size), [loop.rounds for loop in loops]
    row = calls.row[chosen]
    length, left = spans["dur"][row], np.array([loop.left for loop in loops])
    over_parameters = not np.isnan(left).any()
    if len(row) < MANY * steps or (np.median(length) > SMALL and not over_parameters):
        return None
    start, end = _with_pauses(context, row, stretch)
    mine = np.isin(calls.of, chosen)
    function = calls.function[mine]
    of = stretch[np.searchsorted(chosen, calls.of[mine])]
    begin, until = context.backward_calls.begins(function), context.times(function)[1]
    track = spans["track"][np.concatenate((row, function))]
    started, ended = np.concatenate((start, begin)), np.concatenate((end, until))
    time = ended - started
    does = np.minimum(work.inside(track, started, ended), time)
    does[len(row) :][context.named(function, _TAKE_BACKWARD.match)] = 0
    home = np.concatenate((stretch, of))
    does = does * np.nan_to_num(left, nan=1.0)[home]
    remains = does + (time - does) / np.array(rounds)[home]
    # Where work takes more than the calls, they are not small.
    if does.sum() > WORK * time.sum():
        return None
    edit = stretches_take(track, started, ended, remains / np.maximum(time, 1))
    if context.has_device:
        within = context.launched_during(track, started, ended)
        brief = context.work.take(within & (context.work.lengths <= BRIEF))
        edit = together(edit, work_scaled(brief.row, 1 / float(np.median(rounds))))
    same, _ = costliest(calls.name[chosen], length)
    numbers = {
        "taken": int(time.sum()) / steps,
        "operators": len(row) / steps,
        "calls": int(same.sum()) / steps,
        "each": float(np.median(length[same])),
        "rounds": float(np.median(rounds)),
        "backward": int(time[len(row) :].sum()) / steps,
    }
    words = {"operator": calls.text(chosen[same][0]), "what": "small operators"}
    if over_parameters:
        words |= {"what": "operators over the parameters", "parameters": "yes"}
        words["attempt"] = " ".join(_FOREACH.split())
    return Candidate(Pieces(row, start, end), numbers, words, edit=edit)


def _with_pauses(context: RuleContext, row: Ints, stretch: Ints) -> tuple[Ints, Ints]:
    """Begin of each call, and that of the next one of its stretch: what Python does between counts, but not what takes far longer."""
    start, end = context.times(row)
    pause = start[1:] - end[:-1]
    counts = (stretch[1:] == stretch[:-1]) & (pause > 0)
    pitch = np.median((start[1:] - start[:-1])[counts]) if counts.any() else 0
    counts &= pause <= NEAR * pitch
    end[:-1][counts] = start[1:][counts]
    return start, end


_FOREACH = """Call torch._foreach_* with the list of all tensors, in place: torch._foreach_lerp_(average, weights, 1 - decay) for a
moving average (or torch.optim.swa_utils.AveragedModel), clip_grad_norm_(..., foreach=True), an optimizer of torch.optim with fused=True."""
QUESTION = Question(__name__)
QUESTION.state("many_small_calls", 92, _claim, certainty="likely", reach=Reach(0.7, 1.6))
