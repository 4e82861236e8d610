"""Files that several ranks were merged into: an entry for each rank, and merged copies of recordings that are there themselves.

::

    merged-17.trace.json.gz   ─▶  TP00, TP01            as if each had a file of its own
    17-TP-0.trace.json.gz     ┐   TP00 and TP01 above are copies of these: set aside
    17-TP-1.trace.json.gz     ┘
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from torch_tb_profiler.sources.listing import ListedFile
from torch_tb_profiler.sources.names import TraceName, ranks_by_name
from torch_tb_profiler.sources.places import in_part
from torch_tb_profiler.units import format_names

if TYPE_CHECKING:
    from torch_tb_profiler.runs.entries import Entry
    from torch_tb_profiler.runs.import_job import Outcome

UNRANKED = "without rank"
"""As in ``analysis/facts/rank_parts.py``, which takes long to import."""
SAME_TIME_NS = 1_000_000_000
"""Begins of a recording and of its copy differ by less: a merger may write times after another begin."""


def key_of(root: str, found: ListedFile) -> tuple[str, str]:
    """Tells a file of a logdir, or a rank in it, from all others."""
    return root, in_part(found.location, found.part)


def other_parts(found: ListedFile, outcome: Outcome | None) -> list[ListedFile]:
    """The further ranks of a file whose first one was imported."""
    if found.part or outcome is None:
        return []
    return [replace(found, part=part) for part in outcome.parts if part != outcome.part]


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


def copies(entries: Iterable[Entry]) -> dict[int, str]:
    """By ``id`` the entries that are merged copies of others in their folder, and what to say of them."""
    known = [(entry, entry.outcome) for entry in entries if entry.outcome is not None]
    originals: dict[tuple[object, ...], list[tuple[Entry, Outcome]]] = {}
    for entry, outcome in known:
        if not outcome.part and any(outcome.work):
            originals.setdefault(_work(entry, outcome), []).append((entry, outcome))
    merged: dict[str, list[tuple[Entry, Entry]]] = {}
    for entry, outcome in known:
        own = merged.setdefault(entry.found.location, []) if outcome.part else []
        used = {id(original) for _, original in own}
        for original, of in originals.get(_work(entry, outcome), ()) if outcome.part else ():
            if id(original) not in used and _same_time(entry, outcome, original, of):
                own.append((entry, original))
                break
    found = {
        id(entry): _said([original for _, original in pairs])
        for pairs in merged.values()
        for entry, _ in pairs
    }
    for entry, outcome in known:
        # What is of no rank is a copy where all ranks of its file are.
        pairs = merged.get(entry.found.location, [])
        if outcome.part == UNRANKED and len(pairs) == len(outcome.parts) - 1:
            found[id(entry)] = _said([original for _, original in pairs])
    return found


def once_per_file(entries: Iterable[Entry], aside: Mapping[int, str]) -> list[Entry]:
    """The entries, of those of one file that are copies the first alone."""
    first: dict[str, Entry] = {}
    return [
        entry
        for entry in entries
        if id(entry) not in aside or first.setdefault(entry.found.location, entry) is entry
    ]


def _work(entry: Entry, outcome: Outcome) -> tuple[object, ...]:
    return (entry.root, entry.name.run, *outcome.work)


def _same_time(entry: Entry, outcome: Outcome, original: Entry, of: Outcome) -> bool:
    """Whether the times do not tell them apart, or the names say that they are of one recording."""
    if outcome.begin is None or of.begin is None:
        return True
    recording = original.name.recording
    return abs(outcome.begin - of.begin) < SAME_TIME_NS or bool(
        recording and recording in entry.found.name
    )


def _said(originals: list[Entry]) -> str:
    files = format_names([entry.found.name for entry in originals])
    return f"A merged copy of recordings that are here themselves, which are used: {files}."
