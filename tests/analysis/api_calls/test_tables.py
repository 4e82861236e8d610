"""Runtime calls, launches and copies of drawings: one column is a microsecond."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.builders.drawn import events, trace_of
from torch_tb_profiler.analysis.api_calls import calls
from torch_tb_profiler.analysis.api_calls.calls import (
    call_table,
    calls_of,
    long_calls,
)
from torch_tb_profiler.analysis.api_calls.copies import copy_kind, copy_table, host_memory
from torch_tb_profiler.analysis.api_calls.launches import (
    EDGES_NS,
    delay_counts,
    launch_table,
    launches_of,
)
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.store.display import TEXTS, DisplayTable

US = 1000
STEPS = """
    main  [ProfilerStep#1                ][ProfilerStep#2               ]
    main    <L #1><L #2> <sync       >       <L #3><hipMemcpyAsync #4>
    gpu 0           {k #1  }{k #2 }             {m #3      }{c #4  }
"""
NAMES = {
    "sync": "cudaStreamSynchronize",
    "L": "cudaLaunchKernel",
    "c": "Memcpy DtoD (Device -> Device)",
}


class Asked:
    """The tables of a drawing."""

    def __init__(
        self, drawing: str, first: int | None = None, last: int | None = None, **more: Any
    ) -> None:
        self.trace = trace_of(events(drawing, **more))
        self.facts = derive(self.trace)
        self.selection = select(self.facts, first, last)
        self.launches = launches_of(self.trace, self.facts, self.selection)
        self.calls = calls_of(self.trace, self.facts, self.selection)

    def by_name(self) -> dict[str, dict[str, Any]]:
        return _rows(call_table(self.trace, self.facts, self.selection, self.calls, self.launches))

    def longest(self) -> list[dict[str, Any]]:
        return _listed(long_calls(self.trace, self.facts, self.calls, self.launches))

    def kernels(self, short_us: int = 10) -> dict[str, dict[str, Any]]:
        return _rows(launch_table(self.trace, self.launches, short_us * US))

    def copies(self) -> list[dict[str, Any]]:
        return _listed(copy_table(self.trace, self.facts, self.launches))


def _listed(table: DisplayTable) -> list[dict[str, Any]]:
    columns = {
        c.name: table.texts(c.name)
        if c.kind in TEXTS
        else [None if value != value else value for value in np.asarray(table[c.name]).tolist()]
        for c in table.spec.columns
    }
    return [{name: values[i] for name, values in columns.items()} for i in range(table.n)]


def _rows(table: DisplayTable) -> dict[str, dict[str, Any]]:
    first = table.spec.columns[0].name
    return {row[first]: row for row in _listed(table)}


def _unknown(value: Any) -> bool:
    return value is None or value == -1


def _of(row: Mapping[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(
        row[name] / US if name.endswith("_ns") and not _unknown(row[name]) else row[name]
        for name in names
    )


FIGURES = ("calls", "total_ns", "mean_ns", "median_ns", "max_ns")


def test_calls_are_summed_by_name_and_shared_by_the_time_of_the_steps() -> None:
    rows = Asked(STEPS, names=NAMES).by_name()
    assert list(rows) == ["hipMemcpyAsync", "cudaLaunchKernel", "cudaStreamSynchronize"]
    assert _of(rows["cudaLaunchKernel"], *FIGURES) == (3, 18, 6, 6, 6)
    assert _of(rows["hipMemcpyAsync"], *FIGURES) == (1, 19, 19, 19, 19)
    # Of 63 µs, from the begin of the first step to the end of the second one.
    assert rows["cudaStreamSynchronize"]["thread_share"] == pytest.approx(13 / 63)


def test_a_step_has_its_own_calls() -> None:
    asked = Asked(STEPS, 0, 0, names=NAMES)
    assert {name: row["calls"] for name, row in asked.by_name().items()} == {
        "cudaLaunchKernel": 2,
        "cudaStreamSynchronize": 1,
    }
    assert list(asked.kernels()) == ["k"]
    assert asked.copies() == []


def test_a_call_within_one_of_its_name_takes_no_time_of_its_own() -> None:
    rows = Asked("main <L                ><L  >\nmain    <L    >").by_name()
    assert _of(rows["L"], "calls", "total_ns", "max_ns") == (3, 24, 19)


def test_the_launch_thread_is_the_one_with_the_most_launches() -> None:
    rows = Asked("""
        one  <L #1>
        two  <L #2><L #3><other             >
        gpu 0      {k #1}{k #2}{k #3}
    """).by_name()
    assert rows["other"]["thread_share"] == pytest.approx(20 / 32)
    assert rows["L"]["thread_share"] == pytest.approx(12 / 32)


def test_delays_go_from_the_begin_of_a_launch_to_that_of_its_kernel() -> None:
    row = Asked(STEPS, names=NAMES).kernels()["k"]
    # k #1: 8 and k #2: 10 µs behind their launches of 6 µs.
    assert _of(row, "median_delay_ns", "max_delay_ns", "launch_ns") == (9, 10, 6)


def test_short_kernels_and_those_below_their_launch() -> None:
    rows = Asked("""
        main  <L        #1><L  #2>
        gpu 0               {k #1}{k       #2}
    """).kernels()
    names = ("calls", "short", "short_ns", "below_launch")
    assert _of(rows["k"], *names) == (2, 1, 6, 1)
    assert _of(Asked("gpu 0 {k  }").kernels()["k"], *names) == (1, 1, 5, -1)
    assert Asked(STEPS, names=NAMES).kernels(short_us=9)["k"]["short"] == 2


def test_of_a_replayed_graph_only_the_first_kernel_has_a_delay() -> None:
    rows = Asked("""
        main  <hipGraphLaunch #1>
        gpu 0         {a #1}{b #1}
    """).kernels()
    assert _of(rows["a"], "max_delay_ns", "below_launch", "launch_ns") == (8, -1, None)
    assert rows["b"]["max_delay_ns"] == -1


def test_clocks_that_differ_make_no_negative_delay() -> None:
    assert Asked("main     <L #1>\ngpu 0 {k #1}").kernels()["k"]["max_delay_ns"] == 0


def test_the_histogram_counts_every_launch_of_a_kernel_once() -> None:
    asked = Asked(STEPS, names=NAMES)
    delays, durations = delay_counts(asked.launches)
    at = {int(edge) // US: i for i, edge in enumerate(EDGES_NS)}
    # 8, 10 and 3 µs; each launch takes 6.
    assert {edge: int(delays[i]) for edge, i in at.items() if delays[i]} == {2: 1, 5: 1, 10: 1}
    assert {edge: int(durations[i]) for edge, i in at.items() if durations[i]} == {5: 3}


REASONS = {
    "hipStreamSynchronize": "synchronization",
    "cudaMalloc": "allocation",
    "hipModuleLoadData": "code_loading",
    "cudaGraphInstantiate": "graph",
    "cudaGraphLaunch": None,
    "zeEventHostSynchronize": "synchronization",
    "cudaGetDevice": None,
}


@pytest.mark.parametrize("name", REASONS)
def test_a_name_tells_why_a_call_took_long(name: str) -> None:
    (row,) = Asked("main <x>", names={"x": name}).longest()
    assert (row["name"], row["reason"]) == (name, REASONS[name])


def test_a_copy_of_pageable_memory_says_so_and_what_it_copies() -> None:
    asked = Asked(
        """
        main  [aten::copy_           ]
        main    <cudaMemcpyAsync #1>
        gpu 0               {c #1}
        """,
        names={"c": "Memcpy HtoD (Pageable -> Device)"},
    )
    (row,) = asked.longest()
    assert (row["reason"], row["operator"], row["kernel"]) == (
        "pageable_copy",
        "aten::copy_",
        "Memcpy HtoD (Pageable -> Device)",
    )


@pytest.mark.parametrize(("length", "reason"), [(61, "first_launch"), (60, None)])
def test_the_first_launch_of_a_kernel_loads_it_if_it_takes_ten_times_the_usual(
    length: int, reason: str | None
) -> None:
    first = "<L".ljust(length - 3) + "#1>"
    asked = Asked(f"""
        main  {first}<L #2><L #3><L #4>
        gpu 0 {" " * length}{{k #1}}{{k #2}}{{k #3}}{{k #4}}
    """)
    assert [row["reason"] for row in asked.longest()] == [reason, None, None, None]


COPIES = """
    main   <M #1><M #2><M #3><M #4><M #5>
    gpu 0    {a #1   }{b #2}{c #3    }{d #4}{e #5  }
"""
COPY_NAMES = {
    "a": "Memcpy HtoD (Pageable -> Device)",
    "b": "Memcpy HtoD (Pageable -> Device)",
    "c": "Memcpy PtoP (Device -> Device)",
    "d": "Memcpy DtoH (Device -> Host)",
    "e": "Memset (Device)",
}


def test_copies_are_summed_by_kind_memory_and_size() -> None:
    sizes = {"a": 2000, "b": 3000, "c": 1 << 20, "e": 64}
    asked = Asked(
        COPIES, names=COPY_NAMES, args={key: {"bytes": size} for key, size in sizes.items()}
    )
    rows = {(r["kind"], r["memory"], r["size"]): r for r in asked.copies()}
    assert set(rows) == {
        ("HtoD", "pageable", "< 4 KiB"),
        ("PtoP", None, "< 16 MiB"),
        ("DtoH", None, None),
        ("Memset", None, "< 4 KiB"),
    }
    pageable = rows["HtoD", "pageable", "< 4 KiB"]
    assert _of(pageable, "calls", "total_ns", "max_ns", "bytes") == (2, 15, 9, 5000)
    assert pageable["rate"] == pytest.approx(5000 / 15e-6)
    unknown = rows["DtoH", None, None]
    assert unknown["bytes"] == -1
    assert unknown["rate"] is None


@pytest.mark.parametrize(
    ("name", "kind", "memory"),
    [
        ("Memcpy DtoH (Device -> Pinned)", "DtoH", "pinned"),
        ("Memcpy DtoD (Device -> Device)", "DtoD", None),
        ("CopyHostToDevice", "HtoD", None),
        ("MEMORY_COPY_HOST_TO_DEVICE", "HtoD", None),
        ("MEMORY_COPY_DEVICE_TO_DEVICE", "DtoD", None),
        ("MemcpyD2H", "DtoH", None),
        ("hipMemcpyDeviceToDevice", "DtoD", None),
        ("Memset (Device)", "Memset", None),
        ("dma_request", "other", None),
    ],
)
def test_a_name_says_what_is_copied(name: str, kind: str, memory: str | None) -> None:
    assert (copy_kind(name), host_memory(name)) == (kind, memory)


def test_of_equally_long_calls_the_first_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(STEPS, names=NAMES)
    every = asked.longest()
    assert [row["name"] for row in every] == [
        "hipMemcpyAsync",
        "cudaStreamSynchronize",
        *["cudaLaunchKernel"] * 3,
    ]
    for most in range(1, 6):
        monkeypatch.setattr(calls, "LONGEST", most)
        assert asked.longest() == every[:most]
