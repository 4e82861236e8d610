"""Events whose category tells no role → roles by what their process holds (``store/process_roles.py``).

::

    process "CANN"             [Node@launch]                       a call of the runtime
    process "Ascend Hardware"        |■■MatMulV2■■|                a kernel of the NPU
    process "Overlap Analysis"       |■■Computing■|                the same time again: no role

It is done when everything is read, because a file names its processes anywhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from torch_tb_profiler.importers.collectives_once import collective_args, collectives_once
from torch_tb_profiler.importers.late_args import LATE_ARGS
from torch_tb_profiler.importers.launch_in_name import launch_in_name
from torch_tb_profiler.importers.npu_shapes import as_lists
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store import schema
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.process_roles import (
    ANY,
    TORCH_NPU,
    UNITRACE,
    Place,
    Profiler,
    device_number,
    profiler_of,
    work_of_name,
    work_of_task,
)
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role, role_of, setting_name
from torch_tb_profiler.store.strings import StringBuilder

PROFILER = "profiler"
"""Key of the header: the profiler that wrote the file, where it was not PyTorch's."""
UNPLACED = "unplaced"
"""Key of the header: numbers of events without a role, ``{"category": {name: n}, "process": …}``."""
MOST_UNPLACED = 100
"""Names of either kind that are kept, those with most events."""
_RANK = re.compile(r"RANK (\d{1,7}) (?:HOST|DEVICE)<", re.ASCII)
_DIGITS = re.compile(r"\d{1,9}", re.ASCII)


def placed(trace: Trace, own: Mapping[str, Role]) -> Trace:
    """The trace with the roles of such events; those that no rule knows are counted.

    ``own``: the setting (``store.roles.own_roles``); it wins over the rules.
    """
    late = trace.tables.get(LATE_ARGS.name, LATE_ARGS.empty())
    tables = {name: table for name, table in trace.tables.items() if name != LATE_ARGS.name}
    # What a file itself says under this name is no count.
    header = {key: value for key, value in trace.header.items() if key != UNPLACED}
    trace = replace(trace, tables=tables, header=header)
    places = _Places(trace, own)
    if places.profiler.name:
        trace.header[PROFILER] = places.profiler.name
    _note_rank(trace)
    row, role = places.roles()
    if len(row):
        trace = _with_roles(trace, places, late, row, role)
    _count_unplaced(trace, places.unknown[~np.isin(places.unknown, row)])
    return trace


def _note_rank(trace: Trace) -> None:
    """unitrace writes the rank into the names of its processes alone."""
    if trace.header.get(PROFILER) != UNITRACE or "distributedInfo" in trace.header:
        return
    names = trace.strings.many(np.unique(trace["tracks"]["process_name"]).tolist())
    ranks = {int(match[1]) for match in map(_RANK.match, names) if match}
    if len(ranks) == 1:
        trace.header["distributedInfo"] = {"rank": ranks.pop()}


