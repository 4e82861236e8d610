"""The tables of allocator records: devices, curve, calls and blocks.

::

    records ─┬─▶ origins (operator, module, line) ─┬─▶ memory_nodes, memory_curve
             ├─▶ pairs by address ─────────────────┴─▶ allocations
             └─▶ totals ─▶ memory_devices
"""

from __future__ import annotations

from itertools import pairwise

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, places_in, positions_of, sum_by
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.analysis.figures.source_lines import line_of_frames
from torch_tb_profiler.analysis.memory.blocks import Blocks, pair, shared_memory, totals
from torch_tb_profiler.analysis.memory.origins import Origins, origins
from torch_tb_profiler.analysis.memory.phases import (
    Phase,
    Phases,
    phases_of_spans,
    phases_of_stacks,
)
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.categories import BLOCK_CATEGORIES, CATEGORY_RULES
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table, unique_values
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.strings import StringBuilder

HOST = 0
"""c10's device type of the host."""
MOST_DEVICES = 256
"""The devices with the most records are kept."""
LARGEST = 1 << 48
"""256 TiB: larger records are invalid. The limit also keeps sums within 64 bits."""
_TABLES = (
    schema.MEMORY_DEVICES,
    schema.MEMORY_CURVE,
    schema.MEMORY_NODES,
    schema.ALLOCATIONS,
)


class Records(msgspec.Struct, frozen=True):
    """The trace's ``memory`` by (device, time); records from before the recording come first per
    device.

    device: row of ``memory_devices``.
    before: from before the recording.
    curve: row of ``memory_curve``, −1 for those before.
    first: rows that are no record but the state before the first one, at most one per device.
    """

    columns: dict[str, Array]
    types: Array
    ids: Array
    device: Ints
    before: Array
    curve: Ints
    first: Ints

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]


def build_memory(
    trace: Trace, facts: Facts, tables: dict[str, Table], texts: StringBuilder, tree: CallTree
) -> tuple[dict[str, Table], dict[str, object]]:
    """The tables; ``tables`` contains ``span_paths``.

    About: ``memory_source``; ``memory_lost_releases`` and ``memory_lost_allocations`` (see
    ``blocks.py``); ``memory_left_out``, records of too many devices or of impossible size;
    ``memory_begin_categories``, see ``_begin_categories``.
    """
    records = _records(trace)
    about: dict[str, object] = {
        "memory_source": "",
        "memory_left_out": trace["memory"].n - len(records.device) + len(records.first),
    }
    if not len(records.device):
        about |= {
            "memory_lost_releases": 0,
            "memory_lost_allocations": 0,
            "memory_begin_categories": [],
        }
        return {spec.name: spec.empty() for spec in _TABLES}, about
    own = np.flatnonzero(~records.before)
    origin = origins(trace, facts, tables, texts, tree, records["track"][own], records["time"][own])
    blocks = pair(records.device, records["address"], records["bytes"])
    devices, curve = _devices(records, blocks)
    source = trace.header.get("memory_source")
    category, rule = _categories(trace, facts, tables, records, blocks, origin)
    of_record = _of_records(records, blocks, category)
    curve = curve.replace(node=origin.node, path=origin.path, category=of_record[own])
    about |= {
        "memory_source": source if source in ("snapshot", "timeline") else "records",
        "memory_lost_releases": blocks.lost_releases,
        "memory_lost_allocations": blocks.lost_allocations,
        "memory_begin_categories": _begin_categories(records, blocks, of_record, devices["begin"]),
    }
    allocations = _allocations(trace, records, blocks, origin, texts).replace(
        category=category, rule=rule
    )
    allocations = allocations.take(
        np.lexsort((allocations["release"], allocations["record"], allocations["device"]))
    )
    built = (devices, curve, origin.nodes, allocations)
    return {table.spec.name: table for table in built}, about


