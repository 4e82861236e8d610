"""Which rank each process, device and piece of device work belongs to, in a file that several ranks were merged into.

Labels beside the process ids, or in the names of processes, tell it. Without them every process that runs
operators and launches work is a rank, and a device belongs to the one whose launches fit its work::

    launches of 100   1     2     3            ids count from 1 in every process
    launches of 101       1     2     3
    device 0            1     2     3          each begins before 101 launched that id: of 100
    device 1                1     2     3      fits both; the launches of 100 have their work: of 101

What fits several ranks is in none of them, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import extreme_by, places_in, scatter
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.facts.device_owners import Launches, owners_of_work
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role

MOST_RANKS = 4096
_HOST_ROLES = (Role.OPERATOR, Role.RUNTIME, Role.ANNOTATION, Role.PYTHON)
_ROLES = len(Role)

_BRACKETS = r"\[[^\]]{1,80}\]|\([^)]{1,80}\)|\{[^}]{1,80}\}|<[^>]{1,80}>"

_RANK = regex(r"(?<![a-zA-Z])rank[-_=.: #]?\d{1,7}", re.IGNORECASE | re.ASCII)

_PLACES = regex(
    r"(?<![a-zA-Z])(?:d?cp|dp|ep|etp|pp|sp|tp)[-_=]?\d{1,6}"
    r"(?:[-_., ](?:d?cp|dp|ep|etp|pp|sp|tp)[-_=]?\d{1,6})*",
    re.IGNORECASE | re.ASCII,
)

_LEADING = regex(rf"^\s*(?:{_BRACKETS})")

_TRAILING = regex(rf"(?:{_BRACKETS})\s*$")

_NUMBER = regex(r"\d+", re.ASCII)

_EDGE = regex(r"^[\s\[\](){}<>:;,_/|@#.=-]+|[\s\[\](){}<>:;,_/|@#.=-]+$")

_LONGEST = 200
"""Characters of a process id that a label is looked for in."""


def _matching(pattern: re.Pattern[str]) -> Callable[[str], str]:
    return lambda text: match[0].strip() if (match := pattern.search(text)) else ""


def _without_last_number(text: str) -> str:
    numbers = list(_NUMBER.finditer(text))
    if not numbers:
        return ""
    return f"{text[: numbers[-1].start()]}{text[numbers[-1].end() :]}".strip()


def _without_first_number(text: str) -> str:
    return _NUMBER.sub("", text, count=1).strip()


_FORMS: tuple[Callable[[str], str], ...] = (
    _matching(_PLACES),
    _matching(_RANK),
    _matching(_LEADING),
    _matching(_TRAILING),
    _without_last_number,
    _without_first_number,
)
"""From a process id to its label."""

_NAMING = 4
"""The first forms name a rank or stand in brackets."""


class MergedRanks(msgspec.Struct, frozen=True):
    """names: a name for each rank, in the order of their events in the file.
    of_track: int64 of shape (tracks,), the rank of each track; −1 of none, or of several.
    work: rows of spans that are device work, ascending; of_work: the rank of each, −1 unclear.
    """

    names: tuple[str, ...]
    of_track: Ints
    work: Ints
    of_work: Ints


class _Processes(msgspec.Struct, frozen=True):
    """``of_track``: number of the process of each track; the rest by that number."""

    of_track: Ints
    texts: list[str]
    host: Mask
    device: Mask
    operators: Mask
    launches: Mask


def find_ranks(trace: Trace) -> MergedRanks | None:
    """The ranks that were merged into the file of a trace; None where it is of one."""
    processes = _processes(trace)
    if processes is None:
        return None
    labels = labels_of(processes.texts, processes.host, processes.device)
    for column in ("process_name", "process_label"):
        if labels is None:
            names = _names(trace, processes, column)
            labels = labels_of(names, processes.host, processes.device, named=True)
    if labels is not None:
        return _labelled(trace, processes, labels)
    return _unlabelled(trace, processes)


def _names(trace: Trace, processes: _Processes, column: str) -> list[str]:
    """What the metadata call each process."""
    number = scatter(len(processes.texts), processes.of_track, trace["tracks"][column])
    return trace.strings.many(number)


def _processes(trace: Trace) -> _Processes | None:
    """The processes of a trace and what they do; None for a single one, which most traces have."""
    pids, of_track = np.unique(trace["tracks"]["pid"], return_inverse=True)
    spans = trace["spans"]
    if not 2 <= len(pids) <= MOST_RANKS or not spans.n:
        return None
    key = of_track[spans["track"]] * _ROLES + spans["role"]
    counts = np.bincount(key, minlength=len(pids) * _ROLES)
    does = counts.reshape(len(pids), _ROLES) > 0
    host = np.asarray(does[:, _HOST_ROLES].any(axis=1))
    if int(host.sum()) < 2:
        return None
    return _Processes(
        of_track.astype(np.int64),
        trace.strings.many(pids),
        host,
        np.asarray(does[:, DEVICE_ROLES].any(axis=1)),
        np.asarray(does[:, Role.OPERATOR]),
        np.asarray(does[:, Role.RUNTIME]),
    )


def _labelled(trace: Trace, processes: _Processes, labels: list[str]) -> MergedRanks:
    hosts = [label for label, host in zip(labels, processes.host, strict=True) if host]
    number = {label: i for i, label in enumerate(dict.fromkeys(hosts))}
    of_process = np.array([number.get(label, -1) for label in labels], np.int64)
    order = _by_place(trace, of_process[processes.of_track], len(number))
    of_track = np.append(places_in(len(order), order), -1)[of_process[processes.of_track]]
    named = list(number)
    work = device_rows(trace)
    return MergedRanks(
        tuple(clean(named[i]) or "other" for i in order),
        of_track,
        work,
        of_track[trace["spans"]["track"][work]],
    )


def _unlabelled(trace: Trace, processes: _Processes) -> MergedRanks | None:
    """Each process with operators of its own is a rank; where devices work one of them launches. One whose id
    cannot be read is none: its events are damaged.
    """
    readable = np.array([text.isdecimal() for text in processes.texts])
    launches = processes.launches | ~processes.device.any()
    is_rank = processes.operators & ~processes.device & readable
    if int(is_rank.sum()) < 2 or not (is_rank & launches).any():
        return None
    ranks = np.flatnonzero(is_rank)
    of_process = places_in(len(processes.texts), ranks)
    order = _by_place(trace, of_process[processes.of_track], len(ranks))
    of_process[ranks] = places_in(len(order), order)
    of_track = of_process[processes.of_track]
    work = device_rows(trace)
    of_work = _owners(trace, processes, of_track, len(ranks), work)
    _take_tracks(trace, processes, of_track, work, of_work)
    names = tuple(f"pid {processes.texts[ranks[i]]}" for i in order)
    return MergedRanks(names, of_track, work, of_work)


def _by_place(trace: Trace, of_track: Ints, ranks: int) -> Ints:
    """Ranks in the order of their first events in the file."""
    spans = trace["spans"]
    first = np.full(ranks + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, of_track[spans["track"]], spans["ordinal"].astype(np.int64))
    return np.argsort(first[:ranks], kind="stable")


def _owners(trace: Trace, processes: _Processes, of_track: Ints, ranks: int, work: Ints) -> Ints:
    """The rank of each piece of device work, −1 unclear."""
    spans = trace["spans"]
    if not len(work):
        return np.zeros(0, np.int64)
    calls = np.flatnonzero((spans["role"] == Role.RUNTIME) & (spans["correlation"] > 0))
    calls = calls[of_track[spans["track"][calls]] >= 0]
    number = device_arguments(trace, work, ("device",))["device"].astype(np.int64)
    process = processes.of_track[spans["track"][work]]
    _, device = np.unique(np.stack((process, number)), axis=1, return_inverse=True)
    rank = of_track[spans["track"]]
    host = np.flatnonzero(rank >= 0)
    windows = (
        extreme_by(np.minimum, rank[host], ranks, spans["start"][host]),
        extreme_by(np.maximum, rank[host], ranks, spans["start"][host] + spans["dur"][host]),
    )
    launches = Launches(trace, calls, rank[calls], ranks, windows)
    return owners_of_work(launches, work, device.reshape(-1), number, _uses(trace, of_track, ranks))


def _uses(trace: Trace, of_track: Ints, ranks: int) -> dict[int, Mask]:
    """By number of a device the ranks whose allocator used it."""
    memory = trace["memory"]
    rank = of_track[memory["track"]]
    known = np.flatnonzero((memory["device_type"] > 0) & (rank >= 0))
    uses: dict[int, Mask] = {}
    pairs = np.unique(np.stack((memory["device"][known].astype(np.int64), rank[known])), axis=1)
    for number, user in pairs.T.tolist():
        uses.setdefault(number, np.zeros(ranks, np.bool_))[user] = True
    return uses


def _take_tracks(
    trace: Trace, processes: _Processes, of_track: Ints, work: Ints, of_work: Array
) -> None:
    """Give a track, and then what else its process has, to the rank that all its work belongs to."""
    track = trace["spans"]["track"][work]
    for group in (np.arange(len(of_track)), processes.of_track):
        n = int(group.max(initial=-1)) + 1
        low, high = np.full(n, np.iinfo(np.int64).max), np.full(n, -1)
        np.minimum.at(low, group[track], of_work)
        np.maximum.at(high, group[track], of_work)
        owner = np.where(low == high, high, -1)
        free = (of_track < 0) & processes.device[processes.of_track]
        # A track with work of several ranks stays without one.
        free &= ~np.isin(np.arange(len(of_track)), track) | (group == np.arange(len(of_track)))
        of_track[free] = owner[group[free]]


def labels_of(
    processes: Sequence[str], host: Mask, device: Mask, *, named: bool = False
) -> list[str] | None:
    """The label of each process id, ``""`` for one without; None where labels tell no ranks apart.

    Labels that a program which merges files writes beside each process id, so that ranks stay apart.

    ::

        [TP00] 100    [TP00] 0    [TP01] 100    [TP01] 0        labels [TP00], [TP01]
        100 (rank 0)  0 (rank 0)  101 (rank 1)  1 (rank 1)      labels (rank 0), (rank 1)
        Host 1        Device 0                                  none: the work of "Device" has no host

    A form of label counts if each process of a host has one, there are at least two, and every one that has work of a device
    has both; of several such forms the one with most labels is taken. Where only some
    or none have work of a device, they must differ in their numbers alone.

    Args:
        processes: distinct process ids as texts.
        host, device: whether each has work of a host, and of a device.
        named: the texts are names of processes, in which any number is no label.
    """
    forms = _FORMS[:_NAMING] if named else _FORMS
    # In pure numbers nothing tells what is a label.
    if all(_NUMBER.fullmatch(text) for text in processes) or not host.any():
        return None
    told = [[form(text) if len(text) <= _LONGEST else "" for text in processes] for form in forms]
    found = [labels for labels in told if _tell_apart(labels, host, device)]
    if not found:
        return None
    labels = max(found, key=lambda each: len(set(each))) if device.any() else found[0]
    return _completed(processes, labels, host)


def clean(label: str) -> str:
    """A label without brackets and separators at its ends."""
    return _EDGE.sub("", label)


def _completed(processes: Sequence[str], labels: Sequence[str], host: Mask) -> list[str]:
    """The labels, with those of processes of neither host nor device that begin or end with one."""
    known = {text for text, is_host in zip(labels, host, strict=True) if is_host and text}
    return [
        label
        if label in known
        else next((k for k in known if text.startswith(k) or text.endswith(k)), "")
        for text, label in zip(processes, labels, strict=True)
    ]


def _tell_apart(labels: Sequence[str], host: Mask, device: Mask) -> bool:
    of_host = {text for text, is_host in zip(labels, host, strict=True) if is_host}
    of_device = {text for text, is_device in zip(labels, device, strict=True) if is_device}
    if len(of_host) < 2 or not of_device <= of_host:
        return False
    if "" in of_host:
        # Odd ids beside plain ones are damaged ones, no labels.
        return False
    return of_device == of_host or len({_NUMBER.sub("#", text) for text in of_host}) == 1
