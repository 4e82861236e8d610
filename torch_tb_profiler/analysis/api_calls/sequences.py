"""Kernels that follow each other again and again.

Anywhere: of each stream the kernels in the order of their begin. Of the runs of 3 to ``longest`` kernels the one with the
most device time comes first, the next ones are counted in what is left of the kernels, so none counts twice::

    stream   a b c d x a b c d e f g y e f g       a b c d ×2, e f g ×2

What is always part of the same longer run is none, nor what only repeats a shorter one (a b a b).

Beneath an operator: of each of its outermost calls all kernels that it launched, in the order of their launches.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.api_calls.launches import Launches
from torch_tb_profiler.analysis.arrays.grouping import expand_ranges, group_rows, mask_of, sum_by
from torch_tb_profiler.analysis.facts.devices import device_of
from torch_tb_profiler.analysis.facts.host_names import named
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.hardware.kernel_names import short_name
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

SHORTEST, LONGEST = 3, 8
"""Kernels of a sequence, at least, and at most where nobody chooses another number."""
MOST = 50
"""Sequences that are listed."""
NAMED = 12
"""Kernels of a sequence whose names are listed."""
_BASE = np.uint64(0x9E3779B97F4A7C15)

_C = DisplayColumn
SEQUENCES = DisplaySpec(
    "kernel_sequences",
    "One row per sequence of kernels that ran more than once, the most device time first.",
    (
        _C("sequence", "code", "Kernels", "Their names in order, joined by ` → `; of more than 12 the first ones.", "sequence_kernels", width=420),
        _C("length", "count", "Length", "Kernels in it.", "sequence_length", unit="kernels"),
        _C("count", "count", "Count", "How often it ran.", "sequence_count", unit="sequences"),
        _C("device_ns", "time", "{Device}", "Durations of its kernels, summed over all.", "sequence_device", bar=True),
        _C("gaps_ns", "time", "Gaps", "Time between its kernels in which none of them ran, summed over all.", "sequence_gaps"),
        _C("host_ns", "time", "Operator", "Host time of the operator's calls; missing without one.", "sequence_host", True),
        _C("event", "row", "", "The first kernel of the one that took longest."),
    ),
)  # fmt: skip


class _Found(msgspec.Struct, frozen=True):
    """A sequence: where in the order each of its runs begins."""

    length: int
    begins: Ints
    host: int = -1


def sequence_table(
    trace: Trace,
    facts: Facts,
    launches: Launches,
    longest: int = LONGEST,
    operator: str = "",
) -> DisplayTable:
    """Kernels that follow each other again and again. ``operator``: a part of an operator's name; empty: sequences of streams."""
    if operator:
        order, found = _beneath(trace, facts, launches, operator)
    else:
        order, found = _on_streams(trace, launches, longest)
    start = launches.start[order]
    end = start + launches.dur[order]
    total = np.concatenate(([0], np.cumsum(launches.dur[order])))
    names = launches.name[order]
    if not operator:
        found = _shared_out(found, total, names)
    device = [_device(one, total) for one in found]
    kept = sorted(range(len(found)), key=lambda i: -device[i])[:MOST]
    rows = [found[i] for i in kept]
    events, gaps = [], []
    for one in rows:
        busy = total[one.begins + one.length] - total[one.begins]
        events.append(int(launches.work[order[one.begins[busy.argmax()]]]))
        gaps.append(_gaps(start, end, one))
    return SEQUENCES.build(
        trace.strings,
        sequence=[_text(trace, names[f.begins[0] : f.begins[0] + f.length]) for f in rows],
        length=np.array([f.length for f in rows], np.int64),
        count=np.array([len(f.begins) for f in rows], np.int64),
        device_ns=np.array([device[i] for i in kept], np.int64),
        gaps_ns=np.array(gaps, np.int64),
        host_ns=np.array([f.host for f in rows], np.int64),
        event=np.array(events, np.int64),
    )


def _device(one: _Found, total: Ints) -> int:
    return int((total[one.begins + one.length] - total[one.begins]).sum())


def _shared_out(found: list[_Found], total: Ints, names: Ints) -> list[_Found]:
    """The sequences with the most device time, each with the runs whose kernels no earlier one has."""
    taken = np.zeros(len(names), np.bool_)
    kept: list[_Found] = []
    for one in sorted(found, key=lambda one: (-_device(one, total), -one.length)):
        if len(kept) == MOST:
            break
        kernels = one.begins[:, None] + np.arange(one.length)
        free = one.begins[~taken[kernels].any(axis=1)]
        if len(free) < 2 or _repeats(names[free[0] : free[0] + one.length]):
            continue
        kept.append(_Found(one.length, free))
        taken[free[:, None] + np.arange(one.length)] = True
    return kept


def _repeats(names: Ints) -> bool:
    """Whether a sequence is a shorter one several times."""
    n = len(names)
    return any(
        n % period == 0 and (names[period:] == names[:-period]).all() for period in range(1, n)
    )


def _text(trace: Trace, names: Ints) -> str:
    texts = [short_name(trace.strings[number]) for number in names[:NAMED].tolist()]
    more = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
    return " → ".join(texts + more)


def _gaps(start: Ints, end: Ints, one: _Found) -> int:
    """Time between its kernels, where they do not run at once."""
    gaps = 0
    reached = end[one.begins]
    for offset in range(1, one.length):
        gaps += int(np.maximum(start[one.begins + offset] - reached, 0).sum())
        reached = np.maximum(reached, end[one.begins + offset])
    return gaps