def _records(trace: Trace) -> Records:
    memory = trace["memory"]
    rows = np.flatnonzero(np.abs(memory["bytes"].astype(np.float64)) <= LARGEST)
    first, group = group_rows((memory["device_type"][rows], memory["device"][rows]))
    most = np.sort(
        np.argsort(-np.bincount(group, minlength=len(first)), kind="stable")[:MOST_DEVICES]
    )
    types, ids = memory["device_type"][rows[first[most]]], memory["device"][rows[first[most]]]
    rank = np.lexsort((ids, types, types == HOST))
    rank_of_device = places_in(len(first), most[rank])
    device = rank_of_device[group]
    rows, device = rows[device >= 0], device[device >= 0]
    order = np.lexsort((memory["ordinal"][rows] >= 0, device))
    rows, device = rows[order], device[order]
    last = np.flatnonzero(memory["ordinal"][rows] < 0)
    last = last[np.append(np.diff(device[last]) > 0, True)[: len(last)]]
    rows, device = np.insert(rows, last + 1, rows[last]), np.insert(device, last + 1, device[last])
    first = last + 1 + np.arange(len(last))
    columns = {name: memory[name][rows] for name in memory}
    for name, value in (
        ("bytes", 0),
        ("address", 0),
        ("frames", -1),
        ("category", -1),
        ("ordinal", 0),
    ):
        columns[name][first] = value
    columns["allocated"] = np.where(columns["allocated"] <= LARGEST, columns["allocated"], -1)
    before = columns["ordinal"] < 0
    curve = np.where(before, -1, np.cumsum(~before) - 1)
    return Records(columns, types[rank], ids[rank], device, before, curve, first)


def _devices(records: Records, blocks: Blocks) -> tuple[Table, Table]:
    """``memory_devices``, and ``memory_curve`` without its origins."""
    n = len(records.types)
    size, stated = records["bytes"], records["allocated"]
    held = sum_by(records.device[records.before], n, size[records.before])
    unseen = blocks.end[(blocks.allocation < 0) & (blocks.begin < 0)]
    held -= sum_by(records.device[unseen], n, size[unseen])
    shared = (
        shared_memory(size, stated, blocks.allocation, np.where(blocks.releases, blocks.end, -1))
        & (records.types == HOST)[records.device]
    )
    own = np.flatnonzero(~records.before)
    bounds = np.searchsorted(records.device[own], np.arange(n + 1))
    rows: list[dict[str, int]] = []
    allocated = np.zeros(len(own), np.int64)
    reserved = np.where(shared[own], -1, records["reserved"][own])
    for number, (low, high) in enumerate(pairwise(bounds.tolist())):
        device_rows = own[low:high]
        device_totals = totals(
            size[device_rows], stated[device_rows], shared[device_rows], int(held[number])
        )
        allocated[low:high] = device_totals.allocated
        # The host's allocator reserves nothing ahead and writes 0, which means unknown.
        most = int(reserved[low:high].max(initial=-1))
        if most <= 0:
            reserved[low:high] = most = -1
        top = int(np.argmax(device_totals.allocated)) if high > low else -1
        peak = int(device_totals.allocated[top]) if high > low else device_totals.begin
        rows.append(
            {
                "begin": device_totals.begin,
                "end": device_totals.end,
                "peak": max(peak, device_totals.begin),
                "peak_reserved": most,
                "stated": device_totals.stated,
                "peak_time": int(records["time"][device_rows[top]])
                if peak > device_totals.begin
                else 0,
                "mismatched": device_totals.mismatched,
            }
        )
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    devices = schema.MEMORY_DEVICES.build(
        type=records.types,
        id=records.ids,
        records=np.diff(bounds) - np.bincount(records.device[records.first], minlength=n),
        **columns,
    )
    blank = np.full(len(own), -1)
    return devices, schema.MEMORY_CURVE.build(
        device=records.device[own],
        time=records["time"][own],
        bytes=size[own],
        allocated=allocated,
        reserved=reserved,
        node=blank,
        path=blank,
        category=records["category"][own],
    )


