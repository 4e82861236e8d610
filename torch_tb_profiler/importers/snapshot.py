"""Memory snapshots of ``torch.cuda.memory._dump_snapshot`` → ``Trace``: allocator records and stacks.

::

    {"segments":      [{"device", "address", "total_size", "blocks": [{"address", "size", "requested_size", "state", "frames"}]}],
     "device_traces": [[{"action", "addr", "size", "stream", "time_us", "frames"}, ...], ...]}            one list per device

The segments are the exact state when the file was written, so totals are computed backwards from
it: reserved = Σ ``total_size`` less later changes, and the blocks that were alive before the first
record are known. Sizes are ``requested_size``; a block counts until ``free_completed``.

Source of the structure: the docstring of ``torch.cuda.memory._snapshot`` (2.13).
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.importers.memory_records import (
    MOST_BYTES,
    UNKNOWN_ACTION,
    UNUSABLE,
    Instants,
    MemoryTrack,
    Records,
    memory_trace,
    refuse_endless_sums,
    whole_numbers,
)
from torch_tb_profiler.importers.peeked_text import count_problem
from torch_tb_profiler.importers.plain_pickle import HINT, load
from torch_tb_profiler.importers.snapshot_segments import (
    FinalSegments,
    FinalState,
    category_of,
    is_within,
)
from torch_tb_profiler.importers.snapshot_stacks import Stacks
from torch_tb_profiler.importers.window import Progress, Text
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.defects import DefectCounts, Severity, declare
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.schema import MEMORY
from torch_tb_profiler.store.strings import NONE, StringBuilder

UNTIMED = declare(
    "memory_record_without_time",
    Severity.NOTICE,
    "A record of a memory snapshot has no time; it gets that of the previous record or, if none has"
    " any (PyTorch before 2.1), one microsecond more.",
)
DISAGREES = declare(
    "snapshot_disagrees",
    Severity.NOTICE,
    "A memory snapshot's records and its blocks disagree; the records are used.",
    "memory",
)
OTHER_ACTION = declare(
    "other_memory_action",
    Severity.INFO,
    "A record of a memory snapshot has an action that this version does not know; it is taken to"
    " change no sizes.",
)
ALLOC, FREE_REQUESTED, FREE, GROW, SHRINK, OOM, MARK, NOTE = range(1, 9)
_OTHER, _INVALID = 0, -1
_ACTIONS = {
    "alloc": ALLOC,
    "free_requested": FREE_REQUESTED,
    "free_completed": FREE,
    "segment_alloc": GROW,
    "segment_map": GROW,
    "segment_free": SHRINK,
    "segment_unmap": SHRINK,
    "oom": OOM,
    "snapshot": MARK,
    "annotate": NOTE,
    "workspace_snapshot": NOTE,
}
"""Notes say something about blocks and change nothing."""
_FIELDS = ("addr", "size", "stream", "time_us", "device_free")
_CUDA = 1
"""c10's device type; ROCm builds of PyTorch say the same."""
_MOST_FAILURES, _FAILED_FRAMES = 100, 64
"""Failed allocations that are kept with their stack, and its frames."""
_LATEST_US = (1 << 62) // 1000
_SETTING = regex(r"PYTORCH_([A-Z]+)_ALLOC_CONF\Z")


class _Batches(msgspec.Struct):
    """The records of one list of ``device_traces``, an array per thousand records."""

    parts: dict[str, list[Array]] = msgspec.field(
        default_factory=lambda: {name: [] for name in ("action", "frames", "category", *_FIELDS)}
    )

    @property
    def count(self) -> int:
        """Number of records, before they are joined."""
        return sum(map(len, self.parts["action"]))

    def columns(self) -> dict[str, Ints]:
        """One array per column, without free requests; ``position``: in the list.

        If no completion was recorded (``skip_actions``), the requests stand in for them.
        """
        action = _concatenated(self.parts.pop("action"))
        completed = bool((action == FREE).any())
        rows = np.flatnonzero(action != FREE_REQUESTED) if completed else np.arange(len(action))
        action = action[rows]
        columns = {"position": rows, "action": np.where(action == FREE_REQUESTED, FREE, action)}
        for name in list(self.parts):
            columns[name] = _concatenated(self.parts.pop(name))[rows]
        return columns


