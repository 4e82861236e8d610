"""Iterations of inference servers: their steps, their table, the steady state."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.figures import opened, step_names, trace_files
from tests.builders.drawn import Event, facts_drawn, trace_of
from tests.builders.listed import facts_listed
from tests.builders.loop import span
from tests.builders.server_annotations import FORMS, written_by_servers
from tests.builders.server_trace import Served, server_trace, sglang_server_trace
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.steps import ITERATION, PASS, StepFlag, odd_reasons
from torch_tb_profiler.analysis.figures.iterations import iteration_table, phase_table
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.display_wire import records, wire_columns

DECODE = "execute_context_0(0)_generation_{n}({n})"
VLLM = "execute_4_context_0(sq0sk0sqsq0sqsk0)_generation_4(sq4sk99sqsq4sqsk99)"


def rows(facts: Facts) -> list[dict[str, Any]]:
    return records(wire_columns(iteration_table(facts, select(facts))))


def listed(*lines: str) -> Facts:
    return facts_listed("\n".join(lines))


@pytest.fixture(scope="module")
def served() -> tuple[Facts, list[Served]]:
    events, truth = server_trace()
    return derive(trace_of(events)), truth


def test_every_annotation_is_an_iteration(served: tuple[Facts, list[Served]]) -> None:
    facts, truth = served
    found = rows(facts)
    assert facts.summary.step_source == ITERATION
    assert facts["steps"].n == len(found) == len(truth) == 200
    for row, drawn in zip(found, truth, strict=True):
        said = drawn.said
        assert (row["name"], row["phase"], row["batch"]) == (said.text, said.phase, said.batch)
        assert (row["context_requests"], row["context_tokens"]) == said.context[:2]
        assert (row["generation_requests"], row["generation_tokens"]) == said.generation[:2]


def test_times_of_iterations(served: tuple[Facts, list[Served]]) -> None:
    facts, truth = served
    ends: list[int] = []
    for row, drawn in zip(rows(facts), truth, strict=True):
        assert row["begin_ns"] == drawn.begin
        assert row["host_ns"] == drawn.host
        assert row["device_ns"] == drawn.device
        assert row["gap_ns"] == (None if drawn.gap < 0 else drawn.gap)
        if ends:
            assert row["interval_ns"] == row["begin_ns"] + row["wall_ns"] - ends[-1]
        ends.append(row["begin_ns"] + row["wall_ns"])
    between = [b.begin - a.begin - a.host for a, b in itertools.pairwise(truth)]
    assert [row["scheduler_ns"] for row in rows(facts)] == [None, *between]


def test_the_steady_state_is_the_highest_concurrency(served: tuple[Facts, list[Served]]) -> None:
    facts, truth = served
    for row, drawn in zip(rows(facts), truth, strict=True):
        if row["part"] != drawn.part:
            # Nearly the most is steady too.
            requests = (row["context_requests"] or 0) + (row["generation_requests"] or 0)
            assert row["part"] == "steady"
            assert requests >= 0.9 * 32
    assert {row["part"] for row in rows(facts)} == {"ramp-up", "steady", "ramp-down"}


def test_odd_iterations_are_odd_among_their_phase(served: tuple[Facts, list[Served]]) -> None:
    facts, truth = served
    assert [i for i, row in enumerate(rows(facts)) if row["odd"]] == [
        i for i, drawn in enumerate(truth) if drawn.odd
    ]
    assert not any(row["cut"] for row in rows(facts))
    assert {name for name, _ in odd_reasons(facts).values()} == {"kernel"}


def test_phases_are_compared(served: tuple[Facts, list[Served]]) -> None:
    facts, truth = served
    found = {
        row["phase"]: row
        for row in records(wire_columns(phase_table(iteration_table(facts, select(facts)))))
    }
    for phase in ("decode", "mixed"):
        drawn = [one for one in truth if one.said.phase == phase]
        assert found[phase]["iterations"] == len(drawn)
        assert found[phase]["tokens"] == sum(
            one.said.context[1] + one.said.generation[1] for one in drawn
        )
    assert found["mixed"]["wall_ns"] > 3 * found["decode"]["wall_ns"]
    assert found["decode"]["odd"] == 2


@pytest.mark.parametrize("form", FORMS)
def test_annotations_of_each_form_are_steps(form: str) -> None:
    said = list(written_by_servers(form, 30))
    facts = listed(*(f"1 note {one.text}@{100 * i}+50" for i, one in enumerate(said)))
    assert [(row["name"], row["phase"]) for row in rows(facts)] == [
        (one.text, one.phase) for one in said
    ]


def test_two_annotations_of_one_iteration_are_one_step() -> None:
    events, truth = sglang_server_trace()
    facts = derive(trace_of(events))
    assert facts["steps"].n == len(truth)
    table = facts["iterations"]
    assert [facts.strings[n] for n in table["name"].tolist()] == [one.said.text for one in truth]
    decode = [i for i, one in enumerate(truth) if one.said.phase == "decode"]
    assert (table["generation_keys"][decode] == 1000 * table["generation_requests"][decode]).all()


def test_profiler_steps_keep_their_names_and_hold_iterations() -> None:
    facts = listed(
        "1 note ProfilerStep#1@0+100",
        f"1 note {VLLM}@10+50",
        "1 note ProfilerStep#2@100+100",
        f"1 note {DECODE.format(n=2)}@110+20",
        "1 note execute_context_1(9)_generation_0(0)@140+20",
        "1 note ProfilerStep#3@200+100",
    )
    assert step_names(facts) == ["ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"]
    assert [
        (row["step"], row["phase"], row["context_tokens"], row["generation_tokens"], row["batch"])
        for row in rows(facts)
    ] == [(0, "decode", 0, 4, 4), (1, "mixed", 9, 2, None)]


def test_long_names_are_shortened_and_kept() -> None:
    facts = listed(f"1 note {VLLM}@0+100")
    assert step_names(facts) == ["execute_context_0(0)_generation_4(4)"]
    assert [row["name"] for row in rows(facts)] == [VLLM]


def test_an_iteration_owns_what_follows_until_the_next_one() -> None:
    facts = facts_drawn(
        """
            main  (a      )  [s ] (b      ) [s ]     [late]
            main      <l #1> <l#2>    <l #3> <l #4>   <l #5>
            gpu 7       {k #1}{k#2}     {k #3}{k#4}    {k #5}
            """,
        names={"a": DECODE.format(n=1), "b": DECODE.format(n=2), "l": "cudaLaunchKernel"},
    )
    assert facts["steps"]["launched"].tolist() == [2, 2]


def test_words_of_anybody_are_iterations_if_they_repeat_and_cover() -> None:
    loop = [f"1 note {'decode' if i else 'prefill'}@{100 * i}+90" for i in range(4)]
    assert [row["phase"] for row in rows(listed(*loop))] == ["prefill", *["decode"] * 3]
    once = ["1 op aten::conv2d@0+1000", "1 note decode@1000+10"]
    assert rows(listed(*once)) == []
    rare = [f"1 note decode@{10_000 * i}+10" for i in range(4)]
    assert rows(listed(*rare)) == []


def test_servers_words_go_before_those_of_anybody() -> None:
    facts = listed(
        "1 note prefill@0+100",
        "1 note step[EXTEND bs=2 toks=70]@10+50",
        "1 note decode@100+100",
        "1 note step[DECODE bs=2]@110+50",
        "1 note decode@200+100",
        "1 note step[DECODE bs=2]@210+50",
    )
    assert [row["name"] for row in rows(facts)] == [
        "step[EXTEND bs=2 toks=70]",
        "step[DECODE bs=2]",
        "step[DECODE bs=2]",
    ]


def test_shadows_on_the_device_are_iterations_where_the_host_was_not_recorded() -> None:
    facts = listed(
        "gpu 0:7 shadow step[DECODE bs=2]@0+50",
        "gpu 0:7 kernel k@10+20",
        "gpu 0:7 shadow step[DECODE bs=2]@100+50",
        "gpu 0:7 kernel k@110+20",
    )
    assert [(row["device_ns"], row["gap_ns"]) for row in rows(facts)] == [
        (20_000, None),
        (20_000, 80_000),
    ]


def test_the_thread_with_most_annotations_counts() -> None:
    facts = listed(
        *(f"1 note step[DECODE bs=2]@{100 * i}+90" for i in range(3)),
        "2 note step[DECODE bs=9]@5+200",
    )
    assert [row["batch"] for row in rows(facts)] == [2, 2, 2]


def test_work_between_iterations_is_no_idleness() -> None:
    facts = facts_drawn(
        """
            other  <l #9>
            main   (a     )            (a     )
            main    <l #1>              <l #2>
            gpu 7     {k #1}   {k #9}       {k #2}
            """,
        names={"a": DECODE.format(n=1), "l": "cudaLaunchKernel"},
    )
    gap = rows(facts)[1]["gap_ns"]
    begin, end = 4 + 6, 32 - 4
    assert gap is not None
    assert gap < (end - begin) * 1000


@pytest.mark.parametrize(
    ("shapes", "batch", "padding"),
    [
        pytest.param("[[32, 64], [64, 8]]", 32, 2 / 32, id="padded"),
        pytest.param("[[2, 64], [64, 8]]", 30, None, id="fewer rows than tokens"),
        pytest.param("[[], []]", 30, None, id="no shapes"),
        pytest.param("[[1, 32, 64], [64, 8]]", 32, 2 / 32, id="a batch of sequences"),
        pytest.param('{"0": [32, 64]}', 30, None, id="no list"),
        pytest.param(f"[[{10**30}, 64], [64, 8]]", 30, None, id="more than 64 bits"),
    ],
)
def test_products_of_matrices_tell_the_padded_batch(
    shapes: str, batch: int, padding: float | None
) -> None:
    facts = listed(
        "1 note step[DECODE bs=30]@0+100",
        f'1 op aten::mm@10+5 {{"Input Dims": {shapes}}}',
        '1 op aten::bmm@20+5 {"Input Dims": [[40, 4096, 64], [40, 64, 8]]}',
    )
    row = rows(facts)[0]
    assert row["batch"] == batch
    assert row["padding"] == pytest.approx(math.nan if padding is None else padding, nan_ok=True)


def test_a_last_iteration_of_another_phase_is_not_cut() -> None:
    def iteration(number: int, name: str, kernels: int) -> list[str]:
        at = 1000 * number
        lines = [f"1 note {name}@{at}+100"]
        for kernel in range(kernels):
            key = f"c{10 * number + kernel + 1}"
            lines.append(f"1 call cudaLaunchKernel@{at + kernel}+1 {key}")
            lines.append(f"gpu 0:7 kernel k@{at + 10 + kernel}+1 {key}")
        return lines

    prefill = "step[EXTEND bs=1 toks=99]"
    lines = [line for i in range(4) for line in iteration(i, prefill, 8)]
    facts = listed(*lines, *iteration(4, "step[DECODE bs=1]", 1))
    assert facts["steps"]["flags"].tolist() == [0] * 5
    cut = listed(*lines, *iteration(4, prefill, 1))
    assert cut["steps"]["flags"].tolist() == [0, 0, 0, 0, StepFlag.CUT]


def test_other_traces_have_no_iterations() -> None:
    facts = listed("1 note ProfilerStep#1@0+100", "1 op aten::mm@10+5")
    assert rows(facts) == []
    assert derive(trace_of([])).tables["iterations"].n == 0


@pytest.mark.parametrize(
    ("run", "phase", "context", "generation", "batch"),
    [
        ("mi300_vllm_graph", "decode", (0, 0), (32, 32), 32),
        ("mi300_vllm_piecewise", "mixed", (9, 8155), (37, 37), 8192),
        ("sglang_qwen3_decode", "decode", (0, 0), (32, 32), 32),
    ],
)
def test_public_traces(
    real_traces: Path,
    run: str,
    phase: str,
    context: tuple[int, int],
    generation: tuple[int, int],
    batch: int,
) -> None:
    file = next(path for path in trace_files(real_traces) if path.parent.name == run)
    facts = opened(file)[1]
    (row,) = rows(facts)
    assert (row["phase"], row["batch"]) == (phase, batch)
    assert (row["context_requests"], row["context_tokens"]) == context
    assert (row["generation_requests"], row["generation_tokens"]) == generation
    assert facts["steps"]["launched"].sum() == facts.summary.attribution.device_events


def hostile(count: int) -> list[Event]:
    return [
        span(
            "user_annotation",
            f"execute_context_{'9' * (i % 40)}(1)_generation_{2**63}({2**62})",
            1,
            1,
            i % 7,
            3 + i % 5,
        )
        for i in range(count)
    ]


def test_hostile_annotations_never_raise() -> None:
    facts = derive(trace_of(hostile(300)))
    assert facts["steps"].n == len(rows(facts)) > 0


def loop(module: str, tokens: list[int], *more: str) -> Facts:
    """A loop that calls a module, which embeds that many tokens of two sequences each time."""
    lines = list(more)
    for number, count in enumerate(tokens):
        at = 1000 * number
        lines += [
            f"1 frame nn.Module: {module}_0@{at}+900",
            f"1 frame nn.Module: Layer_{number}@{at + 100}+100",
            f'1 op aten::embedding@{at + 10}+20 {{"Input Dims": [[50, 8], [2, {count}]]}}',
            f"1 op aten::mm@{at + 120}+20",
        ]
    return listed(*lines)


def test_calls_of_the_outermost_module_are_passes_of_a_generate_loop() -> None:
    facts = loop("Llama", [17, *[1] * 9])
    assert facts.summary.step_source == PASS
    assert [(row["name"], row["phase"]) for row in rows(facts)] == [
        ("nn.Module: Llama_0", "prefill"),
        *[("nn.Module: Llama_0", "decode")] * 9,
    ]
    assert [row["context_tokens"] for row in rows(facts)] == [34, *[0] * 9]
    assert [row["generation_requests"] for row in rows(facts)] == [0, *[2] * 9]


def test_passes_of_a_diffusion_pipeline_have_no_phase() -> None:
    around = ["1 frame nn.Module: TextEncoder_0@8500+400", "1 frame nn.Module: Decoder_0@9000+300"]
    facts = loop("Transformer", [64] * 8, *around)
    assert [row["phase"] for row in rows(facts)] == ["other"] * 8


def test_an_embedding_without_a_list_of_shapes_tells_no_tokens() -> None:
    dims = '{"Input Dims": {"1": [2, 1]}}'
    first = [f"1 op aten::embedding@{1000 * number + 5}+2 {dims}" for number in range(10)]
    facts = loop("Llama", [17, *[1] * 9], *first)
    assert [row["phase"] for row in rows(facts)] == ["other"] * 10


@pytest.mark.parametrize(
    ("tokens", "more"),
    [([9, *[1] * 6], ()), ([9, *[1] * 8], ("1 op Optimizer.step#SGD.step@2950+10",))],
    ids=["too few", "training"],
)
def test_no_passes_where_it_is_not_safe(tokens: list[int], more: tuple[str, ...]) -> None:
    facts = loop("Llama", tokens, *more)
    assert facts.summary.step_source != PASS
    assert rows(facts) == []