def _categories(
    trace: Trace,
    facts: Facts,
    tables: dict[str, Table],
    records: Records,
    blocks: Blocks,
    origin: Origins,
) -> tuple[Array, Array]:
    """Category and rule per block: as recorded, else by its life."""
    recorded = np.append(records["category"], -1)[blocks.allocation]
    if not len(recorded) or (recorded >= 0).all():
        return recorded, np.full(len(recorded), -1)
    if trace.header.get("memory_source") == "snapshot":
        # Of a release PyTorch may write the stack of the allocation.
        tells = np.ones(len(records.device), np.bool_)
        frames, pairs = records["frames"], (blocks.allocation >= 0) & blocks.releases
        released = blocks.end[pairs]
        tells[released] = frames[released] != frames[blocks.allocation[pairs]]
        phases = phases_of_stacks(trace.strings, frames, tells, records.before, records.device)
    else:
        own = np.cumsum(~records.before) - 1
        own[records.before] = -1
        inner, path = (np.append(values, -1)[own] for values in (origin.inner, origin.path))
        phases = phases_of_spans(trace, facts, tables, inner, path, records["time"])
    category, rule = _inferred(phases, blocks, records.device)
    return np.where(recorded >= 0, recorded, category), np.where(recorded >= 0, -1, rule)


def _of_records(records: Records, blocks: Blocks, category: Array) -> Array:
    """The category of each record: as written, else that of its block."""
    of_record: Array = records["category"].copy()
    for position, own in (
        (blocks.allocation, blocks.allocation >= 0),
        (blocks.end, blocks.releases),
    ):
        of_record[position[own]] = category[own]
    return of_record


def _allocations(
    trace: Trace, records: Records, blocks: Blocks, origin: Origins, texts: StringBuilder
) -> Table:
    """The table ``allocations``; a block's columns come from its allocation, else its release."""
    source = np.where(blocks.allocation >= 0, blocks.allocation, blocks.end)
    curve = np.append(records.curve, -1)
    record, release, allocation = (
        curve[position] for position in (blocks.begin, blocks.end, blocks.allocation)
    )
    time = np.append(records["time"][~records.before], -1)
    by = np.where(blocks.releases, release, -1)
    written = np.where(blocks.allocation >= 0, records["frames"][blocks.allocation], -1)
    frames, line = _frames(trace, written, texts)
    return schema.ALLOCATIONS.build(
        device=records.device[source],
        bytes=np.abs(records["bytes"][source]),
        begin=time[record],
        end=time[release],
        node=np.append(origin.node, -1)[allocation],
        released_by=np.append(origin.node, -1)[by],
        path=np.append(origin.path, -1)[allocation],
        record=record,
        release=release,
        line=np.where(line >= 0, line, np.append(origin.line, -1)[allocation]),
        frames=frames,
        category=np.full(len(source), -1),
        rule=np.full(len(source), -1),
        address=records["address"][source],
    )


def _frames(trace: Trace, numbers: Array, texts: StringBuilder) -> tuple[Ints, Ints]:
    """``(frames, line)``: insight strings of call stacks, and of the lines to show; −1 none."""
    used = unique_values(numbers[numbers >= 0])
    stacks = trace.strings.many(used)
    frames = np.array([*texts.intern_all(stacks), -1], np.int64)
    shown = map(line_of_frames, stacks)
    lines = np.array([*(texts.intern(line) if line else -1 for line in shown), -1], np.int64)
    position = positions_of(used, numbers)
    return frames[position], lines[position]


def _begin_categories(
    records: Records, blocks: Blocks, category: Array, begin: Array
) -> list[list[int]]:
    """Per device the bytes from before the recording: by category, of no known category, and those
    of no known block. Empty where no category is known.
    """
    if not (category >= 0).any():
        return []
    width = len(BLOCK_CATEGORIES) + 1
    unseen = blocks.end[(blocks.allocation < 0) & (blocks.begin < 0)]
    held = np.concatenate((np.flatnonzero(records.before), unseen))
    number = category[held].astype(np.int64)
    number = np.where((number >= 0) & (number < width - 1), number, width - 1)
    groups = records.device[held] * width + number
    size = np.where(records.before[held], 1, -1) * records["bytes"][held]
    sums = sum_by(groups, len(records.types) * width, size).reshape(-1, width)
    rest = np.maximum(begin - sums.sum(axis=1), 0)
    listed: list[list[int]] = np.column_stack((sums, rest)).tolist()
    return listed


