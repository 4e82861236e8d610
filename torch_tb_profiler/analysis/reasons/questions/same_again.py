"""Work that is done again: a function or module that gets the same tensors a second time in a step, or makes the same tensors in every step.

::

    step   body(x)   [linear x·W₁ → a][relu a → b]      head
           body(x)   [linear x·W₁ → a][relu a → b]      head        again: x is the only tensor of its shape, W₁ is of the same module
           mask()    [ones → c][tril c → d]                         and in the next step again: nothing in it comes from data

Evidence: values are numbered through a step: a call with the same name, arguments and values, in the same module instance, makes the value
that it made before; a tensor of a shape is the one made last of it, of several made at once each one after the other. A call of a function is
again where all its operators are. A value is
constant where nothing that it is made from is drawn, differentiated or changed by the optimizer, in each step alike. Change: what is again
takes no time, with its backward. Likely; theoretical where a tensor from outside of the step is read (that may be another one), the calls
are of no one forward pass, or random numbers are drawn. Needs shapes; the first part Python frames.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, picked
from torch_tb_profiler.analysis.arrays.nesting import climb
from torch_tb_profiler.analysis.figures.callers import class_of
from torch_tb_profiler.analysis.figures.source_lines import OWN
from torch_tb_profiler.analysis.findings.candidate import THRESHOLD, Certainty
from torch_tb_profiler.analysis.findings.rule import Claims, Question, Reach, RuleContext
from torch_tb_profiler.analysis.reasons.calls import Calls, Part, blocks, calls_of
from torch_tb_profiler.analysis.reasons.uses import DRAWS
from torch_tb_profiler.hardware.results import Shape
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask, unique_values
from torch_tb_profiler.store.python_frames import function_name

MOST_CALLS = 200_000
"""Calls whose values are numbered."""
_STEADY = regex(
    r"aten::(?:arange|ones|zeros|eye|full|linspace|logspace|tril_indices|triu_indices|empty|scalar_tensor)(?:_like)?$"
)
"""Functions that make a tensor of nothing but their arguments."""
_SEVERAL = regex(r"aten::(?:unsafe_)?(?:unbind|chunk|(?:tensor_|[dhv])?split(?:_with_sizes)?)$")
"""Functions that make several tensors of a shape at once, as iterating over one does."""


class _Values(msgspec.Struct, frozen=True):
    """Of each call, bool of shape (calls,): it makes what an earlier one of its step made; nothing from outside the step is in it but weights of
    its module; random numbers are drawn; what it makes is the same in every step, from nothing but numbers.
    """

    again: Mask
    sure: Mask
    drawn: Mask
    constant: Mask
    steady: Mask


def _claim(context: RuleContext) -> Claims:
    calls = calls_of(context)
    if not any(calls.uses):
        return None
    values = _numbered(context, calls, set())
    least = THRESHOLD * context.windows.length
    if max(calls.cost[values.again].sum(), calls.cost[values.constant].sum()) < least:
        return None
    other = unique_values(calls.kind[~values.constant])
    # A tensor from outside of the step may be one that an earlier step made.
    made = {use.makes for use in (calls.uses[kind] for kind in other.tolist()) if use and use.makes}
    values = _numbered(context, calls, made)
    return calls.claims([*_repeated(context, calls, values), *_constant(context, calls, values)])


def _numbered(context: RuleContext, calls: Calls, varies: set[Shape]) -> _Values:
    n, kind = len(calls.row), calls.kind
    module = context.home(calls.row, context.training.modules)
    module = picked(context.spans["name"], module)
    changed = _changed(context)
    varies = changed | varies
    drawn, made, inside, several = _told_by_name(context, calls)
    differs = np.zeros(n, np.bool_)
    differs[calls.of] = True
    still = ~(drawn | differs | inside)
    flags = np.zeros((4, n), np.bool_)
    columns = kind, drawn, made, inside, still, several, module
    # Nothing outlives a step, or what works on other data in it.
    one_pass = np.diff(calls.step, prepend=-1) != 0
    one_pass |= np.diff(_passes(context, calls), prepend=0) != 0

    def look(place: Ints) -> Array:
        return _flags(calls, [column[place] for column in columns], changed, varies)

    for place, own in blocks(np.cumsum(one_pass)[:MOST_CALLS], columns, look):
        flags[:, place] = own
    again, sure, constant, steady = flags
    return _Values(again, sure, drawn, constant, steady)


class _Tensors:
    """Which value each tensor of a shape is: that made last of it; of several made at once, each one that is read in turn."""

    def __init__(self, changed: set[Shape]) -> None:
        self._changed = changed
        self._latest: dict[Shape, int] = {}
        self._count: Counter[Shape] = Counter()
        # The value and the kind of a call whose result is not known, whether it makes several, and what such kinds made.
        self._pending: tuple[int, int, bool] | None = None
        self._made: dict[int, Shape] = {}
        # Of several tensors of a shape how many were read, and a value of each.
        self._parts: dict[Shape, int] = {}
        self._part: dict[tuple[int, int], int] = {}

    def read(self, shapes: Sequence[Shape]) -> list[int]:
        """The values, −1 of those from outside, below of parts."""
        for shape in shapes if self._pending else ():
            # A shape that nothing made is the result of the call before whose result is not known, if there is one.
            if self._pending and shape not in self._latest and shape not in self._changed:
                value, kind, several = self._pending
                self._made[kind], self._pending = shape, None
                self._set(shape, value, several)
        found = [self._latest.get(shape, -1) for shape in shapes]
        for place, shape in enumerate(shapes) if self._parts else ():
            if shape in self._parts:
                self._parts[shape] += 1
                part = found[place], self._parts[shape]
                found[place] = -2 - self._part.setdefault(part, len(self._part))
        return found

    def is_mixed(self, shapes: Sequence[Shape]) -> bool:
        """Whether of two tensors of a shape one was made, so that the other is from outside."""
        return any(shapes.count(shape) > self._count[shape] > 0 for shape in shapes)

    def make(self, value: int, kind: int, shape: Shape | None, several: bool) -> None:
        """A call of a kind makes a value, of a shape as far as known."""
        shape = shape or self._made.get(kind)
        if shape is None:
            self._pending = value, kind, several
        else:
            self._set(shape, value, several)

    def _set(self, shape: Shape, value: int, several: bool) -> None:
        self._latest[shape] = value
        self._count[shape] += 1
        self._parts.pop(shape, None)
        if several:
            self._parts[shape] = 0


def _flags(
    calls: Calls, columns: Sequence[Array], changed: set[Shape], varies: set[Shape]
) -> Array:
    """``again``, ``sure``, ``constant`` and ``steady`` of the calls of one pass in a step, bool of shape (4, calls)."""
    again, sure, constant, steady = ([False] * len(columns[0]) for _ in range(4))
    there = _Tensors(changed)
    seen: dict[tuple[object, ...], int] = {}
    pure: dict[int, tuple[bool, bool]] = {}
    # Plain values of Python: one by one they are far quicker than elements of arrays.
    each = zip(*(column.tolist() for column in columns), strict=True)
    for at, (number, is_drawn, is_made, is_inside, is_still, is_several, own) in enumerate(each):
        use = calls.uses[number]
        if use is None:
            continue
        reads = use.reads
        read, mixed = there.read(reads), there.is_mixed(reads)
        key = (number, own, *read)
        sure[at] = not mixed and all(
            v != -1 or (own >= 0 and s in changed) for v, s in zip(read, reads, strict=True)
        )
        if is_still and (reads or is_made):
            leaves = [
                pure.get(v, (False, False)) if v >= 0 else (s not in varies, False)
                for v, s in zip(read, reads, strict=True)
            ]
            constant[at] = all(one for one, _ in leaves)
            steady[at] = constant[at] and not mixed and all(two for _, two in leaves)
        again[at] = key in seen and not is_inside and bool(read)
        fresh = is_inside or is_drawn or not (read or is_made)
        value = at if fresh else seen.setdefault(key, at)
        pure[value] = constant[at], steady[at]
        there.make(value, number, use.makes, is_several)
    return np.array((again, sure, constant, steady), np.bool_)


def _told_by_name(context: RuleContext, calls: Calls) -> tuple[Mask, Mask, Mask, Mask]:
    """Of each call whether it draws random numbers, makes a tensor of nothing, works in place, and makes several tensors."""
    first = np.unique(calls.kind, return_index=True)[1]
    names = context.trace.strings.many(calls.name[first])
    says = DRAWS.search, _STEADY.match, lambda name: name.endswith("_"), _SEVERAL.match
    drawn, made, inside, several = (
        np.array([bool(say(name)) for name in names])[calls.kind] for say in says
    )
    return drawn, made, inside, several


def _passes(context: RuleContext, calls: Calls) -> Ints:
    """How many backward functions and updates begin before each call: what comes after one works on other data, or with other weights."""
    work = np.concatenate((context.backward_functions, context.updates))
    return context.begun(work, context.spans["start"][calls.row])


def _changed(context: RuleContext) -> set[Shape]:
    """Shapes of what optimizers work on, and of gradients that are accumulated: weights."""
    sums = context.rows_named(context.calls, lambda name: name.endswith("AccumulateGrad"))
    region = np.concatenate((context.updates, sums))
    inner = context.operators[context.beneath(region)[context.operators]]
    return {
        t.shape for call in context.read_arguments(inner).values() for t in call.every if t.shape
    }


def _repeated(
    context: RuleContext, calls: Calls, values: _Values
) -> list[tuple[tuple[int, int], Part]]:
    """Calls of the user's functions and of modules all of whose operators are again."""
    spans, parent = context.spans, context.parent
    own = (context.rank == OWN) | context.mask(context.training.modules)
    frame = context.on_main(context.within(np.flatnonzero(own)))
    begin, end = context.times(frame)
    start = spans["start"][calls.row]
    low, high = np.searchsorted(start, begin), np.searchsorted(start, end)
    before = np.append(0, np.cumsum(values.again))
    whole = (high > low) & (before[high] - before[low] == high - low)
    frame, low, high = frame[whole], low[whole], high[whole]
    # Of frames within each other the outermost, if its function was there before in the step.
    step = context.facts["span_links"]["step"]
    first = _earlier(context, frame, lambda row: step[row])
    frame, low, high = frame[first], low[first], high[first]
    # Within one forward pass a tensor that the pass made is hardly there beside one from outside of the same shape.
    modules = context.mask(context.training.modules)
    one_pass = _earlier(
        context, frame, lambda row: climb(parent, parent[row].astype(np.int64), modules)
    )
    outer = context.home(context.parent[frame], frame) < 0
    found = []
    for name in unique_values(spans["name"][frame[outer]]).tolist():
        mine = np.flatnonzero(outer & (spans["name"][frame] == name))
        chosen = unique_values(np.concatenate([np.arange(low[i], high[i]) for i in mine.tolist()]))
        sure = values.sure[chosen].all() and not values.drawn[chosen].any() and one_pass[mine].all()
        inside = climb(parent, parent[frame[mine]].astype(np.int64), modules) >= 0
        text = function_name(context.trace.strings[name]).removeprefix("nn.Module: ")
        numbers = {"calls": (len(mine)) / len(context.steps)}
        words = {"what": class_of(text), "again": "yes"}
        part = _part(calls, chosen, numbers, words, bool(sure and inside.all()))
        found.append(((0, name), part))
    return found


