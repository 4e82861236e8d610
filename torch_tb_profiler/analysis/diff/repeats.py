"""Recordings without steps, per unit of work: what both repeat in the same proportions.

::

    before  |sdpa addmm |sdpa addmm |sdpa addmm |…    68 of each    an item: 4.40 ms, from one begin to the next
    after   |sdpa   addmm  |sdpa   addmm  |…          59 of each             5.00 ms

A recording of a fixed length is as long however slow its work is. Names are those of the outermost calls that repeat on
the thread where they take most time, and of the work of the busiest stream. One that both recordings have says how many
units each holds; others agree where they are called as often per unit in both, but for what the ends cut off.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.diff.significance import Floats
from torch_tb_profiler.analysis.facts.iterations import LEAST_COVERAGE, outermost
from torch_tb_profiler.analysis.facts.step_kinds import (
    odd_limit,
)
from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.analysis.match.names import stable_name, without_numbers
from torch_tb_profiler.store.columns import Ints, Mask, unique_values
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role

LEAST_SHARE = 0.1
"""Share of the units from which on those of another length are none that a pause lies within."""
LEAST_TIMES = 4
"""Calls from which on a name repeats: three units, from begin to begin."""
MOST_NAMES = 64
"""Names of a track that are looked at, those that take most time."""
REGULAR = 0.8
"""Share of the units that call exactly the same, from which on a unit is taken whole; and of the time of what both
repeat that must be called in the same proportions."""
_HOST_ROLES = (Role.OPERATOR, Role.RUNTIME, Role.ANNOTATION, Role.PYTHON)


class Repeated(msgspec.Struct, frozen=True):
    """Calls of one name. begins: int64 ns, in time order; time: of all of them, ns."""

    begins: Ints
    time: int


Names = Mapping[str, Repeated]


class Repeats(msgspec.Struct, frozen=True):
    """What a recording repeats on the host and on the device, by name. length: of the recording, ns."""

    length: int
    host: Names
    device: Names


class Unit(msgspec.Struct, frozen=True):
    """The unit by which two recordings are compared: what begins with a call of ``name``, or with several in a row.

    counts: units in A and B.
    items: times of A's and B's units, each from its begin to the next one's, ns.
    """

    name: str
    counts: tuple[int, int]
    items: tuple[Floats, Floats]


def repeats_of(trace: Trace) -> Repeats:
    """What a trace repeats; it takes a pass over its spans."""
    spans = trace["spans"]
    host, device = (
        np.flatnonzero(np.isin(spans["role"], roles)) for roles in (_HOST_ROLES, DEVICE_ROLES)
    )
    work = np.concatenate((host, device))
    begin, end = spans["start"][work], (spans["start"] + spans["dur"])[work]
    length = int(end.max() - begin.min()) if len(work) else 0
    return Repeats(length, _busiest(trace, host, True), _busiest(trace, device, False))


def _busiest(trace: Trace, row: Ints, nested: bool) -> dict[str, Repeated]:
    """The names that repeat on the track where they take most time; of nested calls the outermost ones that repeat."""
    spans, found = trace["spans"], [np.zeros(0, np.int64)]
    keys: dict[str, int] = {}
    key = np.zeros(len(trace.strings) + 1, np.int64)
    note = np.zeros(len(key), np.bool_)
    note[spans["name"][row[spans["role"][row] == Role.ANNOTATION]]] = True
    for number in unique_values(spans["name"][row]).tolist():
        text = stable_name(trace.strings[number])
        # What numbers an item tells it from all others.
        text = without_numbers(text) if note[number] else text
        key[number] = keys.setdefault(text, len(keys))
    row = row[np.argsort(spans["track"][row], kind="stable")]
    for own in np.split(row, np.flatnonzero(np.diff(spans["track"][row])) + 1):
        own = _often(key, spans["name"], own)
        own = outermost(spans, own) if nested else own
        found.append(_often(key, spans["name"], own))
    chosen = max(found, key=lambda rows: int(spans["dur"][rows].sum()))
    texts, of = list(keys), key[spans["name"][chosen]]
    time = sum_by(of, len(texts), spans["dur"][chosen])
    used = unique_values(of)
    most = used[np.argsort(-time[used], kind="stable")][:MOST_NAMES].tolist()
    starts = spans["start"][chosen]
    return {texts[n]: Repeated(np.sort(starts[of == n]), int(time[n])) for n in most}


def _often(key: Ints, name: Ints, row: Ints) -> Ints:
    """The rows whose name repeats."""
    of = key[name[row]]
    return row[np.bincount(of, minlength=1)[of] >= LEAST_TIMES] if len(row) else row


def unit_between(a: Repeats, b: Repeats) -> Unit | None:
    """The unit of work of two recordings; None where nothing that both repeat in the same proportions takes half of
    the time and reaches through half of either recording.
    """
    device = _unit(a.device, b.device)
    if device is not None:
        device = replace(device, name=short_name(device.name))
    # A host that runs ahead says nothing of the pace.
    least = max(LEAST_COVERAGE, REGULAR * _reach(device, a, b))
    units = _unit(a.host, b.host), device
    return next((unit for unit in units if _reach(unit, a, b) >= least), None)


def _reach(unit: Unit | None, *sides: Repeats) -> float:
    """Share of either recording from the first begin of a unit to the end of the last, which is as long as the others."""
    if unit is None:
        return 0.0
    reached = [float(items.sum() + np.median(items)) for items in unit.items]
    return min(end / max(side.length, 1) for end, side in zip(reached, sides, strict=True))


def _unit(a: Names, b: Names) -> Unit | None:
    """The longest unit that calls nearly always the same; without one the name that takes most time."""
    names = [name for name in a if name in b]
    whole = np.array([max(sum(one.time for one in side.values()), 1) for side in (a, b)])
    count, time = (
        np.array([[get(side[name]) for name in names] for side in (a, b)]).reshape(2, -1)
        for get in (lambda one: len(one.begins), lambda one: one.time)
    )
    best: tuple[tuple[bool, int], Unit] | None = None
    runs = [_runs(side, names) for side in (a, b)]
    for i, name in enumerate(names):
        calls, first = [a[name].begins, b[name].begins], [own[i] for own in runs]
        for begins in (calls, first):
            units = np.array([len(own) for own in begins])
            if units.min() < LEAST_TIMES:
                continue
            alike = _alike(count, units)
            agreed = time[:, alike].sum(axis=1)
            if (agreed < np.maximum(LEAST_COVERAGE * whole, REGULAR * time.sum(axis=1))).any():
                continue
            others = [names[other] for other in np.flatnonzero(alike).tolist()]
            shares = map(_regular, (a, b), begins, (others, others))
            regular = min(shares) >= REGULAR
            rank = regular, -int(units[0]) if regular else int(time[0, i])
            # How long a run is, is the work's own only where each is of as many calls.
            if (regular or begins is calls) and (best is None or rank > best[0]):
                items = tuple(np.diff(own).astype(np.float64) for own in begins)
                counts = int(units[0]), int(units[1])
                best = rank, Unit(name, counts, (items[0], items[1]))
    return None if best is None else best[1]


def _runs(side: Names, names: list[str]) -> list[Ints]:
    """The begins of each name's calls that follow one of another of the names: what an item calls several times in a row begins once."""
    begins = np.concatenate([np.zeros(0, np.int64), *(side[name].begins for name in names)])
    of = np.repeat(np.arange(len(names)), [len(side[name].begins) for name in names])
    order = np.argsort(begins, kind="stable")
    follows = order[1:][np.diff(of[order]) != 0]
    return [begins[follows[of[follows] == i]] for i in range(len(names))]


def _alike(count: Ints, units: Ints) -> Mask:
    """Which names are called as often per unit in A as in B, when the ends of both may cut a unit off. count: shape (2, names)."""
    calls = np.maximum(count[0] / units[0], 1)
    apart = np.abs(count[0] * units[1] - count[1] * units[0])
    return np.asarray(apart <= 2 * calls * units.max())


def _regular(side: Names, begins: Ints, others: list[str]) -> float:
    """The share of the units, from each of ``begins`` to the next, that call exactly what most of them do."""
    calls = []
    for other in others:
        unit = np.searchsorted(begins, side[other].begins, side="right")
        calls.append(np.bincount(unit, minlength=len(begins) + 1)[1 : len(begins)])
    _, same = np.unique(np.stack(calls, axis=1), axis=0, return_counts=True)
    return float(same.max()) / (len(begins) - 1)


def odd_items(items: Floats) -> Mask:
    """The few units that are far longer than the others: a pause lies within."""
    usual, limit = odd_limit(items)
    odd = items - usual > limit
    return np.asarray(odd & (odd.mean() <= LEAST_SHARE))
