"""Tracks of a Perfetto trace → process and thread of each.

::

    7: process 42            8: thread 1 of process 42, parent 7          9: "loader", parent 8
                             events on 8: (42, 1)                         events on 9: (42, "loader")
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw

from torch_tb_profiler.importers.events import Args, Event
from torch_tb_profiler.patterns import regex

_DEEPEST = 64
"""Parents that are followed; no deeper tree was ever seen, and damage makes circles."""
_OVERHEAD = "Overhead"
"""The process under which PyTorch writes what the profiler itself costs."""
_STREAM = regex(r"stream 0*(\d{1,9})", re.ASCII)
_GPU_SORT = 1 << 24
"""As in Kineto: devices are listed below processes."""
_encode = msgspec.json.encode
Id = int | str


def text_of(data: bytes) -> str:
    """A text of a message, which need not be UTF-8."""
    return data.decode("utf-8", "replace")


def json_text(value: Any) -> str:
    """A value as JSON."""
    return _encode(value).decode()


class Counter(msgspec.Struct):
    """A counter track. ``scale`` turns a value into the unit; ``total``: of an incremental one."""

    name: str
    scale: int
    incremental: bool
    total: float = 0


class TrackThread(msgspec.Struct, frozen=True):
    """Where events of a track are drawn. ``json``: pid and tid as fields of an entry."""

    pid: Id
    tid: Id
    json: str
    is_overhead: bool = False


class TrackDescriptors:
    """What the descriptors of tracks say, and the place of every track that was used."""

    def __init__(self) -> None:
        self.counters: dict[int, Counter] = {}
        self._described: dict[int, Any] = {}
        self._names: dict[int, str] = {}
        self._processes: dict[int, str] = {}
        self._threads: dict[tuple[int, int], str] = {}
        self._labels: dict[tuple[Id, Id | None], dict[str, Any]] = {}
        """Metadata of GPUs and their queues, which no descriptor describes."""
        self._queues: dict[tuple[int, str], TrackThread] = {}
        self._taken: dict[tuple[Id, Id], int] = {}
        self._of: dict[int, TrackThread] = {}

    def describe(self, track: Any) -> None:
        """Take in a ``TrackDescriptor``."""
        uuid = track.uuid
        self._described[uuid] = track
        self._of.pop(uuid, None)
        name = text_of(track.name or track.static_name or track.atrace_name)
        if name:
            self._names[uuid] = name
        if track.HasField("process"):
            self.process(track.process)
        if track.HasField("thread"):
            self.thread(track.thread)
        if track.HasField("counter"):
            self._counter(uuid, track.counter)

    def process(self, process: Any) -> None:
        """Take in a ``ProcessDescriptor``."""
        name = process.process_name or (process.cmdline[0] if process.cmdline else b"")
        if name:
            self._processes[process.pid] = text_of(name)

    def thread(self, thread: Any) -> None:
        """Take in a ``ThreadDescriptor``."""
        if thread.thread_name:
            self._threads[thread.pid, thread.tid] = text_of(thread.thread_name)

    def _counter(self, uuid: int, counter: Any) -> None:
        unit = {1: "ns", 3: "bytes"}.get(counter.unit, text_of(counter.unit_name))
        name = self._names.get(uuid, f"track {uuid}")
        before = self.counters.get(uuid)
        self.counters[uuid] = Counter(
            f"{name} [{unit}]" if unit else name,
            counter.unit_multiplier or 1,
            counter.is_incremental,
            before.total if before else 0,
        )

    def counter(self, uuid: int) -> Counter:
        """The counter of a track; described or not."""
        found = self.counters.get(uuid)
        if found is None:
            name = self._names.get(uuid, f"track {uuid}")
            found = self.counters[uuid] = Counter(name, 1, False)
        return found

    def of(self, uuid: int) -> TrackThread:
        """The place of a track; the same whenever it is asked until the track is described anew."""
        place = self._of.get(uuid)
        if place is None:
            place = self._of[uuid] = self._found(uuid)
        return place

    def of_thread(self, pid: Id, tid: int) -> TrackThread:
        """The place of a thread."""
        return self._place(pid, tid)

    def process_of_file(self) -> Id:
        """The process that was described first; empty without any."""
        return next(iter(self._processes), "")

    def _found(self, uuid: int) -> TrackThread:
        own = self._described.get(uuid)
        if own is not None and own.HasField("thread"):
            return self._place(own.thread.pid, own.thread.tid)
        pid: Id = ""
        at, seen = own, 0
        while at is not None and seen < _DEEPEST:
            if at.HasField("process") or at.HasField("thread"):
                pid = at.process.pid if at.HasField("process") else at.thread.pid
                break
            at, seen = self._described.get(at.parent_uuid) if at.parent_uuid else None, seen + 1
        label = self._names.get(uuid) or (f"track {uuid}" if uuid else "")
        tid, number = label, 1
        while self._taken.setdefault((pid, tid), uuid) != uuid:
            number += 1
            tid = f"{label} ({number})"
        return self._place(pid, tid)

    def _place(self, pid: Id, tid: Id) -> TrackThread:
        json = f'"pid":{json_text(pid)},"tid":{json_text(tid)}'
        overhead = isinstance(pid, int) and self._processes.get(pid) == _OVERHEAD
        return TrackThread(pid, tid, json, overhead)

    def of_gpu(self, gpu: int) -> TrackThread:
        """The place of what concerns a whole GPU."""
        return self._queue(gpu, "")

    def of_queue(self, gpu: int, queue: str) -> TrackThread:
        """The place of a queue of a GPU: its stream, as in Chrome traces, where the name says so."""
        place = self._queues.get((gpu, queue))
        if place is None:
            place = self._queues[gpu, queue] = self._queue(gpu, queue)
        return place

    def _queue(self, gpu: int, queue: str) -> TrackThread:
        match = _STREAM.fullmatch(queue)
        tid: Id = int(match[1]) if match else queue
        if queue:
            self._labels[gpu, tid] = {"thread_name": f"stream {match[1]}" if match else queue}
        self._labels[gpu, None] = {
            "process_labels": f"GPU {gpu}",
            "process_sort_index": _GPU_SORT + gpu,
        }
        return self._place(gpu, tid)

    def metadata(self) -> list[Event]:
        """Names of processes and threads as Chrome's metadata events."""
        events = [_named("process_name", pid, None, name) for pid, name in self._processes.items()]
        events += [
            _named("thread_name", pid, tid, name) for (pid, tid), name in self._threads.items()
        ]
        for (pid, tid), named in self._labels.items():
            events += [_named(what, pid, tid, value) for what, value in named.items()]
        return events


_KEYS = {
    "process_labels": "labels",
    "process_sort_index": "sort_index",
    "thread_sort_index": "sort_index",
}


def _named(what: str, pid: Id, tid: Id | None, value: Any) -> Event:
    args = Args()
    setattr(args, _KEYS.get(what, "label"), Raw(_encode(value)))
    return Event(ph="M", name=what, pid=pid, tid=tid, args=args)
