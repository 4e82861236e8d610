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
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.importers.ascend_collectives import collective_args, collectives_once
from torch_tb_profiler.importers.events import ANY as ANY_VALUE
from torch_tb_profiler.importers.events import DECODE_ERRORS
from torch_tb_profiler.importers.foreign_names import renamed, tied_to_nodes
from torch_tb_profiler.importers.late_args import LATE_ARGS
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store import schema
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table, is_one_of, unique_values
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.process_roles import (
    ANY,
    ONNX_RUNTIME,
    TORCH_NPU,
    UNITRACE,
    EventOrigin,
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
_RANK = regex(r"RANK (\d{1,7}) (?:HOST|DEVICE)<", re.ASCII)
_DIGITS = regex(r"\d{1,9}", re.ASCII)


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
    viztracer = header.get("viztracer_metadata")
    if isinstance(viztracer, dict) and viztracer.get("overflow") is True:
        trace.defects.add(d.OLDEST_LOST)
    _note_rank(trace)
    row, role = places.roles(late)
    if len(row):
        trace = _with_roles(trace, places, late, row, role)
    _count_unplaced(trace, places.unknown[~np.isin(places.unknown, row)])
    return trace


def _note_rank(trace: Trace) -> None:
    """unitrace writes the rank into the names of its processes alone."""
    if trace.header.get(PROFILER) != UNITRACE or "distributedInfo" in trace.header:
        return
    names = trace.strings.many(unique_values(trace["tracks"]["process_name"]).tolist())
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
        numbers = unique_values(spans["category"][others]).tolist()
        known = [n for n in numbers if n >= 0 and _is_known(trace.strings[n], own)]
        self.unknown = others[~is_one_of(spans["category"][others], known)]
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
        """Names of the events without a known category."""
        name = self._trace["spans"]["name"][self.unknown]
        return iter(self._trace.strings.many(unique_values(name).tolist()))

    def of(self, track: int, category: int = -1) -> EventOrigin:
        """The place of the events of a track that have a category."""
        tracks, strings = self._trace["tracks"], self._trace.strings
        process, label, thread = (
            strings[int(tracks[name][track])]
            for name in ("process_name", "process_label", "thread_name")
        )
        return EventOrigin(process, label, thread, strings[category])

    def roles(self, late: Table) -> tuple[Ints, Array]:
        """Rows of spans, ascending, and the role that their process or arguments give them."""
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
        for role, told in ((Role.OPERATOR, late["operator"]), (Role.ANNOTATION, late["step"])):
            position = np.flatnonzero(np.isin(row, late["span"][told >= 0]) & (found <= Role.OTHER))
            found[position[self._on_host(row[position])]] = role
        return row[found >= 0], found[found >= 0].astype(np.uint8)

    def _on_host(self, row: Ints) -> Mask:
        """Which spans stand in a process that is called after no device."""
        track = self._trace["spans"]["track"][row]
        tracks = unique_values(track)
        host = [not _is_device(self.of(one)) for one in tracks.tolist()]
        return np.array(host, np.bool_)[np.searchsorted(tracks, track)]

    def _rules(self, track: int, category: int) -> Any:
        """A role, or a list of rules; None where none fits."""
        place, strings = self.of(track, category), self._trace.strings
        unknown = category in self._unknown_category
        if not unknown and setting_name(place.category) in self._own:
            return None
        if unknown:
            pid = strings[int(self._trace["tracks"]["pid"][track])]
            keys = (place.process, place.label, place.thread, pid)
            names = map(setting_name, keys) if self._own else ()
            own = next((self._own[name] for name in names if name in self._own), None)
            if own is not None:
                return own
        rules = [rule for rule in self.profiler.rules if rule.fits(place)]
        if not rules and unknown and (self.profiler is not ANY or not place.category):
            place = replace(place, category="")
            rules = [rule for rule in self.profiler.rules if rule.fits(place)]
            rules = rules or [rule for rule in ANY.rules if rule.fits(place)]
        return rules or None

    def _by_name(self, name: Array, rules: Any) -> Array:
        if isinstance(rules, Role):
            return np.full(len(name), rules, np.int16)
        names, numbered = np.unique(name, return_inverse=True)
        roles = [_role_of_name(self._trace.strings[n], rules) for n in names.tolist()]
        return np.array(roles, np.int16)[numbered]

    def devices(self, row: Ints) -> Array:
        """The device of device work: the number in the name of its process, else a number that is
        free, in the order of the file; −1 where a process has neither name nor label, int32. ONNX
        Runtime names none, and has all work in one.
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
        named = place.process or place.label or self.profiler.name == ONNX_RUNTIME
        return number if number >= 0 else -2 if named else -1


def _is_device(place: EventOrigin) -> bool:
    bare = replace(place, category="")
    return "device" in place.process.lower() or any(rule.fits(bare) for rule in ANY.rules)


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
    collective = schema.COLLECTIVE_ARGS.empty()
    name, operators = renamed(trace, late, roles, row, strings)
    if places.profiler.name == TORCH_NPU:
        operators = _shapes_as_lists(trace, strings)
        roles, counted = collectives_once(trace, roles, link)
        collective = collective_args(trace, late, counted, strings)
    work = row[np.isin(roles[row], DEVICE_ROLES)]
    arguments = _device_args(trace, places, late, work)
    if places.profiler.name == UNITRACE:
        name, arguments = _launch_in_name(trace, work, arguments, strings)
    external = spans["external"]
    if places.profiler.name == ONNX_RUNTIME:
        external = tied_to_nodes(trace, roles)
    dur = _without_loss(spans, late, roles)
    tables = {
        **trace.tables,
        "spans": spans.replace(role=roles, correlation=link, external=external, name=name, dur=dur),
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
    for number in unique_values(late["task"][kernels]).tolist():
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


_SIZES = r"\{(\d{1,18}); ?(\d{1,18}); ?(\d{1,18})\}"
_TILE = r"(?:Tile #\d+: )?"
_KERNEL = regex(rf"{_TILE}(?P<name>.+)\[\w* ?{_SIZES} ?{_SIZES}\]", re.DOTALL | re.ASCII)
_COPY = regex(rf"{_TILE}(?P<name>.+)\[(\d{{1,18}})(?: bytes)?\]", re.DOTALL | re.ASCII)
_WHOLE = regex(rf"{_TILE}(?P<name>.+)", re.DOTALL)


def _launch_in_name(
    trace: Trace, work: Ints, arguments: Table, strings: StringBuilder
) -> tuple[Array, Table]:
    """The column ``name`` of spans with the bare names of device work, and its arguments with what
    the names said, as unitrace writes them. ``arguments``: ``device_args``, a row for each piece of ``work``.

    ::

        gemm<int[4]>[SIMD32 {64; 1; 1} {256; 1; 1}]      gemm<int[4]>, 64 groups of 256
        zeCommandListAppendMemoryCopy(M2D)[4096]         4096 bytes
        Tile #1: gemm[SIMD_ANY {64; 1; 1} {256; 1; 1}]   the half of it that one tile did

    Only the last pair of brackets is cut off, and only where it says that.
    """
    name = trace["spans"]["name"].copy()
    grid, block, size = (arguments[key].copy() for key in ("grid", "block", "bytes"))
    numbers, numbered = np.unique(name[work], return_inverse=True)
    for position, number in enumerate(numbers.tolist()):
        text = trace.strings[number]
        mine = np.flatnonzero(numbered == position)
        match = _KERNEL.fullmatch(text)
        if match is not None:
            sizes = [int(digits) for digits in match.groups()[1:]]
            grid[mine] = strings.intern(_json_list(map(str, sizes[:3])))
            block[mine] = strings.intern(_json_list(map(str, sizes[3:])))
        elif (match := _COPY.fullmatch(text)) is not None:
            size[mine] = int(match[2])
        else:
            match = _WHOLE.fullmatch(text)
        if match is not None:
            name[work[mine]] = strings.intern(match["name"])
    return name, arguments.replace(grid=grid, block=block, bytes=size)


_SHAPE = regex(r"\s*\[?\s*(?:\d{1,18}\s*(?:,\s*\d{1,18}\s*)*,?)?\s*\]?\s*", re.ASCII)
_NUMBER = regex(r"\d+", re.ASCII)
_LONGEST = 1 << 16


def _shapes_as_lists(trace: Trace, strings: StringBuilder) -> Table:
    """``operator_args`` with shapes and types as Kineto writes them; texts of another form than torch_npu's stay.

    ::

        "Input Dims": "64, 64;64, 64;"      [[64,64],[64,64],[]]
        "Input type": "float;float;Scalar"  ["float","float","Scalar"]
    """
    table = trace["operator_args"]
    return table.replace(
        dims=_each_text(trace, table["dims"], strings, shapes=True),
        types=_each_text(trace, table["types"], strings, shapes=False),
    )


def _each_text(trace: Trace, column: Array, strings: StringBuilder, *, shapes: bool) -> Array:
    numbers, numbered = np.unique(column, return_inverse=True)
    new = [
        number
        if (text := _list_of(trace.strings[number], shapes)) is None
        else strings.intern(text)
        for number in numbers.tolist()
    ]
    return np.array(new, column.dtype)[numbered]


def _list_of(written: str, shapes: bool) -> str | None:
    if not written.startswith('"') or len(written) > _LONGEST:
        return None
    try:
        parts = str(ANY_VALUE.decode(written)).split(";")
    except DECODE_ERRORS:
        return None
    if not shapes:
        return _json_list(f'"{_unquoted(part)}"' for part in parts)
    if not all(map(_SHAPE.fullmatch, parts)):
        return None
    return _json_list(_json_list(str(int(n)) for n in _NUMBER.findall(part)) for part in parts)


def _unquoted(part: str) -> str:
    return re.sub(r'[\x00-\x1f"\\]', "", part.strip())


def _json_list(parts: Iterable[str]) -> str:
    return f"[{','.join(parts)}]"
