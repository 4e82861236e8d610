"""Recordings of graph captures that lie beside a trace: they belong to it and are no traces of their own.

::

    run/worker0.pt.trace.json.gz
    run/capture_traces/bs_32_rank0.json.gz         one file per captured batch size
    run/capture_traces/execution_details.json      [{"file": "bs_32_rank0.json.gz", "batch_size": 32, "mode": "FULL"}]

A folder or a file is one of captures by its name; what was captured, only the content of the files tells.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.sources import names
from torch_tb_profiler.sources.listed_file import ListedFile
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.streams import open_bytes
from torch_tb_profiler.untrusted import decoded, readable

DETAILS = "execution_details.json"
_WORD = "capture"
_MOST_DETAILS = 4 << 20
"""Bytes of a list of captures; a real one has some thousands."""


class CaptureFile(msgspec.Struct, frozen=True):
    """One recording of captures. ``batch``: −1 unknown; ``mode``: ``""`` unknown."""

    location: Place
    name: str
    batch: int
    mode: str


def is_capture(name: str) -> bool:
    """Whether a folder or a file is named as one of captures."""
    return _WORD in name.lower()


def assigned(files: Iterable[ListedFile]) -> list[ListedFile]:
    """The files, those of captures marked, and traces with a stamp that tells them from the same
    trace with other captures.
    """
    listed = list(files)
    beside: dict[str, list[ListedFile]] = {}
    traced: set[str] = set()
    for file in listed:
        if (owner := home_of(file)) is not None:
            beside.setdefault(owner, []).append(file)
        else:
            traced.add(file.folder)
    taken = {owner: captures for owner, captures in beside.items() if owner in traced}
    if not taken:
        return listed
    of_captures = {file.location for captures in taken.values() for file in captures}
    return [
        replace(file, captures=True)
        if file.location in of_captures
        else _stamped(file, taken.get(file.folder, ()))
        for file in listed
    ]


def home_of(file: ListedFile) -> str | None:
    """The folder whose traces a recording of captures belongs to; None for other files."""
    above, _, last = file.folder.rpartition("/")
    if last and is_capture(last):
        return above
    return file.folder if is_capture(file.name) or file.name == DETAILS else None


def _stamped(file: ListedFile, captures: Iterable[ListedFile]) -> ListedFile:
    own = [c for c in captures if same_rank(file.name, c.name)]
    if not own:
        return file
    told = "\n".join(sorted(f"{c.name} {c.size} {c.stamp}" for c in own))
    return replace(file, stamp=f"{file.stamp}+{hashlib.sha256(told.encode()).hexdigest()[:16]}")


def same_rank(trace: str, capture: str) -> bool:
    """Whether the names of two files do not speak of different ranks."""
    told = [names.parse(name) for name in (trace, capture)]
    ranks = [names.ranks_by_name([name.worker, "-"])[0] if name else None for name in told]
    return None in ranks or ranks[0] == ranks[1]


def described(files: Iterable[ListedFile]) -> list[CaptureFile]:
    """Recordings of captures with what their lists say of them, in the order of their names.

    Raises:
        SourceError: a list cannot be read.
    """
    listed = sorted(files, key=lambda file: names.natural(file.name))
    told: dict[str, tuple[int, str]] = {}
    for file in listed:
        if file.name == DETAILS:
            told |= _read_details(file.location)
    return [
        CaptureFile(file.location, file.name, *told.get(file.name, (-1, "")))
        for file in listed
        if file.name != DETAILS
    ]


def _read_details(place: Place) -> Mapping[str, tuple[int, str]]:
    file, _ = open_bytes(place)
    with file:
        text = file.read(_MOST_DETAILS + 1)
    if len(text) > _MOST_DETAILS:
        raise SourceError(
            f"{DETAILS} has more than {_MOST_DETAILS >> 20} MiB.", "It lists captures of graphs."
        )
    try:
        rows = decoded(text)
    except ValueError:
        return {}
    found = {}
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("file"), str):
            batch, mode = row.get("batch_size"), row.get("mode")
            known = batch if isinstance(batch, int) and 0 <= batch < 1 << 31 else -1
            name = readable(row["file"].rpartition("/")[2])
            found[name] = (known, mode[:32] if isinstance(mode, str) else "")
    return found
