"""The object of ``summary --json`` has the promised keys and agrees with the facts."""

from __future__ import annotations

import json

from tests.views import hand_made
from torch_tb_profiler.views.overview.summary import summary

US = hand_made.US
IDENTITY = {"run": "run", "worker": "w0", "span": "1", "path": "run/w0.json"}


def test_the_schema() -> None:
    values = json.loads(json.dumps(summary(hand_made.facts(), IDENTITY, 99, 3), allow_nan=False))
    promised = {
        "run",
        "worker",
        "span",
        "path",
        "events",
        "span_ns",
        "steps",
        "devices",
        "operators",
        "kernels",
        "attribution",
        "defects",
    }
    assert promised <= set(values)
    assert values["events"] == {"total": 99, "stored": 96, "lost": 3}
    assert values["steps"][0] == {
        "name": "ProfilerStep#1",
        "start_ns": 0,
        "wall_ns": 100 * US,
        "categories_ns": {
            "kernel": 40 * US,
            "memcpy": 0,
            "memset": 0,
            "communication": 10 * US,
            "runtime": 0,
            "dataloader": 0,
            "cpu_exec": 0,
            "other": 50 * US,
        },
    }
    assert set(values["devices"][0]) == {
        "id",
        "name",
        "utilization",
        "sm_efficiency",
        "occupancy",
        "occupancy_known_share",
        "matrix_core_share",
    }
    assert values["operators"][0] == {
        "name": "aten::mm",
        "calls": 6,
        "device_self_ns": 60 * US,
        "device_total_ns": 60 * US,
        "host_self_ns": 60 * US,
        "host_total_ns": 120 * US,
    }
    assert values["kernels"][1] == {
        "name": hand_made.NCCL,
        "calls": 1,
        "total_ns": 10 * US,
        "mean_ns": 10 * US,
        "min_ns": 10 * US,
        "max_ns": 10 * US,
    }
    assert values["defects"] == [{"name": "truncated_file", "severity": "data_loss", "count": 1}]


def test_device_times_of_a_host_only_trace_are_unknown() -> None:
    values = summary(hand_made.facts(device=False), IDENTITY, 99, 3)
    assert {row["device_self_ns"] for row in values["operators"]} == {None}
    assert (values["devices"], values["kernels"]) == ([], [])


def test_categories_that_were_not_recorded_are_unknown() -> None:
    host = hand_made.with_steps(hand_made.facts(device=False), kernel=[0] * 3)
    for step in summary(host, IDENTITY, 99, 3)["steps"]:
        assert [key for key, ns in step["categories_ns"].items() if ns is None] == [
            "kernel",
            "memcpy",
            "memset",
            "runtime",
        ]
