"""Rules of a device that waits for the host."""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import (
    Intervals,
    join,
    measure,
    shared,
    subtract,
    union,
)
from torch_tb_profiler.analysis.facts.calltree import is_call
from torch_tb_profiler.analysis.facts.names import distinct
from torch_tb_profiler.analysis.figures.source_lines import is_user_code
from torch_tb_profiler.analysis.findings.case import Case
from torch_tb_profiler.analysis.findings.gaps import Gaps
from torch_tb_profiler.analysis.findings.ledger import Candidate, spent
from torch_tb_profiler.analysis.timeline.call_path import ancestors
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.roles import Role

ALLOCATES = re.compile(
    r"(?:cuda|hip|cu)(?:Malloc|Free|Mem(?:Create|Map|Unmap|Release|Alloc|Free))(?!Host|Pitch)"
)
_NEXT = re.compile(r"(?P<file>.+)\(\d+\): __next__$")
PAGEABLE = "Pageable"
SHORT_GAP = 1_000_000
"""ns; a longer gap is no matter of launching."""
LAUNCHES = 5
"""Gaps per step, from which on launches are many."""
NAMED = 50
"""Gaps, the longest, of which it is looked up what the host did."""


def input_bound(case: Case, taken: Intervals) -> Candidate | None:
    """The step waits for the next batch.

    Claims: on a trace with device work, the device's idle time for the host within the DataLoader's
        regions of the thread of the steps, or where there are
    none, within frames of the user's own ``__next__`` that launch nothing; without device work, the
    regions. Upper bound: batches that are ready cost nothing, and the device cannot gain more than
    it idled meanwhile. Wrong when the device would have idled anyway, because what follows the
    batch is slow as well: then less is had back.
    """
    spans = case.trace["spans"]
    calls = np.flatnonzero((spans["role"] == Role.OPERATOR) | (spans["role"] == Role.ANNOTATION))
    row = calls[
        case.names.dataloader[spans["name"][calls]] & (spans["track"][calls] == case.main_track)
    ]
    row = row if len(row) else _own_loaders(case)
    if not len(row):
        return None
    start, end = spans["start"][row], spans["start"][row] + spans["dur"][row]
    if len(case.work.row):
        window, start, end = shared(start, end, _waiting(case.gaps))
        row = row[window]
    texts = [
        case.trace.strings[number] for number in distinct(spans["name"][row], case.trace.strings)
    ]
    seen = np.unique(row if len(case.work.row) else case.within(row))
    longest = int(spans["dur"][seen].max()) if len(seen) else 0
    return Candidate(
        "input_bound",
        row,
        start,
        end,
        {
            "batches": len(seen) / len(case.steps),
            "longest": longest,
            "single_process": float(any("_SingleProcess" in text for text in texts)),
            "worker_processes": float(any("_MultiProcessing" in text for text in texts)),
        },
    )


def _own_loaders(case: Case) -> Ints:
    """Frames of ``__next__`` in the user's own code, on the thread of the steps, in which nothing
    is launched: iterators around a model launch.
    """
    spans = case.trace["spans"]
    if not len(case.work.row):
        return np.zeros(0, np.int64)
    frames = np.flatnonzero((spans["role"] == Role.PYTHON) & (spans["track"] == case.main_track))
    frames = frames[case.named(frames, _is_user_code_next)]
    called = np.sort(spans["start"][case.work.launch[case.work.launch >= 0]])
    low, high = (
        np.searchsorted(called, edge)
        for edge in (spans["start"][frames], spans["start"][frames] + spans["dur"][frames])
    )
    return np.asarray(frames[low == high])


def _is_user_code_next(text: str) -> bool:
    found = _NEXT.match(text)
    return found is not None and is_user_code(found["file"])


def allocator_churn(case: Case, taken: Intervals) -> Candidate | None:
    """The caching allocator asks the driver for memory, or gives it back, inside steps.

    Claims: as much of the device's waiting for the host as these calls held the host up
        (``ledger.spent``). Upper bound: without them the host
    is earlier by their length and no more. Wrong when the call waited for the device: then another
    wait takes its place.
    """
    row = case.runtime_calls(ALLOCATES)
    return _held_up(
        case, "allocator_churn", row, taken, {"calls": len(row) / max(len(case.steps), 1)}
    )


