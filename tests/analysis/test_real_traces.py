"""Public traces of many makers: what must hold for every trace, and facts of some that were found
by hand.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from tests import public
from tests.analysis.figures import kernels, opened, operators, trace_files
from tests.analysis.test_any_trace import hold_together
from tests.conftest import REAL_TRACES
from torch_tb_profiler.analysis.facts.flags import NoOperator, StepFlag
from torch_tb_profiler.analysis.figures.kernels import kernel_rows
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.figures.step_table import average
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

FILES = trace_files(REAL_TRACES)
Opened = tuple[Trace, Facts]


@pytest.fixture(scope="module", params=public.asked(FILES))
def any_trace(request: pytest.FixtureRequest, real_traces: Path) -> Opened:
    return opened(request.param)


@pytest.fixture
def run(real_traces: Path, request: pytest.FixtureRequest) -> Opened:
    return opened(
        next(path for path in trace_files(real_traces) if path.parent.name == request.param)
    )


def test_facts_hold_together(any_trace: Opened) -> None:
    trace, facts = any_trace
    hold_together(trace, facts)
    assert set(absent(facts)[:-1]) <= {
        "device",
        "device_times",
        "shapes",
        "stack",
        "steps",
        "memory",
        "host",
        "operators_of_device",
    }


FLAWED = {
    # Three of its launches have no work in the file.
    "a100_nccl": {"launch_without_kernel"},
    # Its batches are steps; work was launched between them.
    "a100_segment_N1": {"work_outside_steps"},
    # Kernels of Blackwell start before the one in front of them has ended (programmatic dependent
    # launch).
    "b200_eager": {"overlap_on_stream"},
    # The second step is the empty one between the last profiler.step() and the end of the
    # recording.
    "mi250_minitoy": {"cut_step"},
    # Device work of the 30 ms before the first step carries correlation ids that no call has.
    "mi300_resnet_ddp": {"kernel_without_launch", "work_outside_steps"},
    # Regions named gif_remote are open on one thread at the same time; a third of the device events
    # carries no correlation id.
    "mtia_inference": {"overlap_on_thread", "kernel_without_launch"},
    # One piece of work has no launch in the recording, so that no step has it.
    **{
        f"rtx3060_compile_0{number}": {"kernel_without_launch", "work_outside_steps"}
        for number in (4, 5, 6)
    },
}
FOUND_BY_ANALYSIS = {
    "overlap_on_thread",
    "overlap_on_stream",
    "kernel_without_launch",
    "launch_without_kernel",
    "repeated_correlation",
    "cut_step",
    "work_outside_steps",
}


def test_defects_are_those_that_are_there(
    any_trace: Opened, request: pytest.FixtureRequest
) -> None:
    run = request.node.callspec.params["any_trace"].parent.name
    assert set(any_trace[1].defects.as_dict()) & FOUND_BY_ANALYSIS == FLAWED.get(run, set())


@pytest.mark.parametrize(
    ("run", "kernels_", "with_operator"),
    [
        ("h800_deepseek_train", 963, 672),
        ("b200_eager", 768, 766),
        ("h100_bert_small", 60, 60),
        ("mi300_vllm_graph", 425, 4),
    ],
    indirect=["run"],
)
def test_attribution(run: Opened, kernels_: int, with_operator: int) -> None:
    found = run[1].summary.attribution
    assert (found.kernels, found.with_launch, found.with_operator) == (
        kernels_,
        kernels_,
        with_operator,
    )


@pytest.mark.parametrize("run", ["h800_deepseek_train"], indirect=True)
def test_kernels_without_operator_are_launched_where_no_operator_is(run: Opened) -> None:
    trace, facts = run
    spans, links = trace["spans"], facts["span_links"]
    kernel = np.flatnonzero((spans["role"] == Role.KERNEL) & (links["operator"] < 0))
    launch = links["launch"][kernel]
    operator = np.flatnonzero(spans["role"] == Role.OPERATOR)
    for row in launch:
        same = operator[spans["track"][operator] == spans["track"][row]]
        around = same[
            (spans["start"][same] <= spans["start"][row])
            & (spans["start"][same] + spans["dur"][same] > spans["start"][row])
        ]
        assert not len(around)
    reasons = Counter(
        row["reason"] for row in kernels(facts, "properties") for _ in range(row["calls"])
    )
    assert reasons == {NoOperator.KNOWN: 672, NoOperator.OUTSIDE: 291}


@pytest.mark.parametrize("run", ["mi300_vllm_graph"], indirect=True)
def test_work_of_a_graph_launch_is_not_spread(run: Opened) -> None:
    trace, facts = run
    reasons: Counter[int] = Counter()
    for row in kernels(facts, "properties"):
        reasons[row["reason"]] += row["calls"]
    assert reasons == {NoOperator.GRAPH: 421, NoOperator.KNOWN: 4}
    launches = facts["span_links"]["launch"][trace["spans"]["role"] == Role.KERNEL]
    names = Counter(trace.strings[int(trace["spans"]["name"][row])] for row in launches)
    assert names["hipGraphLaunch"] == 421


@pytest.mark.parametrize("run", ["a100_nccl"], indirect=True)
def test_nccl_kernels_are_communication(run: Opened) -> None:
    trace, facts = run
    rows = [row for row in kernels(facts) if row["communication"]]
    assert all(row["name"].startswith("ncclKernel_") for row in rows)
    assert sum(row["calls"] for row in rows) == 21
    assert round(sum(row["total"] for row in rows)) == 46_876
    mean = average(facts, select(facts))
    assert mean is not None
    assert (mean[1]["communication"] or 0) > 0
    spans = trace["spans"]
    others = (spans["role"] == Role.KERNEL) & ~np.isin(
        spans["name"], [facts.strings.number(row["name"]) for row in rows]
    )
    # What computes hides what communicates: only the part that nothing else covers counts.
    assert int(facts["steps"]["kernel"].sum()) <= int(spans["dur"][others].sum())
    assert int(facts["steps"]["communication"].sum()) < 46_876_000


@pytest.mark.parametrize("run", ["b200_eager"], indirect=True)
def test_symmetric_memory_kernels_are_communication(run: Opened) -> None:
    rows = [row for row in kernels(run[1]) if row["communication"]]
    assert sorted(
        (row["calls"], "multimem_all_reduce_kernel" in row["name"], "nccl" in row["name"])
        for row in rows
    ) == [(1, False, True), (73, True, False)]
    assert run[1].summary.communication_backends == ("nccl", "symmetric memory")


@pytest.mark.parametrize("run", ["mtia_inference"], indirect=True)
def test_requests_on_several_threads_make_no_steps(run: Opened) -> None:
    assert run[1].summary.step_source == "whole span"
    assert run[1]["steps"]["flags"].tolist() == [StepFlag.WHOLE]
    assert run[1].summary.vendor == "mtia"


@pytest.mark.parametrize("run", ["mi250_minitoy"], indirect=True)
def test_empty_last_step_is_marked(run: Opened) -> None:
    assert run[1]["steps"]["flags"].tolist() == [0, StepFlag.CUT]
    assert run[1]["steps"]["launched"].tolist() == [16, 0]
    assert int(run[1]["steps"]["host_end"][1] - run[1]["steps"]["host_start"][1]) == 49_073


@pytest.mark.parametrize(
    ("run", "vendor", "share", "unknown"),
    [
        ("h100_bert_small", "nvidia", 0.765, 0),
        ("h100_vit", "nvidia", 0.783, 0),
        ("b200_eager", "nvidia", 0.597, 0),
        ("h800_deepseek_train", "nvidia", 0.39, 0),
        ("mi300_bert_small", "amd", 0.741, 0),
        ("mi300_torch_compile", "amd", 0.933, 0),
        ("mi300_vllm_graph", "amd", 0.774, 0.061),
    ],
    indirect=["run"],
)
def test_matrix_core_share_of_kernel_time(
    run: Opened, vendor: str, share: float, unknown: float
) -> None:
    facts = run[1]
    rows = kernel_rows(facts, select(facts), "name")
    total = rows["total_ns"].sum()
    assert facts.summary.vendor == vendor
    assert rows["total_ns"][rows["matrix"] == Knowledge.YES].sum() / total == pytest.approx(
        share, abs=5e-4
    )
    assert rows["total_ns"][rows["matrix"] == Knowledge.UNKNOWN].sum() / total == pytest.approx(
        unknown, abs=5e-4
    )


def oracle(real_traces: Path, name: str, file: str) -> list[dict[str, str]]:
    path = real_traces.parent / "oracles" / name / file
    if not path.is_file():
        pytest.skip(f"the oracle ../shared/oracles/{name}/{file} is not on this machine")
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("run", ["h100_bert_small", "h100_vit"], indirect=True)
def test_kernel_sums_equal_the_oracles(
    run: Opened, real_traces: Path, request: pytest.FixtureRequest
) -> None:
    rows = oracle(real_traces, request.node.callspec.params["run"], "kernel_summary.csv")
    expected: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in rows:
        key = row["Kernel name"], row["Parent cpu_op"]
        expected[key][0] += float(row["Kernel duration (µs)_sum"])
        expected[key][1] += int(row["Kernel duration (µs)_count"])
    found: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for mine in kernels(run[1], "properties"):
        key = mine["name"], mine["operator"]
        found[key][0] += mine["total"]
        found[key][1] += mine["calls"]
    assert found.keys() == expected.keys()
    for key, (total, calls) in expected.items():
        assert found[key][1] == calls
        assert found[key][0] == pytest.approx(total, abs=1e-3 * calls)


@pytest.mark.parametrize("run", ["h100_bert_small", "h100_vit"], indirect=True)
def test_device_time_of_operators_equals_the_oracles(
    run: Opened, real_traces: Path, request: pytest.FixtureRequest
) -> None:
    rows = oracle(real_traces, request.node.callspec.params["run"], "ops_summary.csv")
    theirs = {row["name"]: float(row["total_direct_kernel_time_sum"]) for row in rows}
    mine = {
        name: (calls, device_self)
        for (name,), (calls, device_self, *_) in operators(run[1]).items()
    }
    assert sum(total > 0 for total in theirs.values()) > 5
    for name, total in theirs.items():
        calls, device_self = mine[name]
        assert device_self == pytest.approx(total, abs=1e-3 * calls)
    assert {name for name, (_, device_self) in mine.items() if device_self} == {
        name for name, total in theirs.items() if total
    }