def _earlier(context: RuleContext, frame: Ints, around: Callable[[Ints], Array]) -> Mask:
    """Which frames have one of their name before them in what is ``around`` them."""
    alike = np.isin(context.spans["name"], unique_values(context.spans["name"][frame]))
    every = context.on_main(context.within(np.flatnonzero(alike)))
    first, _ = group_rows((context.spans["name"][every], around(every).astype(np.int64)))
    return np.asarray(~np.isin(frame, every[first]))


def _constant(
    context: RuleContext, calls: Calls, values: _Values
) -> list[tuple[tuple[int, int], Part]]:
    """Calls that make the same in every step."""
    trains = len(calls.of) > 0
    chosen = values.constant if trains else values.steady
    steps = unique_values(calls.step)
    if len(steps) < 2:
        return []
    place = np.flatnonzero(chosen)
    each = np.zeros((len(steps), int(calls.kind.max(initial=0)) + 1), np.int32)
    np.add.at(each, (np.searchsorted(steps, calls.step[place]), calls.kind[place]), 1)
    always = (each == each[:1]).all(axis=0)
    place = place[always[calls.kind[place]]]
    found = []
    for line in unique_values(calls.line[place]).tolist():
        mine = place[calls.line[place] == line]
        text = context.facts.strings[line] if line >= 0 else ""
        what = function_name(text) or calls.text(mine[calls.cost[mine].argmax()])
        words = {"what": what, "constant": "yes"}
        part = _part(calls, mine, {}, words, bool(values.steady[mine].all()))
        found.append(((1, line), part))
    return found


def _part(
    calls: Calls, chosen: Ints, numbers: dict[str, float], words: dict[str, str], sure: bool
) -> Part:
    kind = "the same in every step" if "constant" in words else "the same tensors again"
    more = {"most": calls.text(chosen[calls.cost[chosen].argmax()]), "kind": kind}
    certainty: Certainty | None = None if sure else "theoretical"
    left = dict.fromkeys(chosen.tolist(), 0.0)
    return Part(left, numbers, words | more, certainty=certainty)


QUESTION = Question(__name__)
QUESTION.state("same_again", 244, _claim, certainty="likely", reach=Reach(0.6, 1.3))
