"""Two compiled graphs, marks of Inductor around calls, a replayed graph: each kernel counts at one call, marks at none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import loop
from tests.examples import examples
from tests.importers.reading import Stream
from torch_tb_profiler.analysis.compiled.calls import compiled_table
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.cli.document import Column, Document, Table
from torch_tb_profiler.cli.plain_text import plain_text
from torch_tb_profiler.hardware.kernel_names import short_name
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings

Event = dict[str, Any]
GRAPHS = ("f" + "abcdef" * 7, "f" + "1" * 43)


def host(name: str, at: float, dur: float) -> Event:
    return loop.span("cpu_op", name, 100, 100, at, dur)


def launch(
    call: str, at: float, begins: list[tuple[str, float, float]], number: int
) -> list[Event]:
    found = [loop.span("cuda_runtime", call, 100, 100, at, 5, correlation=number)]
    return found + [
        loop.span("kernel", name, 0, 7, start, dur, correlation=number, stream=7, device=0)
        for name, start, dur in begins
    ]


def step(k: int, mark: str) -> list[Event]:
    at, first = loop.FIRST_US + 2000 * k, 10 * k + 1
    fused = "triton_poi_fused_add_relu_0"
    found = [loop.span("user_annotation", f"ProfilerStep#{k}", 100, 100, at, 2000)]
    found += [host("Torch-Compiled Region: 0/0", at + 10, 600)]
    found += [
        host(f"## Call CompiledFxGraph {GRAPHS[0]} ##", at + 20, 500),
        host(fused, at + 30, 50),
    ]
    found += launch("cuLaunchKernel", at + 40, [(fused, at + 200, 100)], first)
    found += [host(mark, at + 100, 100)] if mark else []
    found += [host("extern_kernels.mm", at + 105, 60), host("aten::mm", at + 110, 40)]
    found += launch("cudaLaunchKernel", at + 120, [("sm90_gemm", at + 310, 200)], first + 1)
    found += [host("Torch-Compiled Region: 1/0", at + 650, 300)]
    found += [
        host(f"## Call CompiledFxGraph {GRAPHS[1]} ##", at + 660, 250),
        host(fused, at + 670, 50),
    ]
    found += launch("cuLaunchKernel", at + 680, [(fused, at + 700, 50)], first + 2)
    found += launch(
        "cuLaunchKernelEx", at + 960, [("_fused_moe_lora_kernel", at + 1000, 70)], first + 3
    )
    found.append(host("## CUDAGraph replay ##", at + 1200, 100))
    replayed: list[tuple[str, float, float]] = [
        (f"triton_red_fused_{i}", at + 1300 + 100 * i, 80) for i in range(3)
    ]
    return found + launch("cudaGraphLaunch", at + 1210, replayed, first + 4)


@pytest.mark.parametrize(
    "mark",
    [
        "## inductor_kernel:torch.ops.aten.mm.default:2 ##",
        "## inductor_kernel:extern_kernels.mm:0 ##",
        "## any words ##",
        "",
    ],
)
def test_each_kernel_counts_at_its_call(mark: str) -> None:
    events = [*loop.process(100, "python", "CPU"), *loop.process(0, "python", "GPU 0")]
    text = json.dumps(loop.document([*events, *(e for k in range(3) for e in step(k, mark))]))
    trace = read_trace(Stream(text.encode()), Settings())
    facts = derive(trace)
    table = compiled_table(trace, facts, select(facts))
    found = {
        (name, region): (backend, ns // 1000)
        for name, region, backend, ns in zip(
            table["name"], table["region"], table["backend"], table["device_ns"], strict=True
        )
    }
    fused = "triton_poi_fused_add_relu_0"
    expected: dict[tuple[str, str | None], tuple[str, int]] = {
        ("extern_kernels.mm", "0/0"): ("library", 600),
        (fused, "0/0"): ("Triton", 300),
        (fused, "1/0"): ("Triton", 150),
        **{(f"triton_red_fused_{i}", None): ("Triton", 240) for i in range(3)},
    }
    assert found == expected
    named = facts.strings.many(facts["kernels"]["name"])
    moe = [row for row, name in enumerate(named) if name == "_fused_moe_lora_kernel"]
    sums = facts["kernel_steps"]
    assert int(sums["total"][[row in moe for row in sums["kernel"].tolist()]].sum()) == 210_000


def test_no_short_name_is_the_end_of_a_bracket() -> None:
    assert short_name("gemm[64; 1; 1](int)") == "gemm"
    assert short_name("void at::foo<int>(int) [clone .kd]") == "foo"


@given(st.text("ab[]{}(); 12", min_size=1, max_size=20).filter(lambda text: text.strip()))
def test_short_names_are_whole(name: str) -> None:
    short = short_name(name)
    assert short
    assert short == name.strip() or any(letter.isalpha() for letter in short)
    assert short == name.strip() or not set(short) & set("[]{}")


@examples(100)
@given(
    st.text("abc", max_size=40),
    st.lists(st.text("abcd", min_size=1, max_size=4), min_size=2, max_size=5, unique=True),
    st.text("abc", max_size=40),
)
def test_names_that_are_cut_stay_distinct(before: str, own: list[str], after: str) -> None:
    """Whatever they have in common before and behind what differs."""
    names = [f"{before}{text.ljust(4, 'x')}{after}" for text in own]
    numbers = [Column(f"number{i}", "number") for i in range(9)]
    rows = [(name, *["0" * 9] * 9) for name in names]
    table = Table("Names", (Column("Name", "name"), *numbers), rows, len(rows))
    printed = plain_text(Document("Document", (), (table,))).splitlines()[-len(names) :]
    assert len({line.split("  ")[1] for line in printed}) == len(names)
