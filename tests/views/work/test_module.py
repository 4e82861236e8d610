"""The Module view: rows, totals, and what is said beside them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.analysis.module.test_backward import NUMBERS, TWO_LAYERS
from tests.analysis.module.trees import insight_of
from tests.builders.drawn import draw, events, trace_of
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.module.table import instance_and_class
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.views.work.module import module_payload, module_tree
from torch_tb_profiler.views.work.module_wire import ModulePayload


def payload(trace: Trace, **steps: Any) -> ModulePayload:
    facts = derive(trace)
    insight = insight_of(trace, facts)
    return module_payload(facts, insight, module_tree(insight), select(facts, **steps))


def rows(found: ModulePayload, *columns: str) -> dict[str, tuple[Any, ...]]:
    """Per way of modules the given columns; times in µs."""
    names: list[str] = []
    for parent, name in zip(found.rows["parent"], found.rows["name"], strict=True):
        names.append(f"{names[parent]}/{name}" if parent >= 0 else name)
    shown = [
        [v // 1000 if key.endswith("_ns") and v is not None else v for v in found.rows[key]]
        for key in columns
    ]
    return dict(zip(names, zip(*shown, strict=True), strict=True))


def two_layers() -> Trace:
    names = {
        "L": "nn.Module: Linear_0",
        "R": "nn.Module: ReLU_0",
        "eMm": "autograd::engine::evaluate_function: Mm",
        "eRelu": "autograd::engine::evaluate_function: Relu",
        "eAcc": "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
    }
    return draw(TWO_LAYERS, names, NUMBERS)


def test_forward_and_backward_of_every_module() -> None:
    found = payload(two_layers())
    assert (found.source, found.has_backward, found.has_device) == (
        "python",
        True,
        False,
    )
    both = (
        "calls",
        "operators",
        "forward_host_total_ns",
        "forward_host_self_ns",
        "backward_host_total_ns",
        "backward_host_self_ns",
    )
    assert rows(found, *both) == {
        "Net_0": (1, 0, 32, 3, 38, 0),
        "Net_0/Linear_0": (1, 1, 16, 16, 28, 28),
        "Net_0/ReLU_0": (1, 1, 13, 13, 10, 10),
    }
    assert rows(found, "forward_device_total_ns", "allocated_bytes", "kind")["Net_0/ReLU_0"] == (
        None,
        None,
        "ReLU",
    )
    totals = found.totals
    assert (totals.module_host_ns, totals.outside_host_ns) == (70_000, 18_000)
    assert (totals.backward_tied, totals.backward_untied, totals.backward_outside) == (3, 0, 0)
    assert [m.what for m in found.missing] == ["Accelerator activity"]
    assert found.notes == []


def test_the_case_of_the_original() -> None:
    """TestModuleView of kineto's tb_plugin: MyModule three times, each with a Linear; Conv2 beside
    it.
    """
    found = payload(
        draw("""
        main  /test_root                                                                                                              /
        main   /nn.Module: MyModule_0      //nn.Module: MyModule_0      / /nn.Module: MyModule_0      / /nn.Module: Conv2_0   /
        main     /nn.Module: Linear_0 /      /nn.Module: Linear_0 /        /nn.Module: Linear_0 /         [aten::conv2d]
        main       [aten::mm]                  [aten::mm]                    [aten::mm]
    """)
    )
    assert rows(found, "calls", "operators", "forward_host_total_ns", "forward_host_self_ns") == {
        "MyModule_0": (3, 0, 87, 21),
        "MyModule_0/Linear_0": (3, 3, 66, 66),
        "Conv2_0": (1, 1, 23, 23),
    }
    assert found.notes == ["No backward pass was recorded."]


def test_steps_and_device_time() -> None:
    trace = draw("""
        main  [ProfilerStep#1            ][ProfilerStep#2            ]
        main   /nn.Module: L_0        /    /nn.Module: L_0        /  <t #4>
        main     [aten::mm   ] <t #2>       [aten::mm         ]
        main       <l #1>                     <l #3>
        gpu 7        {gemm #1}  {k #2 }          {gemm #3   }   {k #4}  {lost #9}
    """)
    key = "calls", "forward_device_total_ns", "forward_device_self_ns"
    assert rows(payload(trace), *key) == {"L_0": (2, 28, 28)}
    assert rows(payload(trace, first=0, last=0), *key) == {"L_0": (1, 16, 16)}
    second = payload(trace, first=1, last=1)
    assert rows(second, *key) == {"L_0": (1, 12, 12)}
    totals = payload(trace).totals
    assert (totals.module_device_ns, totals.outside_device_ns, totals.unattributed_device_ns) == (
        28_000,
        0,
        # The other 9 µs without a launch ran after the last step.
        6_000,
    )
    assert second.sentences == [
        "L_0 itself takes 12.0 µs of 18.0 µs on the accelerator.",
        "Sums over one step.",
    ]


def test_memory_of_modules() -> None:
    record = {
        "ph": "i",
        "name": "[memory]",
        "cat": "cpu_instant_event",
        "pid": 100,
        "tid": 1,
        "args": {"Device Type": 1, "Device Id": 0},
    }
    listed = [
        {**record, "ts": ts, "args": {**record["args"], "Bytes": size}}  # type: ignore[dict-item]
        for ts, size in ((12, 64), (13, -16), (30, 8))
    ]
    found = payload(
        trace_of([*events("main  /nn.Module: L_0/  [aten::x]\nmain    [aten::mm]"), *listed])
    )
    assert rows(found, "allocated_bytes", "increase_bytes") == {"L_0": (64, 48)}


def test_a_rerun_is_backward_of_the_same_row() -> None:
    found = payload(
        draw(
            """
        main    /nn.Module: L_0   /  [eRelu                      ]
        main      [mm   ]              /nn.Module: L_0   /
    """,
            {"eRelu": "autograd::engine::evaluate_function: Relu"},
            {"mm": {"Sequence number": 1}, "eRelu": {"Sequence number": 1, "Fwd thread id": 1}},
        )
    )
    assert rows(found, "calls", "forward_host_total_ns", "backward_host_total_ns") == {
        "L_0": (1, 19, 29)
    }
    assert found.notes == [
        "Modules that ran again within the backward pass (activation checkpoints) count as backward"
        " there."
    ]


def test_written_modules_have_no_calls() -> None:
    found = payload(
        draw(
            "main  [mm   ]",
            args={"mm": {"Module Hierarchy": "TOP(Net)::forward.fc(Linear)::forward"}},
        )
    )
    assert rows(found, "kind", "calls", "forward_host_total_ns") == {
        "TOP": ("Net", None, 7),
        "TOP/fc": ("Linear", None, 7),
    }
    assert found.source == "hierarchy"
    assert found.notes[0].startswith("The modules are those that the operators name")


def test_without_modules_it_says_what_to_record() -> None:
    found = payload(draw("main  [mm   ]"))
    assert (found.source, found.rows["name"], found.totals.outside_host_ns) == ("", [], 7000)
    assert [m.what for m in found.missing] == ["Accelerator activity", "nn.Modules"]
    assert "with_stack=True" in found.missing[1].call
    assert payload(trace_of([])).rows["name"] == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Linear_0", ("Linear_0", "Linear")),
        ("My_Net_12", ("My_Net_12", "My_Net")),
        ("fc(Linear)", ("fc", "Linear")),
        ("odd", ("odd", "")),
        ("", ("", "")),
        ("a(b)(c)", ("a(b)", "c")),
    ],
)
def test_instances_and_classes(name: str, expected: tuple[str, str]) -> None:
    assert instance_and_class(name) == expected