def _on_streams(trace: Trace, launches: Launches, longest: int) -> tuple[Ints, list[_Found]]:
    rows = np.flatnonzero(launches.kernel & launches.selected)
    work = launches.work[rows]
    stream = device_arguments(trace, work, ("stream",))["stream"]
    _, lane = group_rows([device_of(trace, work), stream, trace["spans"]["track"][work]])
    order = rows[np.argsort(lane, kind="stable")]
    lane = np.sort(lane, kind="stable")
    _, token = group_rows([launches.name[order]])
    found: list[_Found] = []
    shorter: tuple[Ints, Ints] | None = None
    ids, length = token, 1
    while length < longest and len(ids) > 1:
        same = lane[: len(token) - length] == lane[length:]
        if not same.any():
            break
        ids = ids[: len(token) - length]
        _, longer = group_rows([np.where(same, ids, -1), np.where(same, token[length:], -1)])
        # What would cross the end of a stream is of no group.
        longer = np.where(same, longer, -1)
        count = np.bincount(longer[same], minlength=int(longer.max()) + 1)
        if shorter is not None and length >= SHORTEST:
            found += _closed(length, *shorter, longer, count)
        ids, length, shorter = longer, length + 1, (longer, count)
        if count.max() < 2:
            break
    if shorter is not None and length >= SHORTEST:
        found += _closed(length, *shorter, np.full(0, -1, np.int64), np.zeros(1, np.int64))
    return order, found


def _closed(length: int, ids: Ints, count: Ints, longer: Ints, longer_count: Ints) -> list[_Found]:
    """The sequences of a length that ran more than once and are not always part of one longer one."""
    first = np.full(len(count), -1, np.int64)
    known = np.flatnonzero(ids >= 0)[::-1]
    first[ids[known]] = known
    often = np.flatnonzero((count > 1) & (first >= 0))
    at = first[often]
    padded = np.append(longer, np.full(len(ids) - len(longer) + 1, -1))
    sizes = np.append(longer_count, 0)
    after, before = padded[at], np.where(at > 0, padded[at - 1], -1)
    alone = (sizes[after] < count[often]) & (sizes[before] < count[often])
    often = often[alone]
    often = often[np.argsort(-count[often], kind="stable")][: 20 * MOST]
    wanted = np.full(len(count) + 1, -1, np.int64)
    wanted[often] = np.arange(len(often))
    places = np.flatnonzero((ids >= 0) & (wanted[ids] >= 0))
    places = places[np.argsort(wanted[ids[places]], kind="stable")]
    edges = np.cumsum(np.append(0, count[often]))
    runs = [
        _apart(places[begin:end], length)
        for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    ]
    return [_Found(length, begins) for begins in runs if len(begins) > 1]


def _apart(places: Ints, length: int) -> Ints:
    """From the first on, those that begin after the one before has ended."""
    if (np.diff(places) >= length).all():
        return places
    kept, free = [], -1
    for place in places.tolist():
        if place >= free:
            kept.append(place)
            free = place + length
    return np.array(kept, np.int64)


def _beneath(
    trace: Trace, facts: Facts, launches: Launches, operator: str
) -> tuple[Ints, list[_Found]]:
    spans = trace["spans"]
    rows = np.flatnonzero(launches.kernel & launches.selected & (launches.launch >= 0))
    root = _roots(trace, facts, operator)[launches.launch[rows]]
    rows, root = rows[root >= 0], root[root >= 0]
    order = np.lexsort((rows, launches.called[rows], root))
    rows, root = rows[order], root[order]
    if not len(rows):
        return rows, []
    begin = np.flatnonzero(np.append(True, root[1:] != root[:-1]))
    size = np.diff(np.append(begin, len(rows)))
    place = expand_ranges(np.zeros(len(size), np.int64), size)
    key = _hashed(launches.name[rows], place, begin)
    _, group = group_rows([key.view(np.int64) >> 1, size])
    host = sum_by(group, int(group.max()) + 1, spans["dur"][root[begin]])
    found = [
        _Found(int(size[own[0]]), begin[own], int(host[number]))
        for number, own in enumerate(
            np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])
        )
        if len(own) > 1 and size[own[0]] >= SHORTEST
    ]
    return rows, found


def _roots(trace: Trace, facts: Facts, operator: str) -> Ints:
    """Of each span the outermost operator or annotation around it whose name holds a text; −1 none."""
    spans, parent = trace["spans"], facts["span_links"]["parent"]
    role = spans["role"]
    hosts = np.flatnonzero((role == Role.OPERATOR) | (role == Role.ANNOTATION))
    root = np.full(len(role) + 1, -1, np.int64)
    is_root = mask_of(len(role) + 1, hosts[named(trace, hosts, lambda text: operator in text)])
    # Parents are pointed past until nothing changes: as often as the logarithm of the depth.
    above = np.append(parent.astype(np.int64), -1)
    best = np.where(is_root, np.arange(len(is_root)), -1)
    while (above >= 0).any():
        higher = best[above]
        best = np.where(higher >= 0, higher, best)
        above = np.where(above >= 0, above[above], -1)
    root[:] = best
    return root[:-1]


def _hashed(names: Ints, place: Ints, begin: Ints) -> Array:
    """A number for the names of each run of rows, in their order; equal runs have equal numbers, others differ but for
    one in 2^63 pairs.
    """
    with np.errstate(over="ignore"):
        mixed = (names.astype(np.uint64) + np.uint64(1)) * np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(32)
        mixed *= np.uint64(0xD6E8FEB86659FD93)
        power = np.multiply.accumulate(np.full(int(place.max()) + 1, _BASE))
        return np.add.reduceat(mixed * power[place], begin)
