"""The program's own calls in order, each with what it costs on the critical path, its backward included.

A call is an operator that no other operator calls: ``aten::linear``, not ``aten::addmm`` beneath it; not those of an optimizer, a
DataLoader, a collective or the engine of the backward pass. A backward function belongs to the call that took its sequence number::

    main   [linear #5][relu #6][loss #7]   {LossBackward #7}{ReluBackward #6}{AddmmBackward #5}
                │                                                                  │
                └──────────────────── cost of linear: both ────────────────────────┘
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeVar

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    matching_points,
    picked,
    places_in,
    positions_of,
)
from torch_tb_profiler.analysis.arrays.nesting import climb
from torch_tb_profiler.analysis.critical_path.origins import lines_of
from torch_tb_profiler.analysis.findings.candidate import THRESHOLD, Candidate, Certainty, Pieces
from torch_tb_profiler.analysis.findings.rule_context import RuleContext
from torch_tb_profiler.analysis.reasons.uses import Use, use_of
from torch_tb_profiler.hardware.call import Call
from torch_tb_profiler.store.columns import Array, Ints, is_one_of
from torch_tb_profiler.store.roles import DEVICE_ROLES

MOST_FOUND = 3
"""Places that a question names, those that cost most."""
MOST_KINDS = 20_000
"""Distinct calls beyond which what they do with their tensors is not looked at."""


Looked = TypeVar("Looked")


class Part(msgspec.Struct, frozen=True):
    """Calls that could be quicker together.

    left: of each (its position) the share of its time that remains. numbers, words: what is said of it. counts: what is summed over all parts of
    a place, and told per step.
    """

    left: dict[int, float]
    numbers: dict[str, float] = msgspec.field(default_factory=dict)
    words: dict[str, str] = msgspec.field(default_factory=dict)
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    certainty: Certainty | None = None


class Calls(msgspec.Struct, frozen=True, dict=True):
    """Arrays of shape (calls,), in the order of their begin.

    row: rows of spans. step: of ``facts["steps"]``. cost: time on the critical path in it, in its backward functions and in the device work
    of both, ns. kind: number of the distinct call (name and arguments). function: rows of its backward functions, and ``of`` which call each is.
    """

    context: RuleContext
    row: Ints
    step: Ints
    cost: Ints
    function: Ints
    of: Ints

    @classmethod
    def made(cls, context: RuleContext) -> Calls:
        """Those of the steps that are looked at, on the program's thread."""
        spans, parent, names = context.spans, context.parent, context.names
        operators = context.on_main(context.within(context.operators))
        engine = context.backward_functions
        # What an optimizer, a collective or the engine calls is theirs.
        others = context.calls[(names.region | names.collective)[spans["name"][context.calls]]]
        others = others[names.step[spans["name"][others]] < 0]
        above = context.mask(np.concatenate((context.operators, others, engine)))
        row = operators[climb(parent, parent[operators].astype(np.int64), above) < 0]
        row = row[~context.mask(engine)[row]]
        step = context.facts["span_links"]["step"][row].astype(np.int64)
        function, of = _backward(context, row)
        path, home = _path(context), places_in(spans.n + 1, row)
        home[function] = of
        cost = np.zeros(len(row) + 1, np.int64)
        np.add.at(cost, home[climb(parent, path.row, home[:-1] >= 0)], path.end - path.start)
        return cls(context, row, step, cost[:-1], function, of)

    @cached_property
    def name(self) -> Ints:
        """Numbers of their names."""
        return np.asarray(self.context.trace["spans"]["name"][self.row])

    @cached_property
    def line(self) -> Ints:
        """The user's function that makes each call; numbers of strings of the facts, −1 unknown."""
        return np.asarray(
            lines_of(self.context.trace, self.context.facts, self.context.insight.tables, self.row)
        )

    @cached_property
    def _kinds(self) -> tuple[list[Call | None], Ints]:
        place = positions_of(self.context.trace["operator_args"]["span"], self.row)
        return self.context.read_calls(self.name, place, most=MOST_KINDS)

    @property
    def kind(self) -> Ints:
        """Number of the distinct call, by name, shapes, types, strides and values."""
        return self._kinds[1]

    @property
    def distinct(self) -> list[Call | None]:
        """What each kind was called with; None where shapes were not recorded. Empty where there are too many."""
        return self._kinds[0]

    @cached_property
    def uses(self) -> list[Use | None]:
        """What each kind does with its tensors; None where shapes were not recorded."""
        return [None if call is None else use_of(call) for call in self.distinct]

    def text(self, at: int) -> str:
        """The name of one."""
        return self.context.trace.strings[int(self.name[at])]

    def use(self, at: int) -> Use | None:
        """What one does with its tensors."""
        return self.uses[int(self.kind[at])]

    def claims(self, parts: Iterable[tuple[Hashable, Part]]) -> list[Candidate]:
        """Of parts, each with its place, what the ``MOST_FOUND`` places whose change saves most are worth, if they are worth a finding.
        ``calls`` and ``taken`` are among what their texts name.
        """
        places: dict[Hashable, list[Part]] = defaultdict(list)
        for place, part in parts:
            places[place].append(part)
        found = []
        for own in places.values():
            left: dict[int, float] = {}
            for part in own:
                for at, share in part.left.items():
                    left[at] = min(share, left.get(at, 1.0))
            saves = sum((1 - share) * int(self.cost[at]) for at, share in left.items())
            if saves >= THRESHOLD * self.context.windows.length:
                found.append((saves, own, left))
        found.sort(key=lambda one: -one[0])
        return [self._claim(own, left) for _, own, left in found[:MOST_FOUND]]

    def _claim(self, parts: list[Part], left: dict[int, float]) -> Candidate:
        """That some calls (positions) would take a share of their time. What is said is of the part that saves most."""
        steps, chosen = len(self.context.steps), np.array(sorted(left), np.int64)
        chief = max(
            parts, key=lambda one: sum((1 - n) * int(self.cost[at]) for at, n in one.left.items())
        )
        numbers = {"calls": len(chosen) / steps, "taken": int(self.cost[chosen].sum()) / steps}
        numbers |= chief.numbers
        for key in chief.counts:
            numbers[key] = sum(part.counts[key] for part in parts) / steps
        home = self._homes(chosen)
        shown = self.context.lifted(_path(self.context), home[:-1] >= 0)
        factor = np.ones(len(self.row))
        factor[chosen] = [left[at] for at in chosen.tolist()]
        row = np.flatnonzero(home[:-1] >= 0)
        return Candidate(
            Pieces(self.row[home[shown.row]], shown.start, shown.end),
            numbers,
            chief.words,
            certainty=chief.certainty,
            edit=self.context.calls_take(row, factor[home[row]]),
        )

    def _homes(self, chosen: Ints) -> Ints:
        """Of each span the position of the call that it is, or is a backward function of, among some; −1 else, and behind the last."""
        home = np.full(self.context.trace["spans"].n + 1, -1, np.int64)
        home[self.row[chosen]] = chosen
        own = np.isin(self.of, chosen)
        home[self.function[own]] = self.of[own]
        return home


