"""One import, from a place to a sidecar file. Runs in a worker process, or in this one for the
API and the CLI.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec
from msgspec.structs import asdict, replace

from torch_tb_profiler.errors import NotATrace, SourceError
from torch_tb_profiler.runs.merged_files import ranks_of_parts
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import capture_files, sniff
from torch_tb_profiler.sources.ascend_folder import told_by_folder
from torch_tb_profiler.sources.listing import captures_beside
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.streams import TextStream, open_text
from torch_tb_profiler.store import defects
from torch_tb_profiler.store.summary import WorkloadKind

if TYPE_CHECKING:
    from torch_tb_profiler.store.model import Facts, SourceFile, Trace

Report = Callable[[int, "int | None"], None]
"""Called with (bytes read, bytes in all or None)."""

REPORTS_PER_SECOND = 10
_LEFT_OUT = (
    defects.UNPARSABLE,
    defects.DAMAGED_PACKET,
    defects.NOT_AN_EVENT,
    defects.NO_TIME,
    defects.UNMATCHED_BEGIN,
    defects.UNMATCHED_END,
    defects.FAR_EVENT,
    defects.UNREAL_TIME,
    defects.DUPLICATE,
    defects.UNKNOWN_PHASE,
)


class Outcome(msgspec.Struct, frozen=True):
    """The small facts of an import that the catalogue shows without opening the trace.

    ``events``: entries of ``traceEvents``; ``lost``: those that could not be used; ``defects``:
        counts by name; ``identity``: of the file that was read, ``""`` unknown. ``begin``, ``end``: Unix time of its first and
        last event, ns. ``kind``: of recorded work, empty unknown. ``part``, ``parts``, ``work``:
        as in ``Facts.summary``. ``collectives``: of ``shared_sample``.
    """

    events: int
    lost: int
    rank: int | None
    world_size: int | None
    synthetic: bool
    defects: dict[str, int] = msgspec.field(default_factory=dict)
    identity: str = ""
    begin: int | None = None
    end: int | None = None
    kind: str = ""
    part: str = ""
    parts: list[str] = msgspec.field(default_factory=list)
    work: list[int] = msgspec.field(default_factory=list)
    collectives: list[list[int]] = msgspec.field(default_factory=list)


def outcome_of(trace: Trace, facts: Facts) -> Outcome:
    """The small facts of an imported trace."""
    from torch_tb_profiler.analysis.facts.header import unix_begin

    summary, begin = facts.summary, unix_begin(trace)
    kind = summary.workload.kind
    return Outcome(
        trace.entries,
        sum(trace.defects[name] for name in _LEFT_OUT),
        summary.rank,
        summary.world_size,
        summary.synthetic,
        facts.defects.as_dict(),
        trace.source.identity if trace.source else "",
        begin,
        None if begin is None else begin + summary.span_ns,
        kind="" if kind == WorkloadKind.UNKNOWN else kind.value,
        part=summary.part,
        parts=list(summary.parts),
        work=list(summary.work),
        collectives=[list(one) for one in summary.collectives],
    )


def read(place: Place, settings: Settings, report: Report | None = None) -> tuple[Trace, Facts]:
    """Import a file into memory; of one that several ranks were merged into, the rank that the
    place names, else the first.

    Raises:
        NotATrace: its content is none; the reason is in the message.
        SourceError: it could not be read.
    """
    return next(read_parts(place, settings, report))


def read_parts(
    place: Place, settings: Settings, report: Report | None = None
) -> Iterator[tuple[Trace, Facts]]:
    """Import each rank of a file, of most files one; only that which the place names.

    Raises:
        NotATrace, SourceError: as ``read``.
    """
    file, wanted = place.file, place.part
    trace = _whole(file, settings, report)
    from torch_tb_profiler.analysis.distributed.shared_sample import (
        samples_of_processes,
        shared_sample,
    )
    from torch_tb_profiler.analysis.facts.derive import derive
    from torch_tb_profiler.analysis.facts.header import distributed_info, integer
    from torch_tb_profiler.analysis.facts.rank_parts import rank_parts

    info, found, samples = distributed_info(trace), False, samples_of_processes(trace)
    ranks = integer(info.get("rank")), integer(info.get("world_size"))
    for number, part in enumerate(rank_parts(trace)):
        if wanted in ("", part.name):
            found = True
            own = _named_by_captures(part.trace, file, settings)
            facts = derive(own, part.name, part.names)
            stated = integer(distributed_info(own).get("rank"))
            rank = ranks_of_parts(part.names, *ranks)[number] if stated is None else stated
            sample = shared_sample(own, facts) or samples.get(part.name, ())
            yield own, replace(facts, summary=replace(facts.summary, rank=rank, collectives=sample))
    if found:
        return
    if wanted:
        raise SourceError(f"The file holds no rank {wanted!r} any more.", "Read it again.")
    trace = _told_beside(_named_by_captures(trace, file, settings), file)
    facts = derive(trace)
    sample = shared_sample(trace, facts)
    yield trace, replace(facts, summary=replace(facts.summary, collectives=sample))


def _whole(place: Place, settings: Settings, report: Report | None) -> Trace:
    """The trace of a file, whatever ranks it holds."""
    reason = sniff.rejection(place)
    if reason is not None:
        raise NotATrace(reason, "Check what wrote the file.")
    with open_text(place, settings) as stream:
        from torch_tb_profiler.importers import read_trace

        trace = read_trace(stream, settings, _throttled(report) if report else None)
        if report:
            report(1, 1)  # what follows is arranging
        if not stream.unchanged:
            raise SourceError(
                "The file changed while it was read.", "It is read again when it is whole."
            )
        return replace(trace, source=_source(stream, place))


def _told_beside(trace: Trace, place: Place) -> Trace:
    """A trace of torch_npu with what only files beside it tell: rank, world, process groups, device."""
    from torch_tb_profiler.store.process_roles import TORCH_NPU

    told = told_by_folder(place) if trace.header.get("profiler") == TORCH_NPU else None
    if told is None:
        return trace
    known = {"rank": told.rank, "world_size": told.world_size}
    info = {key: value for key, value in known.items() if value is not None}
    header = {**told.versions, **trace.header}
    if info and "distributedInfo" not in header:
        header["distributedInfo"] = info
    tables, arguments = trace.tables, trace["device_args"]
    if len(told.devices) == 1:
        # The file itself says "NPU" where it has one device alone.
        device = arguments["device"].copy()
        device[:] = told.devices[0]
        tables = {**tables, "device_args": arguments.replace(device=device)}
    return replace(trace, header=header, tables=tables)


def _named_by_captures(trace: Trace, place: Place, settings: Settings) -> Trace:
    """The trace with what was captured of the graphs that it replays, here or in files beside it.

    A recording of captures that cannot be read is counted as a defect and names nothing.
    """
    from torch_tb_profiler.analysis.facts.capture_tables import (
        CaptureSource,
        Collected,
        replays_graphs,
    )

    if not replays_graphs(trace):
        return trace
    collected = Collected(trace)
    try:
        files = capture_files.described(captures_beside(place))
    except SourceError:
        trace.defects.add(defects.UNREADABLE_CAPTURE)
        files = []
    for file in files:
        try:
            with open_text(file.location, settings) as stream:
                from torch_tb_profiler.importers import read_trace

                recording = read_trace(stream, settings)
        except (NotATrace, SourceError):
            trace.defects.add(defects.UNREADABLE_CAPTURE)
            continue
        collected.add(CaptureSource(file.name, file.batch, file.mode), recording)
    return collected.trace()


def _source(stream: TextStream, place: Place) -> SourceFile | None:
    from torch_tb_profiler.store.model import SourceFile

    if not stream.identity:
        return None
    return SourceFile(quote(os.fsencode(place.path)), stream.identity, stream.device)


def run_import(
    location: str, sidecar_path: str, settings: Settings, report: Report
) -> dict[str, Any]:
    """Import a file, write its sidecar, and return its ``Outcome`` as a plain dict. Of a file that
    several ranks were merged into the sidecar is of the first, and the others get their own.

    Raises:
        NotATrace, SourceError: as ``read``.
        OSError: the sidecar could not be written.
    """
    parts = read_parts(Place(location), settings, report)
    trace, facts = next(parts)
    from torch_tb_profiler.sources.cache_folder import CacheFolder
    from torch_tb_profiler.store import sidecar

    outcome = outcome_of(trace, facts)
    for other in parts:
        sidecar.write(CacheFolder.part_sidecar(sidecar_path, outcome_of(*other).part), *other)
    # Last: who finds it looks for the others.
    sidecar.write(Path(sidecar_path), trace, facts)
    return asdict(outcome)


def _throttled(report: Report) -> Report:
    last = 0.0

    def now_and_then(done: int, total: int | None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= 1 / REPORTS_PER_SECOND:
            last = now
            report(done, total)

    return now_and_then
