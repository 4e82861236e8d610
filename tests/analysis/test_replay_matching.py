"""Replayed kernels get the names of their capture, and none where anything else would fit."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.builders.captured_graphs import (
    Execution,
    Graph,
    Kernel,
    Node,
    Recording,
    answers,
    layers,
    named,
    other_batch,
    right,
)
from tests.examples import many
from torch_tb_profiler.analysis.facts.replay_calls import captured_operators
from torch_tb_profiler.analysis.facts.replay_matching import Evidence
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.what_if.simulation import Simulation
from torch_tb_profiler.runs.import_job import read
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import capture_files
from torch_tb_profiler.sources.listing import list_files
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store.roles import Role

STEP = "step[DECODE bs=8]"
FULL = Graph(tuple(Node(f"aten::op{i}", 8, f"k{i}") for i in range(12)), "Model_0")


def evidence_of(execution: Execution, *recordings: Recording) -> list[Evidence]:
    _, facts = named(execution, *recordings)
    return [Evidence(kind) for kind in facts["replays"]["evidence"].tolist()]


def check(execution: Execution, *recordings: Recording) -> list[tuple[str, int] | None]:
    """What was named; each name must be right."""
    found = answers(*named(execution, *recordings))
    expected = right(execution)
    assert len(found) == len(expected)
    assert all(got in (None, true) for got, true in zip(found, expected, strict=True))
    return found


def test_a_replay_has_the_operators_of_its_capture() -> None:
    execution = Execution().add(STEP, [FULL]).add(STEP, [FULL])
    recording = Recording([FULL], 8, "FULL")
    assert check(execution, recording) == right(execution)
    assert evidence_of(execution, recording) == [Evidence.ONLY] * 2
    _, facts = named(execution, recording)
    assert facts.summary.attribution.by["capture"] == {"events": 24, "ns": 24_000}


def test_layers_of_equal_kernels_are_told_by_their_place() -> None:
    graphs = [FULL, *layers(5, 8)]
    execution = Execution().add(STEP, graphs).add(STEP, graphs)
    recording = Recording(graphs, 8, "PIECEWISE")
    assert check(execution, recording) == right(execution)
    assert evidence_of(execution, recording)[:3] == [Evidence.ONLY, Evidence.PLACE, Evidence.PLACE]


def test_of_a_sequence_cut_by_the_begin_only_what_has_no_like_is_named() -> None:
    graphs = [*layers(5, 8), FULL]
    execution = Execution().add(STEP, graphs[2:]).add(STEP, graphs)
    found = check(execution, Recording(graphs, 8))
    assert found[:18] == [None] * 18
    assert None not in found[18:]


def test_the_batch_of_the_iteration_decides_between_captures() -> None:
    small, large = other_batch([FULL], 4), other_batch([FULL], 8)
    recordings = Recording(small, 4, name="a"), Recording(large, 8, name="b")
    execution = Execution().add("step[DECODE bs=3]", small).add("step[DECODE bs=8]", large)
    assert check(execution, *recordings) == right(execution)
    assert evidence_of(execution, *recordings) == [Evidence.BATCH] * 2


@pytest.mark.parametrize("said", ["step[DECODE bs=5]", "step[DECODE bs=16]"])
def test_the_only_capture_is_not_taken_for_another_batch(said: str) -> None:
    execution = Execution().add(said, other_batch([FULL], 16))
    assert evidence_of(execution, Recording([FULL], 8)) == [Evidence.OTHER_BATCH]


def test_two_captures_alike_of_which_nothing_tells_name_nothing() -> None:
    other = Graph(tuple(Node(f"aten::other{i}", 8, f"k{i}") for i in range(12)))
    execution = Execution().add("", [FULL])
    recordings = Recording([FULL], name="a"), Recording([other], name="b")
    assert check(execution, *recordings) == [None] * 12
    assert evidence_of(execution, *recordings) == [Evidence.AMBIGUOUS]


def test_two_captures_that_say_the_same_need_not_be_told_apart() -> None:
    execution = Execution().add("", [FULL])
    assert None not in check(execution, Recording([FULL], name="a"), Recording([FULL], name="b"))


def test_a_launch_that_the_replay_lacks_leaves_the_others_named() -> None:
    execution = Execution().add(STEP, [FULL])
    del execution.steps[0][1][0].kernels[5]
    assert check(execution, Recording([FULL], 8)) == right(execution)
    assert evidence_of(execution, Recording([FULL], 8)) == [Evidence.LACKING]


def test_where_one_of_two_alike_is_missing_neither_is_named() -> None:
    graph = Graph(tuple(Node(f"aten::op{i}", 8, f"k{min(i, 10)}") for i in range(12)))
    execution = Execution().add(STEP, [graph])
    del execution.steps[0][1][0].kernels[10]
    assert check(execution, Recording([graph], 8)) == [*right(execution)[:10], None]


def test_swapped_kernels_of_one_stream_are_no_replay_of_the_capture() -> None:
    execution = Execution().add(STEP, [FULL])
    kernels = execution.steps[0][1][0].kernels
    kernels[3], kernels[4] = kernels[4], kernels[3]
    assert evidence_of(execution, Recording([FULL], 8)) == [Evidence.DIFFERENT]


def test_streams_that_run_side_by_side_keep_their_own_order() -> None:
    execution = Execution().add(STEP, [FULL])
    kernels = execution.steps[0][1][0].kernels
    for kernel in kernels[6:]:
        kernel.stream = 8
    kernels[:] = [k for pair in zip(kernels[:6], kernels[6:], strict=True) for k in pair]
    assert check(execution, Recording([FULL], 8)) == right(execution)


def test_copies_have_no_name_and_are_told_by_their_place() -> None:
    nodes = [*FULL.nodes[:4], Node("aten::copy_", 8, None), *FULL.nodes[4:]]
    graph = Graph(tuple(nodes))
    execution = Execution().add(STEP, [graph])
    assert check(execution, Recording([graph], 8)) == right(execution)
    kernels = execution.steps[0][1][0].kernels
    kernels[4] = Kernel(Node("aten::copy_", 8, "__amd_rocclr_copyBuffer"))
    assert check(execution, Recording([graph], 8)) == right(execution)


def test_what_ran_during_the_capture_was_not_captured() -> None:
    recording = Recording([FULL], 8)
    assert recording.trace()["launch_args"].n == 12
    _, facts = named(Execution().add(STEP, [FULL]), recording)
    assert facts["operators"].n == 12


def test_without_a_capture_the_kernels_are_a_replay_and_have_a_row() -> None:
    _, facts = named(Execution().add(STEP, [FULL]))
    assert facts.summary.attribution.by["replay"] == {"events": 12, "ns": 12_000}
    rest = facts["unnamed_steps"]
    assert [facts.strings[int(name)] for name in rest["name"]] == ["graph replay"]
    assert rest["device"].tolist() == [12_000]


def test_a_list_of_captures_that_cannot_be_read_costs_names_and_not_the_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture_files, "_MOST_DETAILS", 4)
    (tmp_path / "capture_traces").mkdir()
    (tmp_path / "capture_traces" / capture_files.DETAILS).write_text("[    ]")
    trace = tmp_path / "rank0.1.pt.trace.json"
    trace.write_text(json.dumps({"traceEvents": Execution().add(STEP, [FULL]).events()}))
    _, facts = read(Place(str(trace)), Settings())
    assert facts.defects.as_dict() == {"unreadable_capture": 1}
    assert facts.summary.attribution.by["replay"]["events"] == 12


def test_a_what_if_reaches_what_was_captured_within_an_operator() -> None:
    trace, facts = named(Execution().add(STEP, [FULL]), Recording([FULL], 8))
    scene = Simulation(trace, facts, build_insight(trace, facts)).scene
    work = scene.graph.work.row
    for glob, roles in (("aten::op3", (Role.OPERATOR,)), ("aten::op3", ())):
        chosen = scene.within(glob, *roles)
        assert trace.strings.many(trace["spans"]["name"][work[chosen.work]]) == ["k3"]
        assert not chosen.segment.any()
    assert scene.within("nn.Module: Model_0", Role.PYTHON).work.all()


def mutated(chance: random.Random) -> tuple[Execution, list[Recording]]:
    """A run of graphs with alike layers, several batches and streams, made wrong in one to three ways."""
    batches = chance.sample([1, 2, 4, 8, 16], chance.randint(1, 3))
    length = chance.randint(3, 30)
    head = Graph(tuple(Node(f"aten::h{i}", 1, f"h{i % 7}") for i in range(length)))
    graphs = [head, *layers(chance.randint(1, 4), 1, chance.randint(2, 24))]
    recordings = [
        Recording(other_batch(graphs, b), b if chance.random() < 0.9 else -1, "FULL", f"bs_{b}")
        for b in sorted(batches)
    ]
    execution = Execution()
    for _ in range(chance.randint(1, 3)):
        batch = chance.choice(batches)
        annotation = f"step[DECODE bs={batch}]" if chance.random() < 0.8 else ""
        execution.add(annotation, other_batch(graphs, batch))
    for _ in range(chance.randint(1, 3)):
        _mutate(chance, execution, recordings)
    return execution, recordings


def _mutate(chance: random.Random, execution: Execution, recordings: list[Recording]) -> None:
    kernels = chance.choice(chance.choice(execution.steps)[1]).kernels
    way = chance.choice(["drop", "swap", "alike", "batch", "unlisted"])
    if way == "drop" and len(kernels) > 1:
        del kernels[chance.randrange(len(kernels))]
    elif way == "swap" and len(kernels) > 1:
        at = chance.randrange(len(kernels) - 1)
        kernels[at], kernels[at + 1] = kernels[at + 1], kernels[at]
    elif way == "alike":
        like = chance.choice(recordings)
        graphs = [
            Graph(tuple(Node(f"{n.operator}_other", n.rows, n.kernel) for n in graph.nodes))
            for graph in like.graphs
        ]
        recordings.append(
            Recording(graphs, like.batch, like.mode, f"{like.name}_{len(recordings)}")
        )
    elif way == "batch":
        at = chance.randrange(len(execution.steps))
        execution.steps[at] = ("step[DECODE bs=32]", execution.steps[at][1])
    elif way == "unlisted":
        chance.choice(recordings).batch = -1


@pytest.mark.slow
def test_mutations_never_give_a_wrong_name() -> None:
    outcomes, count = Counter[str](), many(500)
    for seed in range(count):
        execution, recordings = mutated(random.Random(seed))
        found = answers(*named(execution, *recordings))
        for got, true in zip(found, right(execution), strict=True):
            outcomes["refused" if got is None else "right" if got == true else "wrong"] += 1
    assert outcomes["wrong"] == 0, outcomes
    assert outcomes["right"] > 10 * count, outcomes
    assert outcomes["refused"] > 0, outcomes


@pytest.mark.parametrize(
    ("name", "kernels", "without"),
    [("sglang_qwen3_decode", 555, 3), ("mi300_vllm_piecewise", 413, 0)],
)
def test_real_servers_kernels_have_the_operators_of_their_captures(
    real_traces: Path, name: str, kernels: int, without: int
) -> None:
    """The three others were launched outside of operators, which the capture did not change."""
    (file,) = [f for f in list_files(Place(str(real_traces / name))).files if not f.captures][:1]
    trace, facts = read(file.location, Settings())
    counts = facts.summary.attribution
    assert (counts.kernels, counts.kernels - counts.with_operator) == (kernels, without)
    captured = facts["replayed_work"]["captured"]
    assert (captured >= 0).all()
    launches, calls = trace["captured_launches"], trace["captured_calls"]
    spans = trace["spans"]["name"][facts["replayed_work"]["span"]]
    assert np.array_equal(spans, launches["kernel"][captured])
    shapes = calls["dims"][captured_operators(trace, facts, facts["replayed_work"]["span"])]
    assert (shapes >= 0).all()