def _concatenated(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


class _RecordGatherer:
    """Turns records into columns while the pickle is read, and empties them to save memory."""

    def __init__(self, counts: DefectCounts, stacks: Stacks) -> None:
        self.counts, self.stacks = counts, stacks
        self._of_list: dict[int, tuple[list[Any], _Batches]] = {}

    def absorb(self, target: list[Any], items: list[Any]) -> list[Any]:
        first = items[0] if items else None
        if type(first) is not dict or "action" not in first:
            return items
        records = [e for e in items if type(e) is dict]
        self.counts.add(UNUSABLE, len(items) - len(records))
        _, batches = self._of_list.setdefault(id(target), (target, _Batches()))
        parts = batches.parts
        actions = [e.get("action") for e in records]
        codes = [_ACTIONS.get(a, _OTHER) if type(a) is str else _INVALID for a in actions]
        frames = [self.stacks.number(e.get("frames")) for e in records]
        told = [category_of(e.get("user_metadata")) for e in records]
        parts["action"].append(np.array(codes, np.int8))
        parts["category"].append(np.array(told, np.int8))
        parts["frames"].append(np.array(frames, np.int32))
        for name in _FIELDS:
            high = _LATEST_US if name == "time_us" else MOST_BYTES if name == "size" else 1 << 62
            parts[name].append(whole_numbers([e.get(name, -1) for e in records], high))
        for record in records:
            record.clear()
        return []

    def take(self, listed: object) -> _Batches:
        """The records of a list; returned once, however often the file names the list."""
        return self._of_list.pop(id(listed), ([], _Batches()))[1]


def read_snapshot(stream: Text, progress: Progress | None = None) -> Trace:
    """Read a memory snapshot; see ``importers.read_trace``.

    Raises:
        NotATrace: it is not a snapshot, is damaged or truncated, or contains code (which never runs).
        SourceError: reading failed.
    """
    counts, strings = DefectCounts(), StringBuilder()
    gatherer = _RecordGatherer(counts, Stacks(strings, counts))
    root = load(stream, gatherer.absorb, progress)
    count_problem(stream, counts)
    if type(root) is list and root and all(type(e) is dict and "blocks" in e for e in root):
        # What ``torch.cuda.memory_snapshot()`` returns: the segments alone.
        root = {"segments": root}
    if type(root) is not dict or not {"segments", "device_traces"} & root.keys():
        raise NotATrace(
            "The pickle holds no memory snapshot (a dict with segments and device_traces, or the"
            " segments alone).",
            HINT,
        )
    traces, segments = root.get("device_traces"), root.get("segments")
    final = FinalSegments(gatherer.stacks, strings, counts)
    ends = _final_states(segments if type(segments) is list else [], final)
    listed = [gatherer.take(records) for records in traces] if type(traces) is list else []
    parts, instants, streams = [], Instants(), dict[tuple[int, int], int]()
    first = 0
    for device in sorted({*range(len(listed)), *ends}):
        batches = listed[device] if device < len(listed) else _Batches()
        end, count = ends.get(device, FinalState()), batches.count
        parts.append(
            _device(device, batches.columns(), end, first, counts, streams, instants, strings)
        )
        first += count
    names = [column.name for column in MEMORY.columns]
    records = {name: _concatenated([part[name] for part in parts]) for name in names}
    tracks = [
        MemoryTrack(str(gpu), f"GPU {gpu}", str(number), f"stream {number}" if number >= 0 else "")
        for gpu, number in streams
    ]
    trace = memory_trace(records, instants, tracks, strings, counts, "snapshot", first)
    trace.tables.update(final.tables())
    trace.header["memory_backend"] = _backend(root.get("allocator_settings"))
    return trace


def _backend(settings: object) -> str:
    """Whose allocator wrote the file, by the names of its settings (``PYTORCH_NPU_ALLOC_CONF``); CUDA's and
    ROCm's are one.
    """
    names = list(settings) if type(settings) is dict else []
    found = (_SETTING.match(name) for name in names if type(name) is str)
    backends = {match[1].lower() for match in found if match}
    return next((one for one in ("npu", "xpu", "mtia") if one in backends), "cuda")


def _final_states(segments: list[Any], final: FinalSegments) -> dict[int, FinalState]:
    ends: dict[int, FinalState] = {}
    seen: set[int] = set()
    for segment in segments:
        blocks = segment.get("blocks") if type(segment) is dict else None
        # The file may reference one list a million times.
        if type(blocks) is not list or id(blocks) in seen:
            final.counts.add(UNUSABLE)
            continue
        seen.add(id(blocks))
        device, total = segment.get("device", 0), segment.get("total_size")
        if not is_within(device, 1 << 16) or not is_within(total, MOST_BYTES):
            final.counts.add(UNUSABLE)
            continue
        end = ends.setdefault(device, FinalState())
        end.reserved += total
        final.add(segment, blocks, end)
    return ends


def _times(microseconds: Ints, counts: DefectCounts) -> Ints:
    """Times in ns, ascending; missing ones are counted."""
    missing = microseconds < 0
    counts.add(UNTIMED, int(missing.sum()))
    if missing.all():
        return np.arange(len(microseconds), dtype=np.int64) * 1000
    known = np.where(missing, microseconds[~missing][0], microseconds)
    return np.asarray(np.maximum.accumulate(known) * 1000, np.int64)


def _device(
    device: int,
    columns: dict[str, Ints],
    end: FinalState,
    first: int,
    counts: DefectCounts,
    streams: dict[tuple[int, int], int],
    instants: Instants,
    strings: StringBuilder,
) -> Records:
    """The records of one device; ``first``: number of records of the devices before it."""
    action, size = columns["action"], columns["size"]
    time = _times(columns["time_us"], counts)
    counts.add(UNKNOWN_ACTION, int((action == _INVALID).sum()))
    counts.add(OTHER_ACTION, int((action == _OTHER).sum()))
    moves = np.isin(action, (ALLOC, FREE, GROW, SHRINK))
    counts.add(UNUSABLE, int((moves & (size < 0)).sum()))
    rows = np.flatnonzero(moves & (size >= 0))
    sign = np.isin(action, (ALLOC, GROW)).astype(np.int64) * 2 - 1
    change = (sign * np.maximum(size, 0))[rows]
    refuse_endless_sums(change)
    own = np.isin(action[rows], (ALLOC, FREE))
    addressed = own & (columns["addr"][rows] >= 0)
    old = _before(columns, rows[addressed], sign[rows][addressed] > 0, end, counts)
    refuse_endless_sums(old["size"])
    if not len(old["size"]) and end.reserved > int(change[~own].sum()):
        # Nothing was allocated before the first record, but segments were there.
        old = {name: np.full(1, -1) for name in old} | {"addr": np.zeros(1, np.int64)}
        old["size"] = np.zeros(1, np.int64)
    change_of_blocks = np.concatenate((old["size"], np.where(own, change, 0)))
    growth = np.concatenate((np.zeros_like(old["size"]), np.where(own, 0, change)))
    reserved = end.reserved - int(growth.sum()) + np.cumsum(growth)
    if len(reserved) and reserved.min() < 0:
        counts.add(DISAGREES)
        reserved = np.full(len(reserved), -1)
    stream = np.concatenate((old["stream"], columns["stream"][rows]))
    numbers, inverse = np.unique(stream, return_inverse=True)
    tracks = [streams.setdefault((device, s), len(streams)) for s in numbers.tolist()]
    _points(device, columns, time, first, streams, instants, strings)
    none = np.full(len(old["size"]), -1, np.int32)
    return {
        "time": np.concatenate((np.zeros(len(none), np.int64), time[rows])),
        "track": np.array(tracks, np.int32)[inverse],
        "device_type": np.full(len(stream), _CUDA, np.int32),
        "device": np.full(len(stream), device, np.int32),
        "address": np.concatenate((old["addr"], np.maximum(columns["addr"][rows], 0))),
        "bytes": change_of_blocks,
        "allocated": np.cumsum(change_of_blocks),
        "reserved": reserved,
        "frames": np.concatenate((old["frames"], columns["frames"][rows])),
        "category": np.concatenate((old["category"], columns["category"][rows])),
        "ordinal": np.concatenate((none, (first + columns["position"][rows]).astype(np.int32))),
    }


def _before(
    columns: dict[str, Ints], rows: Ints, gains: Mask, end: FinalState, counts: DefectCounts
) -> dict[str, Ints]:
    """Blocks alive before the first record: only released by records, or in use without a record."""
    address = columns["addr"][rows]
    order = np.argsort(address, kind="stable")
    ordered = address[order]
    change = ordered[1:] != ordered[:-1]
    edge = np.ones(min(len(order), 1), np.bool_)
    first, last = order[np.append(edge, change)], order[np.append(change, edge)]
    released = rows[first[~gains[first]]]
    address_held = whole_numbers(end.address, 1 << 62)
    size = whole_numbers(end.size, MOST_BYTES)
    known, gained = address[last], gains[last]
    recorded = np.isin(address_held, known)
    usable = (size >= 0) & (address_held >= 0)
    counts.add(UNUSABLE, int((~usable).sum()))
    counts.add(DISAGREES, int(np.isin(address_held, known[~gained]).sum()))
    if len(address_held):
        counts.add(DISAGREES, int((gained & ~np.isin(known, address_held)).sum()))
    silent = np.flatnonzero(usable & ~recorded)
    stream = whole_numbers(end.stream, 1 << 62)
    frames, none = np.array(end.frames, np.int32), np.full(len(released), NONE, np.int32)
    return {
        "addr": np.concatenate((columns["addr"][released], address_held[silent])),
        "size": np.concatenate((columns["size"][released], size[silent])),
        "stream": np.concatenate((columns["stream"][released], stream[silent])),
        "frames": np.concatenate((none, frames[silent])),
        "category": np.concatenate((none, np.array(end.category, np.int8)[silent])),
    }


def _points(
    device: int,
    columns: dict[str, Ints],
    time: Ints,
    first: int,
    streams: dict[tuple[int, int], int],
    instants: Instants,
    strings: StringBuilder,
) -> None:
    """Out-of-memory errors, named as in traces, and the times of snapshots."""
    for row in np.flatnonzero(np.isin(columns["action"], (OOM, MARK))).tolist():
        values: dict[str, Any] = {"Device Type": _CUDA, "Device Id": device}
        failed = columns["action"][row] == OOM
        for key, name in (("Bytes", "size"), ("Device Free", "device_free")):
            if failed and columns[name][row] >= 0:
                values[key] = int(columns[name][row])
        if failed and columns["frames"][row] >= 0 and len(instants.time) < _MOST_FAILURES:
            stack = strings.text(int(columns["frames"][row])).split("\n")
            values["Call stack"] = "\n".join(stack[:_FAILED_FRAMES])
        instants.time.append(int(time[row]))
        instants.track.append(
            streams.setdefault((device, int(columns["stream"][row])), len(streams))
        )
        instants.name.append("[OutOfMemory]" if failed else "memory snapshot")
        instants.args.append(json.dumps(values, separators=(",", ":")))
        instants.ordinal.append(first + int(columns["position"][row]))