class _Places:
    """What a trace calls the processes and threads of its events.

    unknown: rows of spans whose category tells no role, ascending.
    """

    def __init__(self, trace: Trace, own: Mapping[str, Role]) -> None:
        self._trace, self._own = trace, own
        spans = trace["spans"]
        others = np.flatnonzero(spans["role"] == Role.OTHER)
        numbers = np.unique(spans["category"][others]).tolist()
        known = [n for n in numbers if n >= 0 and _is_known(trace.strings[n], own)]
        self.unknown = others[~np.isin(spans["category"][others], known)]
        self._unknown_category = set(numbers).difference(known)
        names = set(trace["tracks"]["process_name"].tolist())
        self.profiler: Profiler = profiler_of(
            trace.strings.many(sorted(names)), self._categories(), self._names
        )

    def _categories(self) -> set[str]:
        """The categories of all events."""
        strings, used = self._trace.strings, self._trace["spans"]["category"]
        present = np.zeros(len(strings) + 1, np.bool_)
        present[used] = True
        return set(strings.many(np.flatnonzero(present[:-1]).tolist()))

    def _names(self) -> Iterator[str]:
        """Names of the events without a category."""
        spans = self._trace["spans"]
        bare = self.unknown[spans["category"][self.unknown] == self._trace.strings.number("")]
        return iter(self._trace.strings.many(np.unique(spans["name"][bare]).tolist()))

    def of(self, track: int, category: int = -1) -> Place:
        """The place of the events of a track that have a category."""
        tracks, strings = self._trace["tracks"], self._trace.strings
        process, label, thread = (
            strings[int(tracks[name][track])]
            for name in ("process_name", "process_label", "thread_name")
        )
        return Place(process, label, thread, strings[category])

    def roles(self) -> tuple[Ints, Array]:
        """Rows of spans, ascending, and the role that their process gives them."""
        spans, strings = self._trace["spans"], self._trace.strings
        row = np.arange(spans.n) if self.profiler.rules_of_categories else self.unknown
        key = spans["track"][row].astype(np.int64) * (len(strings) + 1) + spans["category"][row] + 1
        kinds, kind, count = np.unique(key, return_inverse=True, return_counts=True)
        order, found = np.argsort(kind, kind="stable"), np.full(len(row), -1, np.int16)
        for value, mine in zip(kinds.tolist(), np.split(order, np.cumsum(count)), strict=False):
            track, category = divmod(value, len(strings) + 1)
            rules = self._rules(track, category - 1)
            if rules is not None:
                found[mine] = self._by_name(spans["name"][row[mine]], rules)
        return row[found >= 0], found[found >= 0].astype(np.uint8)

    def _rules(self, track: int, category: int) -> Any:
        """A role, or a list of rules; None where none fits."""
        place, strings = self.of(track, category), self._trace.strings
        unknown = category in self._unknown_category
        if unknown:
            pid = strings[int(self._trace["tracks"]["pid"][track])]
            keys = (place.process, place.label, place.thread, pid)
            names = map(setting_name, keys) if self._own else ()
            own = next((self._own[name] for name in names if name in self._own), None)
            if own is not None:
                return own
            if self.profiler is not ANY:
                place = replace(place, category="")
        rules = [rule for rule in self.profiler.rules if rule.fits(place)]
        if not rules and unknown and not place.category:
            rules = [rule for rule in ANY.rules if rule.fits(place)]
        return rules or None

    def _by_name(self, name: Array, rules: Any) -> Array:
        if isinstance(rules, Role):
            return np.full(len(name), rules, np.int16)
        names, numbered = np.unique(name, return_inverse=True)
        roles = [_role_of_name(self._trace.strings[n], rules) for n in names.tolist()]
        return np.array(roles, np.int16)[numbered]

    def devices(self, row: Ints) -> Array:
        """The device of device work: the number in the name of its process, else a number that is
        free, in the order of the file; −1 where a process has neither name nor label, int32.
        """
        tracks = self._trace["tracks"]
        track = self._trace["spans"]["track"][row]
        seen, first = np.unique(track, return_index=True)
        number_of: dict[int, int] = {}
        for one in seen[np.argsort(first)].tolist():
            number_of.setdefault(int(tracks["pid"][one]), self._number(one))
        taken = set(number_of.values())
        free = (number for number in range(len(number_of) + 1) if number not in taken)
        # torch_npu records one device, whose work stands in two processes.
        one = self.profiler.name == TORCH_NPU and sorted(taken.difference((-2,)))
        for pid, number in number_of.items():
            if number == -2:
                number_of[pid] = one[0] if one else next(free)
                one = [number_of[pid]] if self.profiler.name == TORCH_NPU else []
        numbers = {one: number_of[int(tracks["pid"][one])] for one in seen.tolist()}
        return np.array([numbers[one] for one in track.tolist()], np.int32)

    def _number(self, track: int) -> int:
        place = self.of(track)
        number = device_number(place)
        return number if number >= 0 else -2 if place.process or place.label else -1


def _is_known(category: str, own: Mapping[str, Role]) -> bool:
    return bool(category) and role_of(category, own) is not None


def _role_of_name(name: str, rules: Any) -> int:
    rule = next((rule for rule in rules if rule.of_name(name)), None)
    if rule is None:
        return -1
    return int(work_of_name(name) if rule.role == Role.KERNEL else rule.role)


def _with_roles(trace: Trace, places: _Places, late: Table, row: Ints, role: Array) -> Trace:
    spans = trace["spans"]
    roles, link = spans["role"].copy(), spans["correlation"].copy()
    roles[row] = role
    _by_task(trace, late, roles)
    tied = (late["link"] > 0) & (link[late["span"]] < 0)
    link[late["span"][tied]] = late["link"][tied]
    strings = StringBuilder(trace.strings)
    collective, operators = schema.COLLECTIVE_ARGS.empty(), trace["operator_args"]
    if places.profiler.name == TORCH_NPU:
        operators = as_lists(trace, strings)
        roles, counted = collectives_once(trace, roles, link)
        collective = collective_args(trace, late, counted, strings)
    work = row[np.isin(roles[row], DEVICE_ROLES)]
    arguments = _device_args(trace, places, late, work)
    name = spans["name"]
    if places.profiler.name == UNITRACE:
        name, arguments = launch_in_name(trace, work, arguments, strings)
    dur = _without_loss(spans, late, roles)
    tables = {
        **trace.tables,
        "spans": spans.replace(role=roles, correlation=link, name=name, dur=dur),
        "operator_args": _of_roles(operators, roles, Role.OPERATOR, Role.ANNOTATION),
        "device_args": _of_roles(_merged(trace["device_args"], arguments), roles, *DEVICE_ROLES),
        "collective_args": _merged(trace["collective_args"], collective),
    }
    return replace(trace, tables=tables, strings=strings.table())


