"""The loop of ``loop.py`` as ranks of a job record it: each step ends in an all-reduce that all ranks leave together.

::

    host     <synchronize                          >
    rank 0   {gemm    }{all_reduce: waits | moves}       gemm 200 µs
    rank 1   {gemm                       }{moves }       gemm 400 µs: rank 1 holds rank 0 back by 200 µs
             50       250                450     550 µs
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.builders.loop import BASE_NS, STEP_US, Event, document, process, span

QUICK_US, SLOW_US = 200, 400
_GEMM, _MOVES = 50, 100


@dataclass(frozen=True)
class Recorded:
    """One file of a rank.

    path: below the folder. rank, world: of ``distributedInfo``; None: the file does not say. gemm_us: its own; slowest_us: of
    the slowest rank of its job. begin_us: after ``BASE_NS``; None: no clock. sequence: of the first collective; None: none has a
    number. skew_us: what its clock is ahead. members: of the group of the collectives; none without any.
    """

    path: str
    rank: int | None = 0
    world: int | None = 2
    gemm_us: float = QUICK_US
    slowest_us: float = QUICK_US
    begin_us: float | None = 1_000_000.0
    steps: int = 3
    first: int = 0
    sequence: int | None = None
    skew_us: float = 0.0
    members: Sequence[int] = (0, 1)


def events(one: Recorded) -> list[Event]:
    """The events of a file."""
    begin = (one.begin_us or 0.0) + one.skew_us
    found = process(100, "python", "CPU") + process(0, "python", "GPU 0")
    for k in range(one.steps):
        number, at = one.first + k, begin + k * STEP_US
        found.append(span("user_annotation", f"ProfilerStep#{number}", 100, 100, at, STEP_US))
        found += _kernel("aten::mm", "gemm_kernel", at, at + _GEMM, one.gemm_us, 2 * number + 1, {})
        if len(one.members) > 1:
            arrives = at + _GEMM + one.gemm_us
            leaves = at + _GEMM + one.slowest_us + _MOVES
            told = _collective(one, None if one.sequence is None else one.sequence + k)
            name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
            found += _kernel(
                "c10d::allreduce_", name, at + 25, arrives, leaves - arrives, 2 * number + 2, told
            )
            waits = {"correlation": 9000 + number}
            found.append(
                span(
                    "cuda_runtime",
                    "cudaDeviceSynchronize",
                    100,
                    100,
                    at + 60,
                    leaves + 5 - at - 60,
                    **waits,
                )
            )
    return found


def _kernel(
    operator: str, name: str, at: float, begins: float, lasts: float, number: int, told: Event
) -> list[Event]:
    launched = {"correlation": number, "External id": number}
    device = {**launched, "device": 0, "stream": 7, **told}
    return [
        span("cpu_op", operator, 100, 100, at, 25, **{"External id": number}),
        span("cuda_runtime", "cudaLaunchKernel", 100, 100, at + 5, 10, **launched),
        span("kernel", name, 0, 7, begins, lasts, **device),
    ]


def _collective(one: Recorded, sequence: int | None) -> dict[str, Any]:
    told = {
        "Collective name": "allreduce",
        "In msg nelems": 4096,
        "Out msg nelems": 4096,
        "Group size": len(one.members),
        "dtype": "Float",
        "Process Group Name": "0",
        "Process Group Description": "default_pg",
        "Process Group Ranks": str(list(one.members)),
    }
    return told if sequence is None else {**told, "Seq": sequence}


def write(folder: Path, files: Sequence[Recorded]) -> Path:
    """The files, packed where their names end so."""
    for one in files:
        content = document(
            events(one),
            rank=one.rank,
            world=one.world,
            base_ns=None if one.begin_us is None else BASE_NS,
        )
        if one.rank is not None and len(one.members) > 1:
            group = {
                "pg_name": "0",
                "pg_desc": "default_pg",
                "backend_config": "cuda:nccl",
                "pg_size": len(one.members),
                "ranks": list(one.members),
            }
            content["distributedInfo"]["pg_config"] = [group]
        path = folder / one.path
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(content).encode()
        path.write_bytes(gzip.compress(text, 1) if path.suffix == ".gz" else text)
    return folder


def job(
    names: Sequence[str],
    slow: int | None = None,
    begin_us: float = 1_000_000.0,
    **more: Any,
) -> list[Recorded]:
    """One recording of a job: a file per rank, of which rank ``slow`` computes twice as long."""
    slowest = QUICK_US if slow is None else SLOW_US
    return [
        Recorded(
            name,
            **{
                "rank": rank,
                "world": len(names),
                "gemm_us": SLOW_US if rank == slow else QUICK_US,
                "slowest_us": slowest,
                "begin_us": begin_us,
                "members": range(len(names)),
                **more,
            },
        )
        for rank, name in enumerate(names)
    ]
