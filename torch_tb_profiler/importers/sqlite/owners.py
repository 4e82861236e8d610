"""Which process each track of a file is of, and which processes are workers: those with device work, in a file without
any those with ranges.

A launch and its work share an id, which counts anew in each process. Where a table does not say whose the work is, the id
does if one process alone launched under it::

    launches   1 2 3 of process 144,  2 3 4 of process 145        work without a process   1 of 144   4 of 145   2, 3: counted
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.importers.sqlite.database import MISSING, mapped
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.file_processes import FileProcess
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role

_PER_PROCESS = 1 << 40
"""Correlation ids count from 1 in every process and stay below 2**32."""
_UNKNOWN = 1 << 22
"""Stands for the number of an unknown process."""
_RANGES = (Role.OPERATOR, Role.ANNOTATION)
_DEEPEST = 64
"""Processes between a helper and the worker that it serves."""
_LONGEST_NAME = 100


class Rank(msgspec.Struct, frozen=True):
    """What a file states of a process: its rank, and how many there are; None unknown."""

    number: int
    world_size: int | None = None


class Owners:
    """The processes of a file, by number; ``MISSING`` unknown.

    of_track: the process of a track. parents: who started whom. ranks, names: what the file says of a process.
    """

    def __init__(self, counts: DefectCounts) -> None:
        self._counts = counts
        self._numbers: dict[int, int] = {}
        self.of_track: dict[int, int] = {}
        self.parents: dict[int, int] = {}
        self.ranks: dict[int, Rank] = {}
        self.names: dict[int, str] = {}

    def correlations(self, process: Ints, number: Ints) -> Ints:
        """Correlation ids made unique across processes; −1 none."""
        known = self._numbers

        def number_of(process: int) -> int:
            return _UNKNOWN if process == MISSING else known.setdefault(process, len(known))

        ids = number + mapped(number_of, process) * _PER_PROCESS
        return np.where((number > 0) & (number < _PER_PROCESS), ids, -1)

    def link(self, spans: dict[str, Array], split: Callable[[int, int], int]) -> None:
        """Give work of unknown process the ids, and with them the process, of its launch; the columns are replaced.

        split: a track and a process → the track of its own that the work of this process gets, where a track has work of
        several.
        """
        correlation, track = spans["correlation"], spans["track"].copy()
        unknown = correlation // _PER_PROCESS == _UNKNOWN
        if not unknown.any():
            return
        if not self._numbers:
            spans["correlation"] = np.where(unknown, correlation % _PER_PROCESS, correlation)
            return
        called = (spans["role"] == Role.RUNTIME) & (correlation >= 0)
        launches = np.unique(correlation[called])
        launches = launches[np.argsort(launches % _PER_PROCESS, kind="stable")]
        row = np.flatnonzero(unknown & ~called)
        ids, own = launches % _PER_PROCESS, correlation[row] % _PER_PROCESS
        first, last = (np.searchsorted(ids, own, side) for side in ("left", "right"))
        count = last - first
        self._counts.add(d.UNCLEAR_PROCESS, int((count > 1).sum()))
        launch = np.append(launches, -1)[np.where(count == 1, first, -1)]
        correlation = correlation.copy()
        correlation[row] = np.where(count == 0, own, launch)
        pids = np.array([*self._numbers, MISSING])
        of_launch = np.minimum(launch // _PER_PROCESS, len(pids) - 1)
        owner = np.where(launch < 0, MISSING, pids[of_launch])
        for number in np.unique(track[row]).tolist():
            here = track[row] == number
            owners = np.unique(owner[here])
            known = owners[owners != MISSING].tolist()
            if len(known) == 1:
                self.of_track[number] = known[0]
            for process in known if len(known) > 1 else ():
                track[row[here & (owner == process)]] = split(number, process)
        spans["correlation"], spans["track"] = correlation, track

    def stated(
        self, spans: dict[str, Array], devices: dict[int, Any]
    ) -> tuple[list[FileProcess], dict[int, int]]:
        """The workers, and the worker of each track; none where there is but one.

        devices: of the tracks whose process is not known, what is sampled there. It goes to the only worker with work on it.
        """
        workers = self._workers(spans)
        if len(workers) < 2:
            return self._described(workers), {}
        number = {process: i for i, process in enumerate(workers)}
        of_track = {
            track: served
            for track, process in self.of_track.items()
            if (served := self._served(process, number)) is not None
        }
        users: dict[Any, set[int]] = {}
        for track, device in devices.items():
            if track in of_track:
                users.setdefault(device, set()).add(of_track[track])
        for track, device in devices.items():
            if track not in self.of_track and len(sole := users.get(device, set())) == 1:
                [of_track[track]] = sole
        hosts = np.unique(spans["track"][~np.isin(spans["role"], DEVICE_ROLES)]).tolist()
        lost = {self.of_track[t] for t in hosts if t in self.of_track and t not in of_track}
        self._counts.add(d.PROCESS_WITHOUT_WORK, len(lost - {MISSING}))
        return self._described(workers), of_track

    def _served(self, process: int, workers: dict[int, int]) -> int | None:
        """The number of the worker that a process is, or that started it; None unknown."""
        for _ in range(_DEEPEST):
            if process in workers:
                return workers[process]
            process = self.parents.get(process, MISSING)
        return None

    def _workers(self, spans: dict[str, Array]) -> list[int]:
        role = spans["role"]
        work = np.isin(role, DEVICE_ROLES)
        chosen = work if work.any() else np.isin(role, _RANGES)
        tracks = np.unique(spans["track"][chosen]).tolist()
        return sorted({self.of_track.get(track, MISSING) for track in tracks} - {MISSING})

    def _described(self, workers: list[int]) -> list[FileProcess]:
        # What a file of one process states of none in particular is of this one.
        anybody = self.ranks.get(MISSING) if len(workers) == 1 else None
        ranks = [self.ranks.get(process, anybody) for process in workers]
        told = {rank.number for rank in ranks if rank is not None}
        names = [
            f"rank {rank.number}"
            if rank is not None and len(told) == len(workers)
            else f"{self.names[process][:_LONGEST_NAME]} (pid {process})"
            if self.names.get(process)
            else f"pid {process}"
            for process, rank in zip(workers, ranks, strict=True)
        ]
        return [
            FileProcess(name) if rank is None else FileProcess(name, rank.number, rank.world_size)
            for name, rank in zip(names, ranks, strict=True)
        ]
