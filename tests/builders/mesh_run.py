"""A run on a mesh of ranks as files: each rank computes and then joins an all-reduce; some compute longer."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.e2e.traces import event

MS = 1000
"""µs"""
STEP, COMPUTE = 110 * MS, 60 * MS
PER_NODE = 8
_STREAM = {"device": 0, "context": 1, "stream": 7}


def mesh_groups(sizes: Mapping[str, int], described: bool = True) -> list[dict[str, Any]]:
    """``pg_config`` with the groups of a row-major mesh, all ranks first: sizes by name, the nearest ranks last."""
    shape = tuple(sizes.values())
    ranks = np.arange(math.prod(shape)).reshape(shape)
    found = [("default_pg", ranks.reshape(1, -1))]
    for axis, name in enumerate(sizes):
        rows = np.moveaxis(ranks, axis, -1).reshape(-1, shape[axis])
        found.append((f"mesh_{name}" if described else "undefined", rows))
    return [
        {
            "pg_name": str(number),
            "pg_desc": name,
            "backend_config": "cuda:nccl",
            "pg_size": len(row),
            "ranks": row,
        }
        for number, (name, row) in enumerate(
            (name, row) for name, rows in found for row in rows.tolist()
        )
    ]


def mesh_rank(
    rank: int,
    groups: Sequence[dict[str, Any]],
    slowest: float,
    slow: float = 1.0,
    steps: int = 2,
) -> dict[str, Any]:
    """The trace of a rank that computes ``slow`` times as long as usual; all wait for the ``slowest``."""
    world = len(groups[0]["ranks"])
    events: list[dict[str, Any]] = []
    for step in range(steps):
        begin, compute = step * STEP * slowest, COMPUTE * slow * (1 + 0.002 * (rank % 5))
        end = begin + COMPUTE * slowest * 1.01 + 20 * MS
        gemm, reduce = (10 * step + number for number in (1, 2))
        events += [
            _event("user_annotation", f"ProfilerStep#{step + 3}", begin, end - begin + 100, 1),
            _launch(begin + 100, gemm),
            _launch(begin + 300, reduce),
            _event("kernel", "gemm", begin + 200, compute, 7, **_STREAM, correlation=gemm),
            _event(
                "kernel",
                "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                begin + 200 + compute,
                end - begin - 200 - compute,
                7,
                **_STREAM,
                correlation=reduce,
                **{
                    "Collective name": "allreduce",
                    "Process Group Name": "0",
                    "Group size": world,
                    "In msg nelems": 1 << 20,
                    "dtype": "BFloat16",
                },
            ),
        ]
    return {
        "schemaVersion": 1,
        "host_name": f"node{rank // PER_NODE}",
        "deviceProperties": [{"id": 0, "name": "Example GPU", "totalGlobalMem": 80 << 30}],
        "distributedInfo": {
            "backend": "nccl",
            "rank": rank,
            "world_size": world,
            "pg_config": [group for group in groups if rank in group["ranks"]],
        },
        "traceEvents": events,
    }


def _event(
    category: str, name: str, ts: float, dur: float, tid: int, **args: Any
) -> dict[str, Any]:
    pid = 0 if category == "kernel" else 100
    return event(category, name, ts, dur, pid, tid, **args)


def _launch(ts: float, correlation: int) -> dict[str, Any]:
    return _event("cuda_runtime", "cudaLaunchKernel", ts, 20, 1, correlation=correlation)


def write_mesh(
    folder: Path, sizes: Mapping[str, int], slow: Mapping[int, float], described: bool = True
) -> Path:
    """Files ``rank0.pt.trace.json`` and so on; ``slow``: how many times as long some ranks compute."""
    folder.mkdir(parents=True)
    groups, slowest = mesh_groups(sizes, described), max([1.0, *slow.values()])
    for rank in range(math.prod(sizes.values())):
        content = mesh_rank(rank, groups, slowest, slow.get(rank, 1.0))
        (folder / f"rank{rank}.pt.trace.json").write_text(json.dumps(content), encoding="utf-8")
    return folder