def host_synchronisation(case: Case, taken: Intervals) -> Candidate | None:
    """The host waits for the device, and then the device for the host.

    Claims: not the time the host is blocked, in which the device works, but the idle time that
        follows, and of it no more than the host was held up
    (``ledger.spent``). Upper bound: without the wait all launches after it come earlier by its
    length and no more. Wrong when the program needs the value to decide what to launch: then it
    must wait.
    """
    row = _synchronising(case)
    spans, operator = case.trace["spans"], case.facts["span_links"]["operator"][row]
    names = spans["name"][operator[operator >= 0]]
    numbers: dict[str, float] = {
        "waits": len(row) / max(len(case.steps), 1),
        "blocked": int(spans["dur"][row].sum()) / max(len(case.steps), 1),
    }
    found = _held_up(case, "host_synchronisation", row, taken, numbers)
    if found is None:
        return None
    counted = np.bincount(names) if len(names) else np.zeros(0, np.int64)
    frequent = [
        int(number) for number in np.argsort(-counted, kind="stable")[:3] if counted[number]
    ]
    return Candidate(
        found.rule,
        found.row,
        found.start,
        found.end,
        found.numbers,
        {"operators": ", ".join(case.trace.strings[number] for number in frequent)},
    )


def launch_bound(case: Case, taken: Intervals) -> Candidate | None:
    """The device is done before the host has launched its next kernel, over and over.

    Claims: gaps of at most 1 ms that a launch ended which began after the gap did. Upper bound: a
        host that is always ahead closes those gaps and no others.
    Wrong when the host is slow only because it is recorded.
    """
    gaps = _open(case, case.gaps.take(case.gaps.for_host & (case.gaps.launch >= 0)), taken)
    gaps = gaps.take(gaps.end - gaps.start <= SHORT_GAP)
    if len(gaps.start) < LAUNCHES * max(len(case.steps), 1):
        return None
    work = case.work.take(case.work.kernel)
    length = (work.end - work.start)[np.isin(work.row, case.within(work.row))]
    return Candidate(
        "launch_bound",
        gaps.launch,
        gaps.start,
        gaps.end,
        {
            "gaps": len(gaps.start) / len(case.steps),
            "kernels": len(length) / len(case.steps),
            "median_kernel": float(np.median(length)) if len(length) else 0.0,
            "in_operators": int(measure(case.host_busy, gaps.start, gaps.end).sum()) / gaps.length,
        },
    )


def idle_host(case: Case, taken: Intervals) -> Candidate | None:
    """The device waits for the host, which does something other than launching.

    Claims: what is left of the gaps that waited for the host. Upper bound: a host that is always
        ahead closes those gaps. Wrong when the host
    itself had to wait for something that the trace does not show: a request, a file, another
    process.
    """
    gaps = _open(case, case.gaps.take(case.gaps.for_host), taken)
    if not len(gaps.start):
        return None
    length = gaps.end - gaps.start
    row = np.where(gaps.launch >= 0, gaps.launch, gaps.before)
    for place in np.argsort(-length, kind="stable")[:NAMED].tolist():
        row[place] = _doing(
            case,
            int(gaps.start[place]),
            int(gaps.end[place]),
            int(gaps.launch[place]),
            int(row[place]),
        )
    return Candidate(
        "idle_host",
        row,
        gaps.start,
        gaps.end,
        {
            "gaps": len(length) / len(case.steps),
            "longest": int(length.max()),
            "in_operators": int(measure(case.host_busy, gaps.start, gaps.end).sum()) / gaps.length,
        },
    )


