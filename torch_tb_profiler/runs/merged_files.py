"""Files that several ranks were merged into: an entry for each rank, and copies of recordings that are there themselves.

::

    merged-17.trace.json.gz   ─▶  TP00, TP01            as if each had a file of its own
    17-TP-0.trace.json.gz     ┐   TP00 and TP01 above are copies of these: set aside
    17-TP-1.trace.json.gz     ┘

    host.trace.json.gz            written by JAX, with create_perfetto_trace=True twice
    perfetto_trace.json.gz        the same again: set aside
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.patterns import regex
from torch_tb_profiler.sources.listing import ListedFile
from torch_tb_profiler.sources.names import TraceName, ranks_by_name
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.units import format_names

UNRANKED = "without rank"
"""As in ``analysis/facts/rank_parts.py``, which takes long to import."""
SECOND_OF_JAX = regex(r"perfetto_trace\.json(?:\.(?:gz|zst))?", re.IGNORECASE)
"""How JAX calls a recording that it writes for Perfetto beside its own form."""
SAME_TIME_NS = 1_000_000_000
"""Begins of a recording and of its copy differ by less: a merger may write times after another begin."""


def key_of(root: str, found: ListedFile) -> tuple[str, Place]:
    """Tells a file of a logdir, or a rank in it, from all others."""
    return root, found.location.with_part(found.part)


def other_parts(found: ListedFile, parts: Sequence[str]) -> list[ListedFile]:
    """The further ranks of a file whose first one was imported, and told all of them."""
    return [] if found.part else [replace(found, part=part) for part in parts[1:]]


def ranks_of_parts(
    parts: Sequence[str], rank: int | None, world_size: int | None
) -> list[int | None]:
    """The rank of each part of a file, None unknown. A merger writes what the first file says of its rank and
    the world; where all of that are in the file, labels that agree with it tell the others, and of
    two the other one is known.
    """
    ranked = [part for part in parts if part != UNRANKED]
    told: list[int | None] = [rank, *[None] * (len(parts) - 1)]
    if rank is None or world_size != len(ranked):
        return told
    by_name = ranks_by_name(ranked)
    if by_name[0] == rank and set(by_name) == set(range(world_size)):
        told[:world_size] = by_name
    elif world_size == 2 and rank in (0, 1):
        told[1] = 1 - rank
    return told


def name_of_part(name: TraceName, part: str) -> TraceName:
    """The name of a rank in a file: the file's own name names the recording."""
    recording = "-".join(filter(None, (name.recording, name.worker)))
    return replace(name, worker=part, recording=recording, aside=part == UNRANKED)


class Recording(msgspec.Struct, frozen=True):
    """A file, or a rank in it, that was imported: what shows that one is a copy of another.

    place: its logdir and run. name: what its name says of the recording. part, parts, work, begin, events: see ``Outcome``.
    """

    file: ListedFile
    place: tuple[str, str]
    name: str
    part: str
    parts: Sequence[str]
    work: Sequence[int]
    begin: int | None
    events: int = 0


def copies(recordings: Sequence[Recording]) -> dict[int, str]:
    """By position those that are ranks of a merged file whose own files are in the same folder, or that JAX wrote there
    twice, and what to say of them.
    """
    originals: dict[tuple[object, ...], list[int]] = {}
    for number, each in enumerate(recordings):
        if not each.part and any(each.work):
            originals.setdefault((each.place, *each.work), []).append(number)
    pairs: dict[Place, dict[int, int]] = {}
    for number, each in enumerate(recordings):
        if not each.part:
            continue
        own = pairs.setdefault(each.file.location, {})
        for original in originals.get((each.place, *each.work), ()):
            if original not in own.values() and _same_time(each, recordings[original]):
                own[number] = original
                break
    found = {}
    for number, each in enumerate(recordings):
        own = pairs.get(each.file.location, {}) if each.part else {}
        # What is of no rank is a copy where all ranks of its file are.
        if number in own or (each.part == UNRANKED and len(own) == len(each.parts) - 1):
            files = format_names([recordings[i].file.name for i in own.values()])
            found[number] = (
                f"A merged copy of recordings that are here themselves, which are used: {files}."
            )
    return found | _written_twice(recordings)


def _written_twice(recordings: Sequence[Recording]) -> dict[int, str]:
    """By position those that JAX wrote a second time."""
    second = [SECOND_OF_JAX.fullmatch(each.file.name) is not None for each in recordings]
    return {
        number: f"A copy of {other.file.name}, which JAX wrote with it and which is used."
        for number, each in enumerate(recordings)
        if second[number]
        for other, again in zip(recordings, second, strict=True)
        if not again and other.place == each.place and _same_work(each, other)
    }


def _same_work(copy: Recording, original: Recording) -> bool:
    """Whether as much was recorded; the digits of a time may be rounded when it is written again, each by a ns."""
    counts = [(r.events, *r.work[::2]) for r in (copy, original)]
    differ = (abs(a - b) for a, b in zip(copy.work[1::2], original.work[1::2], strict=True))
    return counts[0] == counts[1] and all(ns <= copy.events for ns in differ)


def _same_time(copy: Recording, original: Recording) -> bool:
    """Whether the times do not tell them apart, or the names say that they are of one recording."""
    if copy.begin is None or original.begin is None:
        return True
    named = bool(original.name) and original.name in copy.file.name
    return named or abs(copy.begin - original.begin) < SAME_TIME_NS
