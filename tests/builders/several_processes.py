"""A database of several processes that train together: Nsight Systems', nvprof's or rocpd's.

::

    rank 0   [gemm      ][all_reduce: waits | transfer]   [gemm      ][…        each process has a device of its own
    rank 1   [gemm             ]──────────[ transfer  ]   [gemm             ][…
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.builders.nsight import NsightFile
from tests.builders.rocprofv3 import Call, Kernel, Record, rocpd

COLLECTIVES = {
    "nsight": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
    "rocpd": "ncclDevKernel_Generic_AllReduce_1",
}


@dataclass(frozen=True)
class Job:
    """Processes that run the same collectives.

    first_pid: of ``ranks`` processes in a row. begin: ns. late: by how many ns each computes longer than the one before.
    skipped: of so many collectives a process lacks the first one, the others have it.
    """

    ranks: int
    first_pid: int = 4200
    begin: int = 1_000_000
    count: int = 12
    work: int = 400_000
    late: int = 150_000
    transfer: int = 400_000
    device: int = 0
    skipped: tuple[int, ...] = ()

    def pieces(self, rank: int) -> list[tuple[bool, int, int, int]]:
        """Of each piece of device work of a process whether it is a collective, begin, end and correlation id."""
        round_ = self.work + self.late * (self.ranks - 1) + self.transfer
        found = []
        for k in range(rank in self.skipped, self.count):
            begin = self.begin + k * round_
            middle, end = begin + self.work + rank * self.late, begin + round_
            found += [(False, begin, middle, 2 * k + 1), (True, middle, end, 2 * k + 2)]
        return found


def write_nsight(path: Path, *jobs: Job, without: tuple[str, ...] = ()) -> None:
    """An export of Nsight Systems; ``without``: columns to omit."""
    with NsightFile(path, without=without) as file:
        for job in jobs:
            add_nsight(file, job)


def add_nsight(file: NsightFile, job: Job) -> None:
    """Add a job to an export."""
    for rank in range(job.ranks):
        pid = job.first_pid + rank
        for moves, begin, end, number in job.pieces(rank):
            name = COLLECTIVES["nsight"] if moves else "gemm"
            at = begin - 6_000
            file.call("cudaLaunchKernel_v7000", at, at + 1_000, pid, pid, correlation=number)
            file.kernel(name, begin, end, number, pid=pid, device=job.device + rank)


def write_rocpd(
    path: Path, *jobs: Job, environment: Callable[[int], dict[str, str]] = lambda _: {}
) -> None:
    """A database of rocprofv3: each process has its own tables. ``environment``: of a rank."""
    for job in jobs:
        for rank in range(job.ranks):
            pid = job.first_pid + rank
            records: list[Record] = []
            for moves, begin, end, number in job.pieces(rank):
                name = COLLECTIVES["rocpd"] if moves else "gemm"
                records.append(Call("hipLaunchKernel", begin - 6_000, 1_000, number, thread=pid))
                records.append(
                    Kernel(name, begin, end - begin, number, agent=1 + job.device + rank)
                )
            rocpd(path, records, pid=pid, ending=f"_{pid}", environment=environment(rank))
