"""Nodes of graphs that ``torch.cuda.graph(..., enable_annotations=True)`` annotated.

::

    hipGraphLaunch   k0 "layers.0.attention"   k1 "layers.0.mlp"   k2, not annotated
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.builders.captured_graphs import Execution, Graph, Node, Recording
from tests.builders.drawn import trace_of
from torch_tb_profiler.analysis.facts.capture_tables import CaptureSource, Collected, scopes_of
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.replay_matching import Evidence
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.views.timeline.capture_arguments import captured_arguments

GRAPH = Graph(tuple(Node(f"aten::op{i}", 8, f"k{i}") for i in range(3)), "Model_0")
ARGS: list[dict[str, Any]] = [
    {"graph node id": 1 << 40, "name": "layers.0.attention", "autograd_phase": "forward"},
    {"graph node id": (1 << 40) + 1, "module_fqn": "layers.0.mlp", "name": "mlp"},
    {"graph node id": (1 << 40) + 2},
]


def annotated(*args: dict[str, Any], recording: Recording | None = None) -> tuple[Trace, Facts]:
    """Two replays of three kernels of 1 µs with these arguments."""
    events = Execution().add("", [GRAPH]).add("", [GRAPH]).events()
    kernels = [event for event in events if event["cat"] == "kernel"]
    for event, more in zip(kernels, args * 2, strict=True):
        event["args"] |= more
    collected = Collected(trace_of(events))
    if recording:
        collected.add(CaptureSource(recording.name, recording.batch), recording.trace())
    trace = collected.trace()
    return trace, derive(trace)


def test_device_work_is_attributed_to_the_annotation_of_its_node() -> None:
    _, facts = annotated(*ARGS)
    rows = facts["unnamed_steps"]
    names = [facts.strings[number] for number in rows["name"].tolist()]
    assert dict(zip(names, rows["device"].tolist(), strict=True)) == {
        "layers.0.attention": 2000,
        "layers.0.mlp": 2000,
        "graph replay": 2000,
    }
    by = facts.summary.attribution.by
    assert by["annotation"] == {"events": 4, "ns": 4000}
    assert by["replay"] == {"events": 2, "ns": 2000}
    assert facts["replays"]["evidence"].tolist() == [Evidence.ANNOTATED] * 2


def test_annotations_are_levels_of_the_module_tree() -> None:
    trace, facts = annotated(*ARGS)
    insight = build_insight(trace, facts)
    paths = insight["paths"]
    name = {
        insight.strings[number] for number in paths["name"][paths["kind"] == PathKind.ANNOTATION]
    }
    assert name >= {"layers", "layers.0", "layers.0.attention", "layers.0.mlp"}


def test_the_details_of_a_kernel_say_its_annotation() -> None:
    trace, facts = annotated(*ARGS)
    said = {
        argument.name: argument.value
        for argument in captured_arguments(trace, facts, int(facts["replayed_work"]["span"][0]))
    }
    assert said["Annotation"] == "layers ▸ layers.0 ▸ layers.0.attention"
    assert "Captured in" not in said


def test_a_capture_says_more_than_an_annotation() -> None:
    _, facts = annotated(*ARGS, recording=Recording([GRAPH], 8))
    assert facts.summary.attribution.by["capture"] == {"events": 6, "ns": 6000}


def test_the_name_argument_of_work_outside_graphs_is_no_annotation() -> None:
    trace, _ = annotated({"name": "x"}, {"graph node id": 0, "name": "y"}, {"annotation": "z"})
    assert trace["node_args"].n == 0


@pytest.mark.parametrize(
    ("annotation", "scopes"),
    [
        ("linear forward", ("linear forward",)),
        ("layers.0", ("layers", "layers.0")),
        ('["forward", {"name": "linear"}]', ("forward", "linear")),
        ('[{"layer": 0}, null]', ()),
        ("[damaged", ("[damaged",)),
        ("[" * 9999, ("[" * 9999,)),
        ("[]", ()),
        ("", ()),
    ],
)
def test_the_scopes_of_an_annotation(annotation: str, scopes: tuple[str, ...]) -> None:
    assert scopes_of(annotation) == scopes


def test_every_call_stands_behind_its_caller() -> None:
    trace, _ = annotated(*ARGS)
    parent = trace["captured_calls"]["parent"]
    assert np.all(parent < np.arange(len(parent)))
