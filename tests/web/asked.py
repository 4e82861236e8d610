"""What the routes say of a trace's facts, in the shape of ``tests/analysis/figures.py``: µs, to
compare with figures written in a test.
"""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from tests.analysis.figures import UNNAMED
from tests.views import hand_made
from tests.web.served import WHERE, WrittenCatalogue, body, client
from torch_tb_profiler.analysis.facts.flags import NoOperator
from torch_tb_profiler.runs.memo import Memo
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.steps import step_objects
from torch_tb_profiler.views.wire import KernelGroup, OperatorGroup

_KERNEL_TIMES = {
    "total": "total_ns",
    "mean": "mean_ns",
    "shortest": "min_ns",
    "longest": "max_ns",
}
_KERNEL_NUMBERS = ("calls", "matrix", "matrix_eligible", "communication")


def route(facts: Facts, path: str, **query: str) -> dict[str, Any]:
    """The payload of a route for these facts."""
    catalogue = WrittenCatalogue(replace(hand_made.opened(), facts=facts, memo=Memo()))
    response = client(catalogue).get(
        f"{path}?{WHERE}" + "".join(f"&{key}={value}" for key, value in query.items())
    )
    assert response.status_code == 200, response.data[:500]
    values: dict[str, Any] = json.loads(body(response))
    return values


def steps(facts: Facts) -> list[dict[str, float]]:
    """Per step the categories that are not 0, and ``wall``."""
    return [
        {
            "wall": step["wall_ns"] / 1000,
            **{key: ns / 1000 for key, ns in step["categories_ns"].items() if ns},
        }
        for step in step_objects(route(facts, "/overview")["steps"])
    ]


def average_wall(facts: Facts) -> float:
    """The average step time of the Overview."""
    return float(route(facts, "/overview")["average"]["wall_ns"]) / 1000


def operators(
    facts: Facts, group: OperatorGroup = "name"
) -> dict[tuple[str, ...], tuple[float, ...]]:
    """By name (and shapes, if grouped by them): calls, device self, device total, host self, host
    total; without the rows of work that has no operator. Without device work its times count as 0.
    """
    rows = route(facts, "/operator", group=group)["rows"]
    sums: dict[tuple[str, ...], tuple[float, ...]] = {}
    for at, name in enumerate(rows["name"]):
        if rows["attribution"][at] in UNNAMED:
            continue
        times = (
            rows[key][at]
            for key in ("device_self_ns", "device_total_ns", "host_self_ns", "host_total_ns")
        )
        key = (name, rows["input_shapes"][at] or "") if group == "shape" else (name,)
        sums[key] = (float(rows["calls"][at]), *((time or 0) / 1000 for time in times))
    return sums


def kernels(facts: Facts, group: KernelGroup = "name") -> list[dict[str, Any]]:
    """Rows of the kernel table in its order; -1 where a property is not known, ``reason`` as
    ``NoOperator``.
    """
    rows = route(facts, "/kernel", group=group)["rows"]
    return [
        {
            **{
                key: rows[key][at]
                for key in ("name", "operator", "grid", "block", "blocks_per_sm", "occupancy")
            },
            **{key: rows[column][at] / 1000 for key, column in _KERNEL_TIMES.items()},
            **{key: int(rows[key][at]) for key in _KERNEL_NUMBERS},
            "reason": NoOperator[key.upper()] if (key := rows["no_operator"][at]) else 0,
            "registers": -1 if rows["registers"][at] is None else rows["registers"][at],
            "shared_memory": -1
            if rows["shared_memory_bytes"][at] is None
            else rows["shared_memory_bytes"][at],
        }
        for at in range(len(rows["name"]))
    ]