def calls_of(context: RuleContext) -> Calls:
    """The calls of what a question is asked of, made once."""
    kept: dict[str, Calls] = context.__dict__
    if "_calls" not in kept:
        kept["_calls"] = Calls.made(context)
    return kept["_calls"]


def blocks(
    label: Ints, columns: Sequence[Array], look: Callable[[Ints], Looked]
) -> Iterator[tuple[Ints, Looked]]:
    """Of each label its positions, ascending, and what a look at them gives: of those that are the same in all columns the first is looked at."""
    order = np.argsort(label, kind="stable")
    known: dict[bytes, Looked] = {}
    for place in np.split(order, np.flatnonzero(np.diff(label[order])) + 1) if len(order) else ():
        own = b"".join(column[place].tobytes() for column in columns)
        if own not in known:
            known[own] = look(place)
        yield place, known[own]


def _path(context: RuleContext) -> Pieces:
    """The pieces of the critical path of the steps, device work shown by its launch."""
    path = context.on_path()
    on_device = is_one_of(context.spans["role"][path.row], DEVICE_ROLES) & (path.row >= 0)
    launch = picked(context.facts["span_links"]["launch"], path.row).astype(np.int64)
    return Pieces(np.where(on_device, launch, path.row), path.start, path.end)


def _backward(context: RuleContext, row: Ints) -> tuple[Ints, Ints]:
    """Rows of backward functions, and the position of the call that each belongs to."""
    none = np.zeros(0, np.int64)
    operators = context.on_main(context.operators)
    sequence = context.backward_calls.found_by(operators)
    numbered, sequence = operators[sequence >= 0], sequence[sequence >= 0]
    engine = context.mask(context.backward_functions)
    outside = climb(context.parent, numbered, engine) < 0
    numbered, sequence = numbered[outside], sequence[outside]
    if not len(numbered) or not len(context.backward_calls.row) or not len(row):
        return none, none
    # The last operator that found a number took it.
    taker = picked(numbered, matching_points((sequence,), (context.backward_calls.number,)))
    owner = context.home(taker, row).astype(np.int64)
    known = owner >= 0
    return context.backward_calls.row[known], positions_of(row, owner[known])
