"""Whose recordings the files of a run are: which rank made each (who), which were made together (when), and in which job
(which world). Nothing else decides this.

::

    file                       says            recorded
    a/rank0.100.pt.trace.json  rank 0 of 2     |--|              ┐ job 0, rank 0: two recordings
    a/rank0.200.pt.trace.json  rank 0 of 2              |--|     ┘
    a/rank1.100.pt.trace.json  rank 1 of 2     |--|                job 0, rank 1: goes with the first
    b/rank0.100.pt.trace.json  rank 0 of 2     |--|                job 1: there is one rank 0 of a job at a time
    eager.json                 nothing         |--|                job 2: whoever says nothing stands alone
    compiled.json              nothing                  |--|       job 3

- **Rank**: what the file says (``distributedInfo``), else what its name tells, else unknown.
- **Recording**: files of one rank that do not overlap in time are its recordings. Files of different ranks were recorded
  together if they overlap, or share a step, iteration, stage or timestamp in their names.
- **Job**: ranks of one world size and distinct number that were recorded together. Where a rank is there twice at a time,
  the names tell the jobs apart, else the collectives that its files share; where neither does, each stands alone. Files
  that tell no rank are of one job if they share collectives; the order of their names is then a guess at their ranks.

What a file says and when it was recorded is known once it is imported, its name before. So the decision is made from what
is known, and anew when an import arrives; a file that is not imported may be of any job (``UNDECIDED``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.patterns import regex
from torch_tb_profiler.sources import names
from torch_tb_profiler.sources.names import TraceName

UNDECIDED = -1
"""The job of what is not imported."""
MOST_SKEW_NS = 5_000_000_000
"""Clocks of the machines of a job differ by less."""
AT_ONCE = 0.05
"""One process does not record twice at a time: two recordings of one rank that share more than this part of the shorter
one are of two processes. A profiler that begins anew at once records the end of the last cycle's device work twice.
"""
_TOKEN = regex(r"[^A-Za-z0-9]+")
_NUMBERED = regex(r"([A-Za-z]+)(\d+)", re.ASCII)


class KnownFile(msgspec.Struct, frozen=True):
    """What is known of a file that holds a trace.

    settled: it was imported, and the rest is what it says. rank, world_size: by its ``distributedInfo``. begin, end: Unix
    time of its first and last event, ns; None unknown. collectives: some, (what it is, begin, end; Unix time, ns), of which
    ranks of one job have the same (``shared_sample``).
    """

    name: TraceName
    settled: bool
    rank: int | None = None
    world_size: int | None = None
    begin: int | None = None
    end: int | None = None
    collectives: tuple[tuple[int, int, int], ...] = ()


class Process(msgspec.Struct, frozen=True):
    """One process and its recordings, as the catalogue shows them.

    files: indices into the files. job: numbers from 0, or ``UNDECIDED``. source: what tells the rank. extra: its files
    hold no traces. called_after: what the names of its first files call it; that of others tells their recordings.
    """

    worker: str
    files: tuple[int, ...]
    job: int
    rank: int | None
    source: names.RankSource
    world_size: int | None
    extra: bool = False
    called_after: str = ""


class Decision(msgspec.Struct, frozen=True):
    """``processes``: of all files. ``remarks``: sentences on what the files contradict or leave open."""

    processes: tuple[Process, ...]
    remarks: tuple[str, ...] = ()


def decide(files: Sequence[KnownFile]) -> Decision:
    """Whose recordings the files of one run are."""
    return _Deciding(files).decision()


class _Rank(msgspec.Struct, frozen=True):
    """What is known of the rank of a file."""

    number: int | None
    source: names.RankSource
    world_size: int | None


class _Deciding:
    def __init__(self, files: Sequence[KnownFile]) -> None:
        self._files = files
        self._traced = [i for i, file in enumerate(files) if not file.name.extra]
        workers = sorted({files[i].name.worker for i in self._traced}, key=names.natural)
        ranked = [worker for worker in workers if not names.is_front_end(worker)]
        self._told = dict(zip(ranked, names.told_ranks(ranked), strict=True))
        self._ranks: dict[int, _Rank] = {}
        self._said: dict[str, set[tuple[int, int | None]]] = {}
        for file in files:
            if file.rank is not None:
                self._said.setdefault(file.name.worker, set()).add((file.rank, file.world_size))
        self._processes: list[Process] = []
        self._remarks: list[str] = []
        self._jobs = 0

    def decision(self) -> Decision:
        """The processes with distinct names, and what is to be said of them."""
        claimed: dict[int | None, list[int]] = {}
        by_name, alone, open_ones = list[int](), list[int](), list[int]()
        for i in self._traced:
            file = self._files[i]
            if not file.settled:
                open_ones.append(i)
            elif (rank := self._claim(i)) is None:
                (by_name if self._named(i).number is not None else alone).append(i)
            elif rank.world_size == 1:
                alone.append(i)
            else:
                self._ranks[i] = rank
                claimed.setdefault(rank.world_size, []).append(i)
        if len(claimed) == 1:
            [members] = claimed.values()
            by_name = self._completed(members, by_name)
        for _, members in sorted(claimed.items(), key=lambda item: item[0] or 0):
            for job in self._divided(members):
                self._add_job(job)
        self._of_names(by_name)
        for workers in self._tied_workers(alone):
            shared = self._next_job()
            for number, (worker, members) in enumerate(workers.items()):
                tied = len(workers) > 1
                rank = _Rank(number, "order", None) if tied else self._rank_of(members[0])
                self._add(worker, members, shared, rank)
        if not self._remarks and not open_ones and self._jobs == len(self._processes) > 1:
            self._remarks.append(
                f"Nothing ties the recordings of these {len(self._processes)} processes to each other: they are no ranks of"
                " one job, nobody waits for another, and Diff and Experiments compare them."
            )
        self._undecided(open_ones)
        self._extras()
        return Decision(tuple(self._distinct()), tuple(self._remarks))

    def _claim(self, i: int) -> _Rank | None:
        """The rank that a file says, or that another recording of its name does."""
        file = self._files[i]
        if file.rank is not None:
            return _Rank(file.rank, "distributedInfo", file.world_size)
        said = self._said.get(file.name.worker, set())
        if len(said) == 1:
            [(rank, world_size)] = said
            return _Rank(rank, "file name", world_size)
        return None

    def _named(self, i: int) -> _Rank:
        file = self._files[i]
        number, source = self._told.get(file.name.worker, (None, "order"))
        return _Rank(number, source, file.world_size or names.told_world(file.name.worker))

    def _completed(self, members: list[int], by_name: Sequence[int]) -> list[int]:
        """Add to the only world the files whose names tell a rank that it lacks; the others."""
        rest, there = [], {self._ranks[i].number for i in members}
        world_size = self._ranks[members[0]].world_size
        for i in by_name:
            rank = self._named(i)
            fits = world_size is None or (rank.number or 0) < world_size
            if rank.source == "file name" and rank.number not in there and fits:
                self._ranks[i] = replace(rank, world_size=world_size)
                members.append(i)
            else:
                rest.append(i)
        return rest

    def _of_names(self, members: Sequence[int]) -> None:
        """Imported files that say nothing of their rank, but whose names do."""
        self._ranks |= {i: self._named(i) for i in members}
        for job in self._divided(members):
            numbers = {self._ranks[i].number for i in job}
            if len(numbers) < 2 and all(self._ranks[i].source == "order" for i in job):
                # A number that nobody else completes to a sequence is just a number.
                self._ranks |= {i: replace(self._ranks[i], number=None) for i in job}
            elif numbers == set(range(len(numbers))):
                for i in job:
                    size = self._ranks[i].world_size or len(numbers)
                    self._ranks[i] = replace(self._ranks[i], world_size=size)
            self._add_job(job)

    def _divided(self, members: Sequence[int]) -> list[list[int]]:
        """The files in jobs."""
        return [job for part in self._engines(members) for job in self._together(part)]

    def _engines(self, members: Sequence[int]) -> list[list[int]]:
        """The files in parts in which each rank is there once at a time."""
        twice = self._twice(members)
        if not twice:
            return [list(members)] if members else []
        parts = self._by_names(members)
        if parts is None and not any(map(self._twice, tied := self._tied(members))):
            parts = tied
        if parts is None:
            parts = [[i] for i in members]
        self._remarks.append(self._remark(twice, len(parts)))
        return parts

    def _remark(self, twice: tuple[int, int], parts: int) -> str:
        first, second = (_called(self._files[i].name) for i in twice)
        rank = self._ranks[twice[0]]
        of = f" of {rank.world_size}" if rank.world_size else ""
        tells = "say" if rank.source == "distributedInfo" else "are called"
        return (
            f"{first} and {second} both {tells} rank {rank.number}{of} and were recorded at the same time:"
            f" they are taken for ranks of different jobs ({parts} in all), and no rank of one waits for"
            " the other."
        )

    def _twice(self, members: Iterable[int]) -> tuple[int, int] | None:
        """Two files of one rank that were recorded at the same time; None if there are none."""
        for own in self._by_rank(members):
            own.sort(key=lambda i: self._files[i].begin or 0)
            for a, b in pairwise(own):
                if self._clash(self._files[a], self._files[b]):
                    return a, b
        return None

    def _by_rank(self, members: Iterable[int]) -> Iterable[list[int]]:
        by_rank: dict[int | None, list[int]] = {}
        for i in members:
            by_rank.setdefault(self._ranks[i].number, []).append(i)
        return by_rank.values()

    @staticmethod
    def _clash(a: KnownFile, b: KnownFile) -> bool:
        if a.begin is None or b.begin is None or a.end is None or b.end is None:
            return a.name.worker != b.name.worker or moment_of(a.name) == moment_of(b.name)
        shared = min(a.end, b.end) - max(a.begin, b.begin)
        return shared >= 0 and shared >= AT_ONCE * min(a.end - a.begin, b.end - b.begin)

    def _by_names(self, members: Sequence[int]) -> list[list[int]] | None:
        """The files divided by the part of their names that tells the jobs apart with the fewest jobs; None: no part does."""
        best: list[list[int]] | None = None
        for values in self._features(members):
            parts: dict[str, list[int]] = {}
            for i, value in zip(members, values, strict=True):
                parts.setdefault(value, []).append(i)
            fewer = len(parts) < (len(best) if best else len(members))
            if fewer and not any(self._twice(part) for part in parts.values()):
                best = list(parts.values())
        return best

    def _tied(self, members: Iterable[int]) -> list[list[int]]:
        """The files divided by the collectives that they share: most of those that two have in common overlap in time."""
        groups: list[list[int]] = []
        times: list[dict[int, tuple[int, int]]] = []
        holders: dict[int, list[int]] = {}
        for i in members:
            met: dict[int, list[bool]] = {}
            for key, begin, end in self._files[i].collectives:
                for group in holders.get(key, ()):
                    other = times[group][key]
                    met.setdefault(group, []).append(begin <= other[1] and other[0] <= end)
            tied = [group for group, own in met.items() if 2 * sum(own) > len(own)]
            best = max(tied, key=lambda group: sum(met[group]), default=len(groups))
            if best == len(groups):
                groups.append([])
                times.append({})
            groups[best].append(i)
            for key, begin, end in self._files[i].collectives:
                if key not in times[best]:
                    times[best][key] = begin, end
                    holders.setdefault(key, []).append(best)
        return groups

    def _tied_workers(self, members: Sequence[int]) -> list[dict[str, list[int]]]:
        """The files by worker, those workers together of which recordings share collectives."""
        by_worker = self._by_worker(members)
        first = {worker: worker for worker in by_worker}

        def root(worker: str) -> str:
            while first[worker] != worker:
                worker = first[worker]
            return worker

        for group in self._tied(members):
            for i in group[1:]:
                ends = (root(self._files[at].name.worker) for at in (group[0], i))
                low, high = sorted(ends, key=names.natural)
                first[high] = low
        jobs: dict[str, dict[str, list[int]]] = {}
        for worker, own in by_worker.items():
            jobs.setdefault(root(worker), {})[worker] = own
        return list(jobs.values())

    def _features(self, members: Sequence[int]) -> Iterator[list[str]]:
        """Of each part of the names its value in every file: of ``dp1_tp0`` the number behind ``dp``, that behind ``tp``, and
        the word at each place where all names have equally many.
        """
        words = [_words(self._files[i].name) for i in members]
        numbered = [{m[1]: m[2] for w in own if (m := _NUMBERED.fullmatch(w))} for own in words]
        for key in numbered[0]:
            if all(key in own for own in numbered):
                yield [own[key] for own in numbered]
        if len({len(own) for own in words}) == 1:
            yield from (list(column) for column in zip(*words, strict=True))

    def _together(self, members: Sequence[int]) -> list[list[int]]:
        """The files in jobs: linked by their rank, by time, or by what their names share."""
        parent = {i: i for i in members}

        def root(i: int) -> int:
            while parent[i] != i:
                parent[i] = parent[parent[i]]
                i = parent[i]
            return i

        first: dict[object, int] = {}
        timed = []
        for i in members:
            file = self._files[i]
            keys: list[object] = [("rank", self._ranks[i].number)]
            if moment := moment_of(file.name):
                keys.append(("moment", moment))
            for key in keys:
                parent[root(i)] = root(first.setdefault(key, i))
            if file.begin is None or file.end is None:
                # Nothing says that it was recorded at another time.
                parent[root(i)] = root(members[0])
            else:
                timed.append((file.begin, file.end, i))
        latest: tuple[int, int] | None = None
        for begin, end, i in sorted(timed):
            if latest is not None and begin <= latest[0] + MOST_SKEW_NS:
                parent[root(i)] = root(latest[1])
            latest = max(latest, (end, i)) if latest is not None else (end, i)
        jobs: dict[int, list[int]] = {}
        for i in members:
            jobs.setdefault(root(i), []).append(i)
        return list(jobs.values())

    def _add_job(self, members: Sequence[int]) -> None:
        job = self._next_job()
        for own in self._by_rank(members):
            # The name that it had before the others were imported, so that links to it stay.
            worker = min((self._files[i].name.worker for i in own), key=names.natural)
            self._add(worker, own, job, self._ranks[own[0]])

    def _undecided(self, members: Sequence[int]) -> None:
        """Files that are not imported: recordings of the process of their name, or of one of unknown job."""
        groups = self._without_process(members)
        ranks = {worker: self._told.get(worker, (None, "order")) for worker in groups}
        numbers = sorted(number for number, _ in ranks.values() if number is not None)
        sizes = [process.world_size for process in self._processes if process.world_size]
        gapless = numbers == list(range(len(groups))) and len(groups) > 1
        guess = max(sizes) if sizes else len(groups) if gapless else None
        for worker, own in groups.items():
            rank, source = ranks[worker]
            size = None if rank is None else guess
            self._add(worker, own, UNDECIDED, _Rank(rank, source, size))

    def _extras(self) -> None:
        """Snapshots, memory timelines and stacks: with the process of their name, else behind all."""
        groups = self._without_process(i for i, f in enumerate(self._files) if f.name.extra)
        told = names.told_ranks(list(groups))
        for (worker, own), (rank, source) in zip(groups.items(), told, strict=True):
            self._add(worker, own, self._next_job(), _Rank(rank, source, None), extra=True)

    def _rank_of(self, i: int) -> _Rank:
        file = self._files[i]
        source: names.RankSource = "order" if file.rank is None else "distributedInfo"
        return _Rank(file.rank, source, file.world_size)

    def _without_process(self, members: Iterable[int]) -> dict[str, list[int]]:
        """Adds files to the one process of their name; those without one, by worker."""
        place: dict[str, list[int]] = {}
        for number, process in enumerate(self._processes):
            for worker in {self._files[i].name.worker for i in process.files}:
                place.setdefault(worker, []).append(number)
        rest = []
        for i in members:
            if len(known := place.get(self._files[i].name.worker, [])) == 1:
                process = self._processes[known[0]]
                self._processes[known[0]] = replace(process, files=(*process.files, i))
            else:
                rest.append(i)
        return self._by_worker(rest)

    def _by_worker(self, members: Iterable[int]) -> dict[str, list[int]]:
        groups: dict[str, list[int]] = {}
        for i in members:
            groups.setdefault(self._files[i].name.worker, []).append(i)
        return dict(sorted(groups.items(), key=lambda item: names.natural(item[0])))

    def _next_job(self) -> int:
        self._jobs += 1
        return self._jobs - 1

    def _add(
        self, worker: str, own: Sequence[int], job: int, rank: _Rank, *, extra: bool = False
    ) -> None:
        known = (rank.number, rank.source, rank.world_size)
        self._processes.append(Process(worker, tuple(own), job, *known, extra, worker))

    def _distinct(self) -> list[Process]:
        """The processes, each with a name of its own: where two have one name, with what names their only recording."""
        count: dict[str, int] = {}
        for process in self._processes:
            count[process.worker] = count.get(process.worker, 0) + 1
        titles = []
        for process in self._processes:
            called = {self._files[i].name.recording for i in process.files}
            prefix = called.pop() if len(called) == 1 and count[process.worker] > 1 else ""
            titles.append("-".join(filter(None, (prefix, process.worker))))
        unique = names.unique(titles)
        return [replace(p, worker=w) for p, w in zip(self._processes, unique, strict=True)]


def _words(name: TraceName) -> list[str]:
    told = "-".join(filter(None, (name.recording, name.worker, name.span)))
    return [word for word in _TOKEN.split(told) if word]


def moment_of(name: TraceName) -> str:
    """What a name tells of the recording; equal where two were made together. Empty if nothing."""
    return ".".join(filter(None, (name.recording, name.span)))


def _called(name: TraceName) -> str:
    return ".".join(filter(None, (name.worker, moment_of(name))))