def _doing(case: Case, start: int, end: int, launch: int, otherwise: int) -> int:
    """What the host did in a gap: the shortest span that fills at least half of it, on the thread
    that launched what ended it, else on the steps' thread.
    """
    spans = case.trace["spans"]
    track = int(spans["track"][launch]) if launch >= 0 else case.main_track
    begun = np.arange(*np.searchsorted(spans["start"], (start, end)).tolist())
    begun = begun[(spans["track"][begun] == track) & _on_host(spans["role"][begun])]
    inner = int(begun[-1]) if len(begun) else _open_at(case, start, track)
    near = np.union1d(
        begun, np.array(ancestors(case.facts, inner) if inner >= 0 else [], np.int64)
    ).astype(np.int64)
    fills = np.minimum(spans["start"][near] + spans["dur"][near], end) - np.maximum(
        spans["start"][near], start
    )
    near = near[2 * fills >= end - start]
    return int(near[np.argmin(spans["dur"][near])]) if len(near) else otherwise


def _on_host(role: Array) -> Mask:
    return np.asarray(is_call(role) | (role == Role.PYTHON))


def _open_at(case: Case, time: int, track: int) -> int:
    """The last span of a thread that begins before a time and the ones around it may still be open
    then; -1 none.
    """
    spans = case.trace["spans"]
    before = np.flatnonzero(spans["track"][: int(np.searchsorted(spans["start"], time))] == track)
    return int(before[-1]) if len(before) else -1


def _waiting(gaps: Gaps) -> Intervals:
    return union(gaps.start[gaps.for_host], gaps.end[gaps.for_host])


def _synchronising(case: Case) -> Ints:
    """Calls that wait by their name, and the launches of copies from or to pageable memory, which
    the host stages.
    """
    spans = case.trace["spans"]
    copies = case.work.row[spans["role"][case.work.row] == Role.MEMCPY]
    copies = copies[case.named(copies, lambda name: PAGEABLE in name)]
    launch = case.facts["span_links"]["launch"][copies].astype(np.int64)
    return np.union1d(case.waits, case.within(np.unique(launch[launch >= 0])))


def _open(case: Case, gaps: Gaps, taken: Intervals) -> Gaps:
    """What nobody has taken of some gaps."""
    free = subtract(union(gaps.start, gaps.end), taken)
    of, start, end = shared(gaps.start, gaps.end, free)
    return Gaps(
        start,
        end,
        gaps.before[of],
        gaps.next[of],
        gaps.launch[of],
        gaps.for_host[of],
        gaps.queued[of],
    )


def _held_up(
    case: Case, rule: str, row: Ints, taken: Intervals, numbers: dict[str, float]
) -> Candidate | None:
    """What the calls ``row`` cost: of the gaps that waited for the host and that a launch ended, as
    much as the host was held up before.

    A launch waits for the calls of its own thread. Where there are steps it waits for those of
    their thread, too, which the backward pass's thread follows.
    """
    spans = case.trace["spans"]
    waiting = case.gaps.take(case.gaps.for_host & (case.gaps.launch >= 0))
    track, of_gap = spans["track"][row], spans["track"][waiting.launch]
    accounts = [] if case.is_whole else [(row[track == case.main_track], waiting)]
    for mine in np.unique(
        track[np.isin(track, of_gap) & (case.is_whole | (track != case.main_track))]
    ).tolist():
        accounts.append((row[track == mine], waiting.take(of_gap == mine)))
    evidence, start, end = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    for calls, some in accounts:
        gaps = _open(case, some, join(taken, union(start, end)))
        begin, length = _separate(
            spans["start"][calls], spans["start"][calls] + spans["dur"][calls]
        )
        closed, of = spent(begin, length, gaps.start, gaps.end)
        paid = of >= 0
        evidence = np.concatenate((evidence, calls[of[paid]]))
        start, end = (
            np.concatenate((start, gaps.end[paid] - closed[paid])),
            np.concatenate((end, gaps.end[paid])),
        )
    return Candidate(rule, evidence, start, end, numbers) if len(evidence) else None


def _separate(start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Begin of each call, and its length without what an earlier one of them covers: two threads
    that wait at once hold nobody up twice.
    """
    reach = np.maximum.accumulate(np.concatenate((start[:1], end[:-1])))
    return start, np.maximum(end - np.maximum(start, reach), 0)
