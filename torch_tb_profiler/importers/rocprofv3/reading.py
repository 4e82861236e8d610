"""rocprofv3's ``results.json`` → ``Trace``.

::

    text ─▶ Window ─▶ processes (numbers of records) ─▶ Entries (of a Chrome trace) ─▶ decode_chunk ─▶ Gatherer ─▶ assemble ─▶ Trace
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from msgspec.structs import replace

from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.importers.assemble import assemble
from torch_tb_profiler.importers.chunks import decode_entries
from torch_tb_profiler.importers.gather import Gatherer
from torch_tb_profiler.importers.inferred_roles import placed
from torch_tb_profiler.importers.peeked_text import count_problem
from torch_tb_profiler.importers.rocprofv3 import ROCPROFV3
from torch_tb_profiler.importers.rocprofv3.entries import Entries
from torch_tb_profiler.importers.rocprofv3.records import processes
from torch_tb_profiler.importers.window import Progress, Text, Window
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.file_processes import FileProcess, stated_header
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import own_roles

BATCH = 1 << 14
"""Entries that are decoded at once."""


def read_rocprofv3(stream: Text, settings: Settings, progress: Progress | None = None) -> Trace:
    """Read a file of rocprofv3; see ``importers.read_trace``.

    Raises:
        NotATrace: it holds no process.
        SourceError: reading failed.
    """
    counts, own = DefectCounts(), own_roles(settings.categories)
    gathered = Gatherer(counts, own)
    entries, base, found = 0, None, False
    devices: dict[int, dict[str, Any]] = {}
    workers: list[Entries] = []
    for number, process in enumerate(processes(Window(stream, progress), counts)):
        found = True
        of_process = Entries(process, number)
        if base is None:
            base = of_process.first()
        for batch in _batches(of_process.texts(base or 0)):
            gathered.add(decode_entries(batch, counts), entries)
            entries += len(batch)
        gathered.metadata += of_process.metadata()
        devices |= {device["id"]: device for device in of_process.devices()}
        workers += [of_process] if of_process.streams else []
        for kind, count in process.other.items():
            counts.add(
                d.METRICS_NOT_READ if kind.endswith("counter_collection") else d.NOT_READ, count
            )
    count_problem(stream, counts)
    if not found:
        raise NotATrace(
            "The file of rocprofv3 holds no process.",
            "Record with rocprofv3 --sys-trace --output-format json.",
        )
    if not entries:
        counts.add(d.NO_EVENTS)
    header: dict[str, Any] = {ROCPROFV3: base or 0}
    if devices:
        header["deviceProperties"] = list(devices.values())
    trace = placed(assemble(gathered, header, entries + len(gathered.metadata)), own)
    return replace(trace, header=trace.header | _stated(trace, workers))


def _stated(trace: Trace, workers: Sequence[Entries]) -> dict[str, Any]:
    """The processes with device work, for the header."""
    tracks = trace["tracks"]
    of_stream = {place: i for i, worker in enumerate(workers) for place in worker.streams}
    of_process = {str(worker.pid): i for i, worker in reversed(list(enumerate(workers)))}
    places = zip(trace.strings.many(tracks["pid"]), trace.strings.many(tracks["tid"]), strict=True)
    owners = [of_stream.get(place, of_process.get(place[0], -1)) for place in places]
    return stated_header([FileProcess(worker.name) for worker in workers], owners)


def entries_at(stream: Text, trace: Trace, number: int) -> list[str]:
    """The entries of a row of ``chunks``, read again, as JSON.

    Raises:
        SourceError: reading failed.
    """
    counts, seen = DefectCounts(), 0
    for process_number, process in enumerate(processes(Window(stream), counts)):
        texts = Entries(process, process_number).texts(trace.header[ROCPROFV3])
        for batch in _batches(texts):
            if seen == number:
                return batch
            seen += 1
    return []


def _batches(texts: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(islice(texts, BATCH)):
        yield batch
