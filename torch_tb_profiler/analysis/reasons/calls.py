"""The program's own calls in order, each with what it costs on the critical path, its backward included.

A call is an operator that no other operator calls: ``aten::linear``, not ``aten::addmm`` beneath it; not those of an optimizer, a
DataLoader, a collective or the engine of the backward pass. A backward function belongs to the call that took its sequence number::

    main   [linear #5][relu #6][loss #7]   {LossBackward #7}{ReluBackward #6}{AddmmBackward #5}
                │                                                                  │
                └──────────────────── cost of linear: both ────────────────────────┘
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

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
from torch_tb_profiler.analysis.findings.candidate import THRESHOLD, Candidate, Certainty
from torch_tb_profiler.analysis.findings.rule_context import RuleContext
from torch_tb_profiler.analysis.reasons.uses import Use, use_of
from torch_tb_profiler.analysis.what_if.simulation import Edit
from torch_tb_profiler.hardware.call import Call
from torch_tb_profiler.store.columns import Array, Ints, is_one_of
from torch_tb_profiler.store.roles import DEVICE_ROLES

MOST_FOUND = 3
"""Places that a question names, those that cost most."""
MOST_KINDS = 20_000
"""Distinct calls beyond which what they do with their tensors is not looked at."""


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
        spent = _on_path(context)
        home = places_in(spans.n + 1, row)
        home[function] = of
        own = np.flatnonzero(spent)
        inside = climb(parent, own, home[:-1] >= 0).astype(np.int64)
        cost = np.zeros(len(row) + 1, np.int64)
        np.add.at(cost, home[inside], spent[own])
        return cls(context, row, step, cost[:-1], function, of)

    @cached_property
    def name(self) -> Ints:
        """Numbers of their names."""
        return np.asarray(self.context.trace["spans"]["name"][self.row])

    @cached_property
    def line(self) -> Ints:
        """The user's function that makes each call; numbers of strings of the facts, −1 unknown."""
        return np.asarray(lines_of(self.context.trace, self.context.facts, self.row))

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

    def acted(self, chosen: Ints) -> tuple[Ints, Ints, Ints]:
        """When some calls (positions), their backward functions and the device work of both were on the critical path, each piece shown by its call:
        ``(row, start, end)``.
        """
        context = self.context
        path = context.insight["critical_path"]
        mine = np.isin(path["step"], context.steps) & (path["event"] >= 0)
        host = _host(context, path["event"][mine].astype(np.int64))
        home = self._homes(chosen)
        own = home[climb(context.parent, host, home[:-1] >= 0)]
        inside = own >= 0
        return self.row[own[inside]], path["start"][mine][inside], path["end"][mine][inside]

    def claim(
        self,
        chosen: Ints,
        factor: Array,
        numbers: dict[str, float],
        words: dict[str, str],
        certainty: Certainty | None = None,
    ) -> Candidate:
        """That some calls (ascending positions) would take ``factor`` times as long; ``taken`` is among what its texts name."""
        taken = int(self.cost[chosen].sum()) / len(self.context.steps)
        acted, edit = self.acted(chosen), self.take(chosen, factor)
        return Candidate(*acted, numbers | {"taken": taken}, words, certainty=certainty, edit=edit)

    def _homes(self, chosen: Ints) -> Ints:
        """Of each span the position of the call that it is, or is a backward function of, among some; −1 else, and behind the last."""
        home = np.full(self.context.trace["spans"].n + 1, -1, np.int64)
        home[self.row[chosen]] = chosen
        own = np.isin(self.of, chosen)
        home[self.function[own]] = self.of[own]
        return home

    def take(self, chosen: Ints, factor: Array) -> Edit:
        """Some calls (positions) and their backward functions take ``factor`` times as long, and the device work of both."""
        home = self._homes(chosen)[:-1]
        each = np.ones(len(self.row))
        each[chosen] = factor
        row = np.flatnonzero(home >= 0)
        return self.context.calls_take(row, each[home[row]])


def costliest_places(
    context: RuleContext, places: Iterable[list[Any]], cost: Callable[[list[Any]], float]
) -> list[list[Any]]:
    """Of what was found at some places the ``MOST_FOUND`` whose cost, ns, is most and worth a finding."""
    ranked = sorted(places, key=cost, reverse=True)[:MOST_FOUND]
    return [own for own in ranked if cost(own) >= THRESHOLD * context.windows.length]


def calls_of(context: RuleContext) -> Calls:
    """The calls of what a question is asked of, made once."""
    kept: dict[str, Calls] = context.__dict__
    if "_calls" not in kept:
        kept["_calls"] = Calls.made(context)
    return kept["_calls"]


def blocks(label: Ints, *columns: Array) -> Iterator[tuple[Ints, int]]:
    """Of each label its positions, ascending, and a number that is the same where all columns are: steps that are alike are looked at once."""
    order = np.argsort(label, kind="stable")
    numbers: dict[bytes, int] = {}
    for place in np.split(order, np.flatnonzero(np.diff(label[order])) + 1) if len(order) else ():
        own = b"".join(column[place].tobytes() for column in columns)
        yield place, numbers.setdefault(own, len(numbers))


def _host(context: RuleContext, event: Ints) -> Ints:
    """The launch of device work, the event itself of host work."""
    on_device = is_one_of(context.spans["role"][event], DEVICE_ROLES)
    launch = picked(context.facts["span_links"]["launch"], event).astype(np.int64)
    return np.where(on_device, launch, event)


def _on_path(context: RuleContext) -> Ints:
    """Of each span its own time on the critical path of the steps, device work counted at its launch, ns."""
    path = context.insight["critical_path"]
    mine = np.isin(path["step"], context.steps) & (path["event"] >= 0)
    host = _host(context, path["event"][mine].astype(np.int64))
    spent = np.zeros(context.spans.n + 1, np.int64)
    np.add.at(spent, host, (path["end"] - path["start"])[mine])
    return spent[:-1]


def _backward(context: RuleContext, row: Ints) -> tuple[Ints, Ints]:
    """Rows of backward functions, and the position of the call that each belongs to."""
    calls = context.backward_calls
    none = np.zeros(0, np.int64)
    operators = context.on_main(context.operators)
    sequence = calls.found_by(operators)
    numbered, sequence = operators[sequence >= 0], sequence[sequence >= 0]
    engine = context.mask(context.backward_functions)
    outside = climb(context.parent, numbered, engine) < 0
    numbered, sequence = numbered[outside], sequence[outside]
    if not len(numbered) or not len(calls.row) or not len(row):
        return none, none
    # The last operator that found a number took it.
    taker = picked(numbered, matching_points((sequence,), (calls.number,)))
    owner = climb(context.parent, taker, context.mask(row)).astype(np.int64)
    known = owner >= 0
    return calls.row[known], positions_of(row, owner[known])