def _inferred(phases: Phases, blocks: Blocks, device: Ints) -> tuple[Array, Array]:
    """``(category, rule)`` per block, positions in ``BLOCK_CATEGORIES`` and ``CATEGORY_RULES``; −1
    unknown. ``device``: of each record. Blocks whose allocation or release was lost stay unknown::

        forward  backward  optimizer  zero_grad        rule
        +      -                                       temporary
             +   -                                     activation
                  +                   -                gradient
                           +                           optimizer state
        + +-+- -                                       kept, temporary between
          +           …           -                    kept: released in a later step, or not at all
    """
    released = blocks.end >= 0
    whole = (blocks.allocation >= 0) & (blocks.releases | ~released)
    allocation = np.where(whole, blocks.allocation, 0)
    release = np.where(whole & released, blocks.end, allocation)
    run, last = phases.run[allocation], phases.last[allocation]
    until = np.where(released, phases.run[release], last + 1)

    def between(*wanted: Phase) -> Mask:
        """Whether a run of these phases begins in the block's life after its own run."""
        count = np.append(0, np.cumsum(np.isin(phases.of_run, wanted)))
        return np.asarray(count[np.minimum(until, last) + 1] > count[run + 1])

    phase = phases.phase[allocation]
    forward = phase == Phase.FORWARD
    again = np.select([phase == one for one in Phase], [between(one) for one in Phase], False)
    # One run is no phase: a recording without marks or steps does not tell one from another.
    told = (phase >= 0) & (len(phases.of_run) > 1)
    step, ends = phases.step[allocation], phases.step[release]
    later = released & (step >= 0) & (ends != step)
    ends_in_backward = np.append(phases.of_run, -1)[np.minimum(until, last)] == Phase.BACKWARD
    lives = (
        (phase == Phase.MODULE) & ~released,
        (phase == Phase.OPTIMIZER) & ~released & (last > run),
        (phase == Phase.BACKWARD) & between(Phase.OPTIMIZER, Phase.ZERO_GRAD),
        (phase == Phase.DATA) & (until > run),
        forward
        & released
        & ~phases.in_module[allocation]
        & phases.ahead[allocation]
        & ((until > run) | ~phases.ahead[release]),
        forward & released & ~later & (until > run) & ends_in_backward,
        forward & released & ~later & phases.in_module[allocation] & between(Phase.BACKWARD),
        forward & released & (until == run) & _to_the_end(blocks, run, forward & whole, device),
        told & (~released | later | ((step < 0) & again)),
        told & released & (until == run),
    )
    rule = np.select([whole & life for life in lives], range(len(lives)), -1).astype(np.int8)
    category_of = [BLOCK_CATEGORIES.index(category) for category, _ in CATEGORY_RULES]
    return np.array([*category_of, -1], np.int8)[rule], rule


def _to_the_end(blocks: Blocks, run: Ints, own: Mask, device: Ints) -> Mask:
    """Which blocks outlive the last allocation of their run, and a whole life of another block of it.

    ``own``: the blocks of the phase that have both ends, or none; ``device``: of each record.
    """
    allocation, release = blocks.allocation, blocks.end
    first, group = group_rows((run, np.append(device, -1)[allocation]))
    last = np.full(len(first), -1, np.int64)
    np.maximum.at(last, group[own], allocation[own])
    late = own & (release > last[group])
    between = own & (release >= 0) & ~late
    begun = np.full(len(last), -1, np.int64)
    np.maximum.at(begun, group[between], allocation[between])
    return np.asarray(late & (allocation < begun[group]))
