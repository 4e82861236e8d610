"""Walk through ``results.json`` and decode what is kept of it, some thousand records at a time.

::

    {"rocprofiler-sdk-tool": [{"metadata": …, "agents": …, "strings": …, "kernel_symbols": …,
                               "buffer_records": {"kernel_dispatch": [{…}, {…}], "hip_api": […]}}, …]}      one object per process

The keys may come in any order, so records are kept as numbers until the names behind them are known.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from torch_tb_profiler.importers.brackets import brackets
from torch_tb_profiler.importers.events import DECODE_ERRORS, RAWS
from torch_tb_profiler.importers.rocprofv3 import TOOL
from torch_tb_profiler.importers.window import Window
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.defects import DefectCounts

T = TypeVar("T")
CHUNK_BYTES = 4 << 20
LARGEST_RECORD = 64 << 20
"""A record of more bytes ends the reading; they have about 700."""
LARGEST_VALUE = 256 << 20
"""What is said once of a process, such as the names of its kernels."""
UNKNOWN = -1
KERNELS = "kernel_dispatch"
_DESCRIBED = ("metadata", "agents", "strings", "kernel_symbols")
_LARGEST = 1 << 62


class Handle(msgspec.Struct, gc=False, frozen=True):
    """The number of an agent, queue or stream."""

    handle: int = UNKNOWN


class Sizes(msgspec.Struct, gc=False, frozen=True):
    """A size in three dimensions."""

    x: int = UNKNOWN
    y: int = 1
    z: int = 1


class Correlation(msgspec.Struct, gc=False, frozen=True):
    """What ties a launch to its work."""

    internal: int = UNKNOWN


class Dispatch(msgspec.Struct, gc=False, frozen=True):
    """What was launched; ``grid_size`` counts work items."""

    agent_id: Handle = Handle()
    queue_id: Handle = Handle()
    kernel_id: int = UNKNOWN
    group_segment_size: int = UNKNOWN
    workgroup_size: Sizes = Sizes()
    grid_size: Sizes = Sizes()


_NO_HANDLE, _NO_CORRELATION, _NO_DISPATCH = Handle(), Correlation(), Dispatch()


class Record(msgspec.Struct, gc=False, frozen=True):
    """One record of any kind; times in ns."""

    kind: int = UNKNOWN
    operation: int = UNKNOWN
    thread_id: int = UNKNOWN
    correlation_id: Correlation = _NO_CORRELATION
    start_timestamp: int = UNKNOWN
    end_timestamp: int = UNKNOWN
    dispatch_info: Dispatch = _NO_DISPATCH
    stream_id: Handle = _NO_HANDLE
    dst_agent_id: Handle = _NO_HANDLE
    src_agent_id: Handle = _NO_HANDLE
    bytes: int = UNKNOWN


class Counted(msgspec.Struct, gc=False, frozen=True):
    """A kernel whose counters were collected, which is not among the kernels if only they were asked for."""

    dispatch_data: Record = Record()


COLUMNS = (
    "kind", "operation", "thread", "correlation", "start", "end", "agent", "queue", "kernel", "stream",
    "destination", "source", "bytes", "shared", "group_x", "group_y", "group_z", "items_x", "items_y", "items_z",
)  # fmt: skip
"""The numbers of a record, in the order in which ``Process.records`` has them."""
_RECORDS = msgspec.json.Decoder(list[Record])
_RECORD = msgspec.json.Decoder(Record)
_COUNTED = msgspec.json.Decoder(list[Counted])
_ANY = msgspec.json.Decoder(Any)


class Process(msgspec.Struct):
    """What a file holds of one process.

    Attributes:
        described: the values of ``metadata``, ``agents``, ``strings``, ``kernel_symbols``, as written.
        records: of each kind of record, ``COLUMNS`` of one after the other.
        counted: the same of kernels whose counters were collected.
        other: kinds of records that are not read, and how many there are.
    """

    described: dict[str, Any] = msgspec.field(default_factory=dict)
    records: dict[str, array[int]] = msgspec.field(
        default_factory=lambda: defaultdict(lambda: array("q"))
    )
    counted: array[int] = msgspec.field(default_factory=lambda: array("q"))
    other: dict[str, int] = msgspec.field(default_factory=lambda: defaultdict(int))


def processes(window: Window, counts: DefectCounts) -> Iterator[Process]:
    """The processes of a file, up to its end or to damage that cannot be passed, which is counted."""
    yield from _Walk(window, counts).processes()


class _Walk:
    def __init__(self, window: Window, counts: DefectCounts) -> None:
        self._window, self._counts = window, counts
        self._ended = False
        """Whether the file ended, or was damaged, where more had to follow."""

    def processes(self) -> Iterator[Process]:
        for key in self._keys():
            if key != TOOL:
                self._value(0)
                continue
            for _ in self._items():
                process = Process()
                self._process(process)
                yield process

    def _process(self, process: Process) -> None:
        for key in self._keys():
            if key in _DESCRIBED:
                process.described[key] = self._value(LARGEST_VALUE)
            elif key == "buffer_records":
                for kind in self._keys():
                    self._records(kind, process)
            elif key == "callback_records":
                for kind in self._keys():
                    self._callback_records(kind, process)
            else:
                self._value(0)
        if not process.records.get(KERNELS) and process.counted:
            process.records[KERNELS] = process.counted

    def _callback_records(self, kind: str, process: Process) -> None:
        if kind != "counter_collection":
            process.other[kind] += sum(map(len, self._lists()))
            return
        known: set[int] = set()
        for chunk in self._chunks():
            try:
                listed = _COUNTED.decode(chunk)
            except DECODE_ERRORS:
                self._counts.add(d.UNPARSABLE)
                continue
            process.other[kind] += len(listed)
            for record in listed:
                numbers = _numbers(record.dispatch_data)
                # Counters that do not fit into one pass have a record per pass.
                if hash(numbers) not in known:
                    known.add(hash(numbers))
                    process.counted.extend(numbers)

    def _records(self, kind: str, process: Process) -> None:
        if kind.startswith("pc_sample"):
            process.other[kind] += sum(map(len, self._lists()))
            return
        into = process.records[kind]
        for chunk in self._chunks():
            for record in self._decoded(chunk):
                into.extend(_numbers(record))

    def _lists(self) -> Iterator[list[Any]]:
        for chunk in self._chunks():
            try:
                yield RAWS.decode(chunk)
            except DECODE_ERRORS:
                self._counts.add(d.UNPARSABLE)

    def _decoded(self, chunk: bytes) -> list[Record]:
        try:
            return _RECORDS.decode(chunk)
        except DECODE_ERRORS:
            pass
        try:
            pieces = RAWS.decode(chunk)
        except DECODE_ERRORS:
            self._counts.add(d.UNPARSABLE)
            return []
        found = []
        for piece in pieces:
            try:
                found.append(_RECORD.decode(piece))
            except DECODE_ERRORS:
                self._counts.add(d.UNPARSABLE)
        return found

    def _value(self, limit: int) -> Any:
        """A value, None if it is longer than ``limit`` or damaged."""
        text, whole = self._window.value(limit)
        if not whole:
            self._end()
        if not limit or text is None:
            return None
        try:
            return _ANY.decode(text)
        except DECODE_ERRORS:
            pass
        try:
            value = _ANY.decode(text.decode("utf-8", "replace"))
        except DECODE_ERRORS:
            self._counts.add(d.HEADER_LOST)
            return None
        self._counts.add(d.BAD_UTF8)
        return value

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self._counts.add(d.TRUNCATED)

    def _enter(self, opening: bytes) -> bool:
        """Take an opening bracket; a value of another kind is passed."""
        if self._window.skip_space() == opening:
            self._window.advance(1)
            return True
        self._value(0)
        return False

    def _keys(self) -> Iterator[str]:
        """The keys of an object; the value of each is to be taken before the next one is asked for."""
        if not self._enter(b"{"):
            return
        while not self._ended:
            first = self._window.skip_space(b",")
            if first == b"}":
                self._window.advance(1)
                return
            key = self._window.string() if first == b'"' else None
            if key is None or self._window.skip_space() != b":":
                self._end()
                return
            self._window.advance(1)
            yield key[1:-1].decode("utf-8", "replace")

    def _items(self) -> Iterator[None]:
        """The objects of a list; each is to be taken before the next one is asked for."""
        if not self._enter(b"["):
            return
        while not self._ended:
            first = self._window.skip_space(b",")
            if first == b"]":
                self._window.advance(1)
                return
            if not first:
                self._end()
                return
            yield

    def _chunks(self) -> Iterator[bytes]:
        """The items of a list, many at a time, as lists."""
        if not self._enter(b"["):
            return
        window, want = self._window, CHUNK_BYTES
        while not self._ended:
            if window.skip_space(b",") == b"]":
                window.advance(1)
                return
            window.fill(want)
            found = brackets(window.buffer, 0, len(window.buffer))
            closed = found.at[found.depth < 0]
            between = found.at[found.depth == 0]
            if len(closed):
                # The list ends before other brackets of depth 0.
                end = int(closed[0])
                yield b"[" + window.buffer[:end] + b"]"
                window.advance(end + 1)
                return
            if len(between):
                end = int(between[-1]) + 1
                yield b"[" + window.buffer[:end] + b"]"
                window.advance(end)
                want = CHUNK_BYTES
            elif window.ended or want > LARGEST_RECORD:
                self._end()
            else:
                want *= 2


def _numbers(record: Record) -> tuple[int, ...]:
    dispatch = record.dispatch_info
    group, items = dispatch.workgroup_size, dispatch.grid_size
    numbers = (
        record.kind, record.operation, record.thread_id, record.correlation_id.internal,
        record.start_timestamp, record.end_timestamp, dispatch.agent_id.handle, dispatch.queue_id.handle, dispatch.kernel_id,
        record.stream_id.handle, record.dst_agent_id.handle, record.src_agent_id.handle, record.bytes, dispatch.group_segment_size,
        group.x, group.y, group.z, items.x, items.y, items.z,
    )  # fmt: skip
    if max(numbers) < _LARGEST and min(numbers) >= UNKNOWN:
        return numbers
    # Numbers of 64 bits stand for none: the handle of no stream has all of them set.
    return tuple(number if UNKNOWN <= number < _LARGEST else UNKNOWN for number in numbers)