def _without_loss(spans: Table, late: Table, roles: Array) -> Ints:
    """The durations, with what device work has beyond whole ns carried on to the next on its stream:
    sums of a stream lose less than 1 ns.

    ::

        written      1269.5   1349.5   1259.5   ns
        stored       1269     1350     1259
    """
    dur = spans["dur"].copy()
    kept = np.flatnonzero((late["surplus"] != 0) & np.isin(roles[late["span"]], DEVICE_ROLES))
    row = late["span"][kept]
    order = np.argsort(spans["track"][row], kind="stable")
    row, more = row[order], late["surplus"][kept][order].astype(np.int64)
    below = np.where(more < 0, -1, 0)
    total = np.cumsum(more - 1000 * below)
    begins = np.flatnonzero(np.r_[True, np.diff(spans["track"][row]) != 0][: len(row)])
    before = np.r_[0, total[:-1]][: len(row)]
    total -= np.repeat(before[begins], np.diff(np.r_[begins, len(row)]))
    whole = total // 1000
    first = np.zeros(len(row), np.bool_)
    first[begins] = True
    dur[row] += below + whole - np.where(first, 0, np.r_[0, whole[:-1]][: len(row)])
    return np.asarray(dur)


def _by_task(trace: Trace, late: Table, roles: Array) -> None:
    """Set, in place, the roles of kernels whose type of task says otherwise."""
    kernels = np.flatnonzero((roles[late["span"]] == Role.KERNEL) & (late["task"] >= 0))
    for number in np.unique(late["task"][kernels]).tolist():
        role = work_of_task(trace.strings[number])
        if role is not None:
            roles[late["span"][kernels[late["task"][kernels] == number]]] = role


def _device_args(trace: Trace, places: _Places, late: Table, work: Ints) -> Table:
    """A row of ``device_args`` for each piece of placed device work."""
    n = len(work)
    position = np.searchsorted(late["span"], work)
    position[position == late.n] = 0
    has = np.zeros(n, np.bool_) if not late.n else late["span"][position] == work
    tid = [
        int(t) if _DIGITS.fullmatch(t) else -1 for t in trace.strings.many(trace["tracks"]["tid"])
    ]
    stream = np.array(tid, np.int64)[trace["spans"]["track"][work]] if n else np.zeros(0, np.int64)
    size = np.full(n, -1, np.int64)
    if late.n:
        stream = np.where(has & (late["stream"][position] >= 0), late["stream"][position], stream)
        size = np.where(has, late["bytes"][position], size)
    absent = np.full(n, -1, np.int64)
    unknown = np.full(n, np.nan)
    return schema.DEVICE_ARGS.build(
        span=work,
        device=places.devices(work),
        stream=stream,
        grid=absent,
        block=absent,
        registers=absent,
        shared_memory=absent,
        blocks_per_sm=unknown,
        occupancy=unknown,
        bytes=size,
    )


def _merged(table: Table, new: Table) -> Table:
    """Both tables, ordered by span; a row of the new one takes the place of an old one."""
    if not new.n:
        return table
    old = table.take(~np.isin(table["span"], new["span"]))
    columns = {key: np.concatenate((old[key], new[key])) for key in table}
    order = np.argsort(columns["span"], kind="stable")
    return table.spec.build(**{key: values[order] for key, values in columns.items()})


def _of_roles(table: Table, roles: Array, *wanted: Role) -> Table:
    kept = np.isin(roles[table["span"]], wanted)
    return table if kept.all() else table.take(kept)


def _count_unplaced(trace: Trace, row: Ints) -> None:
    """Count events without a role by category, or without one by process."""
    if not len(row):
        return
    spans, tracks, strings = trace["spans"], trace["tracks"], trace.strings
    bare = spans["category"][row] == strings.number("")
    trace.defects.add(d.NO_CATEGORY, int(bare.sum()))
    trace.defects.add(d.UNKNOWN_CATEGORY, int((~bare).sum()))
    counts: dict[str, Counter[str]] = {"category": Counter(), "process": Counter()}
    for number, n in _counted(spans["category"][row[~bare]]):
        counts["category"][strings[number]] += n
    for track, n in _counted(spans["track"][row[bare]]):
        texts = (strings[int(tracks[name][track])] for name in ("process_name", "process_label"))
        name = next(filter(None, texts), strings[int(tracks["pid"][track])])
        counts["process"][name] += n
    trace.header[UNPLACED] = {
        kind: dict(found.most_common(MOST_UNPLACED)) for kind, found in counts.items()
    }


def _counted(numbers: Array) -> Iterator[tuple[int, int]]:
    values, counts = np.unique(numbers, return_counts=True)
    return zip(values.tolist(), counts.tolist(), strict=True)
