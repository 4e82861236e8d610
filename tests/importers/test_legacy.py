"""Traces of the legacy autograd profiler (PyTorch 0.4 to 1.7): no categories, but telling process
names.
"""

from __future__ import annotations

import json
from typing import Any

from tests.importers.reading import defects, names, read
from torch_tb_profiler.analysis.facts.defects import KERNEL_WITHOUT_LAUNCH
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.kernels import kernel_rows
from torch_tb_profiler.analysis.figures.operators import operator_rows
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

Kernel = tuple[str, float, float]
"""Name, begin and length in µs."""


def _written(*operators: tuple[str, float, float, list[Kernel]], device: int = 0) -> str:
    """The output of 1.7's ``EventList.export_chrome_trace`` for operators (name, begin, duration,
    kernels).
    """
    events: list[dict[str, Any]] = []
    number = 0
    for name, start, length, kernels in operators:
        events.append(
            {
                "name": name,
                "ph": "X",
                "ts": start,
                "dur": length,
                "tid": 1,
                "pid": "CPU functions",
                "args": {},
            }
        )
        for kernel, start_us, dur in kernels:
            flow = {"id": number, "cat": "cpu_to_cuda", "args": {}}
            events.append(
                {"name": name, "ph": "s", "ts": start, "tid": 1, "pid": "CPU functions", **flow}
            )
            events.append(
                {
                    "name": kernel,
                    "ph": "f",
                    "ts": start_us,
                    "tid": device,
                    "pid": "CUDA functions",
                    **flow,
                }
            )
            events.append(
                {
                    "name": kernel,
                    "ph": "X",
                    "ts": start_us,
                    "dur": dur,
                    "tid": device,
                    "pid": "CUDA functions",
                    "args": {},
                }
            )
            number += 1
    return json.dumps(events)


def _device_times(trace: Trace) -> dict[str, tuple[int, int]]:
    """Operator → (device self, device total) in µs."""
    facts = derive(trace)
    rows = operator_rows(facts, select(facts), "name")
    listed = zip(
        facts.strings.many(rows["name"]),
        rows["device_self_ns"].tolist(),
        rows["device_total_ns"].tolist(),
        strict=True,
    )
    return {name: (own // 1000, total // 1000) for name, own, total in listed}


def test_processes_say_what_events_are() -> None:
    trace = read(
        _written(
            (
                "aten::mm",
                1.5,
                20,
                [("Memcpy HtoD", 30, 4), ("gemm", 40.25, 8), ("Memset (Device)", 60, 1)],
            )
        )
    )
    roles = dict(zip(names(trace), trace["spans"]["role"].tolist(), strict=True))
    assert roles == {
        "aten::mm": Role.OPERATOR,
        "Memcpy HtoD": Role.MEMCPY,
        "gemm": Role.KERNEL,
        "Memset (Device)": Role.MEMSET,
    }
    assert (defects(trace), trace["device_args"]["device"].tolist()) == ({}, [0, 0, 0])


def test_flows_tie_kernels_to_their_operators() -> None:
    trace = read(
        _written(
            ("aten::add", 0, 5, [("add_kernel", 20, 3)]),
            ("aten::mm", 6, 20, [("gemm", 30, 8), ("reduce", 40, 2)]),
            device=3,
        )
    )
    assert _device_times(trace) == {"aten::mm": (10, 10), "aten::add": (3, 3)}
    facts = derive(trace)
    assert facts.defects.as_dict() == {KERNEL_WITHOUT_LAUNCH: 3}
    assert facts["devices"]["id"].tolist() == [3]


def test_the_time_of_an_operator_that_called_others_is_no_work_of_its_own() -> None:
    trace = read(
        _written(
            ("aten::conv2d", 0, 50, [("aten::conv2d", 100, 40)]),
            ("aten::convolution", 2, 40, [("aten::convolution", 104, 30)]),
            ("aten::cudnn", 5, 10, [("aten::cudnn", 106, 12)]),
            ("aten::add_", 20, 5, [("aten::add_", 120, 6)]),
            ("aten::relu", 60, 5, [("aten::relu", 150, 7)]),
        )
    )
    facts = derive(trace)
    kernels = kernel_rows(facts, select(facts), "name")
    assert dict(
        zip(
            facts.strings.many(kernels["name"]), (kernels["total_ns"] // 1000).tolist(), strict=True
        )
    ) == {"aten::cudnn": 12, "aten::relu": 7, "aten::add_": 6}
    assert _device_times(trace) == {
        "aten::conv2d": (0, 18),
        "aten::convolution": (0, 18),
        "aten::cudnn": (12, 12),
        "aten::add_": (6, 6),
        "aten::relu": (7, 7),
    }


def test_kernels_with_names_of_their_own_may_overlap() -> None:
    trace = read(
        _written(("aten::a", 0, 5, [("long", 10, 30)]), ("aten::b", 6, 5, [("short", 15, 5)]))
    )
    assert _device_times(trace) == {"aten::a": (30, 30), "aten::b": (5, 5)}


def test_operators_that_begin_at_once_are_told_by_the_name() -> None:
    trace = read(
        _written(
            ("aten::linear", 0, 50, [("aten::linear", 100, 40)]),
            ("aten::addmm", 0, 40, [("aten::addmm", 104, 30)]),
        )
    )
    assert _device_times(trace) == {"aten::linear": (0, 30), "aten::addmm": (30, 30)}


def test_arrows_without_kernels_change_nothing() -> None:
    # As PyTorch writes them since 1.8: the device's events are left out.
    events = [
        event
        for event in json.loads(_written(("aten::mm", 0, 9, [("gemm", 20, 5)])))
        if event["pid"] == "CPU functions"
    ]
    trace = read(json.dumps(events))
    facts = derive(trace)
    assert (names(trace), facts.summary.has_device, defects(trace)) == (["aten::mm"], False, {})


def test_other_events_without_a_category_stay_unknown() -> None:
    trace = read(
        json.dumps(
            [
                {"name": "x", "ph": "X", "ts": 1, "dur": 2, "pid": pid, "tid": 0}
                for pid in ("main", 7, "CUDA functions of mine")
            ]
        )
    )
    assert trace["spans"]["role"].tolist() == [Role.OTHER] * 3
    assert sum(defects(trace).values()) == 3
