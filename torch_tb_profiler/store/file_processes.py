"""The processes that a file states, each a worker, in the header of its trace.

::

    "processes": [{"name": "rank 0", "rank": 0, "world_size": 2}, {"name": "rank 1", …}]     which there are
    "ownerOfTrack": [0, 0, 1, -1]                                                           which one each track is of
"""

from __future__ import annotations

from typing import Any

import msgspec

PROCESSES, OWNERS = "processes", "ownerOfTrack"
"""Header keys."""
MOST_PROCESSES = 4096
"""A file that states more is read as one."""


class FileProcess(msgspec.Struct, frozen=True):
    """A process of a file. rank, world_size: as the file states them; None unknown."""

    name: str
    rank: int | None = None
    world_size: int | None = None

    @property
    def header(self) -> dict[str, Any]:
        """What the header of its own trace says of it."""
        said = {"rank": self.rank, "world_size": self.world_size}
        info = {key: value for key, value in said.items() if value is not None}
        return {PROCESSES: [msgspec.to_builtins(self)]} | (
            {"distributedInfo": info} if info else {}
        )


def stated_header(processes: list[FileProcess], owners: list[int]) -> dict[str, Any]:
    """The keys of a file. owners: of each track the number of its process, −1 unknown; of several processes."""
    if len(processes) == 1:
        return processes[0].header
    return {PROCESSES: msgspec.to_builtins(processes), OWNERS: owners}


def stated_processes(header: dict[str, Any], tracks: int) -> list[FileProcess] | None:
    """The processes that a header tells of a trace with so many tracks; None where it tells none, or not whose each track is."""
    try:
        processes = msgspec.convert(header[PROCESSES], list[FileProcess])
        owners = msgspec.convert(header.get(OWNERS, []), list[int])
    except (KeyError, msgspec.ValidationError):
        return None
    if len(processes) < 2:
        return processes
    apart = len({process.name for process in processes}) == len(processes) <= MOST_PROCESSES
    told = len(owners) == tracks and all(-1 <= owner < len(processes) for owner in owners)
    return processes if apart and told else None
