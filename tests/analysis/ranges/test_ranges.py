"""Ranges: figures that one can count off a drawing, sums over any steps, and the public traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders.drawn import events, trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import Selection, select
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.ranges.table import range_table
from torch_tb_profiler.runs.import_job import read
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

US = 1000
Row = dict[str, Any]


def ranges_of(trace: Trace, first: int | None = None, last: int | None = None) -> dict[str, Row]:
    """The rows by name, times in µs."""
    facts = derive(trace)
    return rows_of(facts, trace, select(facts, first, last))


def rows_of(facts: Facts, trace: Trace, selection: Selection) -> dict[str, Row]:
    table = range_table(facts, build_insight(trace, facts), selection)
    found = {}
    for i, name in enumerate(table.texts("name")):
        row = {c.name: table[c.name][i] for c in table.spec.columns if c.name != "name"}
        for key in ("host_ns", "device_ns", "busy_ns", "path_ns"):
            row[key.removesuffix("_ns")] = row[key] // US if row[key] >= 0 else None
        found[str(name)] = row
    return found


def figures(row: Row, *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


TIMES = ("calls", "host", "device", "busy", "launched")


def test_the_figures_of_a_drawing() -> None:
    trace = trace_of(
        events("""
        main   (ProfilerStep#1                                      )
        main    (attn            ) (mlp       )
        main     <l #1> <l #2>      <l #3>
        gpu 7        {a #1 }          {c #3  }
        gpu 20          {b #2     }
    """)
    )
    rows = ranges_of(trace)
    assert set(rows) == {"attn", "mlp"}
    # a from 13 to 20 µs, b from 16 to 27 µs.
    assert figures(rows["attn"], *TIMES) == (1, 18, 14, 14, 2)
    assert figures(rows["mlp"], *TIMES) == (1, 12, 8, 8, 1)
    assert rows["attn"]["device_share"] == pytest.approx(14 / 22)
    assert rows["mlp"]["device_share"] == pytest.approx(8 / 22)
    assert rows["attn"]["kind"] == "host"


def test_the_device_time_holds_gaps_and_busy_does_not() -> None:
    trace = trace_of(
        events("""
        main   (ProfilerStep#1                           )
        main    (r               )
        main     <l #1> <l #2>
        main                       <l #3>
        gpu 7         {a #1}           {b #2   }
        gpu 8                 {other #3 }
    """)
    )
    assert figures(ranges_of(trace)["r"], *TIMES) == (1, 18, 26, 15, 2)


def test_ranges_nested_in_their_own_name_count_once() -> None:
    trace = trace_of(
        events("""
        main   (ProfilerStep#1                      )
        main    (r                    ) (r   )
        main     (x         )
        main      (r      )
        main       <l #1>
        gpu 7          {a #1   }
    """)
    )
    rows = ranges_of(trace)
    assert figures(rows["r"], *TIMES) == (3, 29, 9, 9, 1)
    assert figures(rows["x"], *TIMES) == (1, 12, 9, 9, 1)


def test_a_range_over_two_steps_is_split_between_them() -> None:
    trace = trace_of(
        events("""
        main   (ProfilerStep#1       )(ProfilerStep#2        )
        main          (r                      )       (r         )
        main           <l #1>           <l #2>
        gpu 7             {a #1 }          {b #2    }
    """)
    )
    first, second = ranges_of(trace, 0, 0)["r"], ranges_of(trace, 1, 1)["r"]
    assert figures(first, *TIMES) == (1, 16, 7, 7, 1)
    assert figures(second, *TIMES) == (1, 17, 10, 10, 1)
    whole = ranges_of(trace)["r"]
    assert figures(whole, *TIMES) == (2, 33, 17, 17, 2)


def test_the_threads_of_autograd_work_for_the_range_that_waits() -> None:
    drawing = """
        main   (ProfilerStep#1                                )
        main    (backward                         )
        aux        [e                            ]
        aux         (comm      )  <l #2>
        aux           <l #1>
        gpu 7             {a #1 }      {b #2    }
    """
    names = {"e": "autograd::engine::evaluate_function: MulBackward0"}
    rows = ranges_of(trace_of(events(drawing, names=names)))
    assert figures(rows["backward"], *TIMES) == (1, 35, 23, 17, 2)
    assert figures(rows["comm"], *TIMES) == (1, 12, 7, 7, 1)


def test_ranges_of_the_device_alone_have_rows_without_host_time() -> None:
    listed = events("""
        main   (ProfilerStep#1         )
        main    [op                ]
        main     <l #1> <l #2>
        gpu 7      (ProfilerStep#1     )
        gpu 7      (shadow           )
        gpu 7       {a #1 }  {b #2}
    """)
    for event in listed:
        if event["name"] == "shadow":
            event["cat"] = "gpu_user_annotation"
    (row,) = ranges_of(trace_of(listed)).values()
    assert figures(row, "kind", "calls", "host", "device", "busy") == ("device", 1, None, 19, 13)
    assert row["launched"] == -1
    assert np.isnan(row["path_share"])


def test_without_a_device_its_figures_are_unknown() -> None:
    rows = ranges_of(
        trace_of(
            events("""
        main   (ProfilerStep#1      )
        main    (r        )
        main     [op   ]
    """)
        )
    )
    assert figures(rows["r"], "calls", "host", "device", "busy") == (1, 11, None, None)
    assert np.isnan(rows["r"]["device_share"])
    # The step waits for nothing but the host.
    assert rows["r"]["path"] == 11
    assert rows["r"]["path_share"] == pytest.approx(11 / 22)


EVENT = st.fixed_dictionaries(
    {
        "ph": st.just("X"),
        "cat": st.sampled_from(
            ["user_annotation"] * 3 + ["gpu_user_annotation", "cuda_runtime", "cpu_op", "kernel"]
        ),
        "name": st.sampled_from(
            ["r", "s", "ProfilerStep#1", "ProfilerStep#2", "autograd::engine::evaluate_function: X"]
        ),
        "ts": st.integers(0, 60),
        "dur": st.integers(0, 40),
        "pid": st.just(1),
        "tid": st.integers(0, 2),
        "args": st.fixed_dictionaries({"correlation": st.integers(1, 5)}),
    }
)


@examples(150)
@given(st.lists(EVENT, max_size=25))
def test_any_trace_holds_together(listed: list[dict[str, Any]]) -> None:
    trace = trace_of(listed)
    facts = derive(trace)
    insight = build_insight(trace, facts)
    n = facts["steps"].n
    everything = Selection(np.arange(n), True)
    table = range_table(facts, insight, everything)
    sums = dict.fromkeys(("calls", "host", "device", "busy", "launched", "path"), 0)
    for name in sums:
        assert (insight["range_steps"][name] >= 0).all()
    assert (table["busy_ns"] <= table["device_ns"]).all()
    for share in ("device_share", "path_share"):
        known = table[share][~np.isnan(table[share])]
        assert ((known >= 0) & (known <= 1)).all()
    spans = trace["spans"]
    names = trace.strings.many(spans["name"])
    annotations = [i for i in range(spans.n) if spans["role"][i] == Role.ANNOTATION]
    for i, text in enumerate(table.texts("name")):
        name = str(text)
        if table["kind"][i] != "host" or name.startswith("ProfilerStep"):
            continue
        own = [row for row in annotations if names[row] == name]
        assert table["calls"][i] == len(own)
        assert table["host_ns"][i] <= sum(int(spans["dur"][row]) for row in own)
        assert table["host_ns"][i] >= max(int(spans["dur"][row]) for row in own)


def real(folder: Path, name: str) -> tuple[Trace, Facts]:
    (path,) = (folder / name).glob("*.json.gz")
    return read(Place(str(path)), Settings())


def test_deepseek_s_ranges_are_rows(real_traces: Path) -> None:
    trace, facts = real(real_traces, "h800_deepseek_train")
    rows = rows_of(facts, trace, select(facts))
    words = [f"{what}({way})" for what in ("attn", "mlp") for way in "FBW"]
    words += [f"{what}({way})" for what in ("dispatch", "combine") for way in "FB"]
    assert set(rows) == {*words, "1F1B"}
    assert all(rows[word]["calls"] == 4 and rows[word]["busy"] > 0 for word in words)
    assert rows["1F1B"]["launched"] == sum(rows[word]["launched"] for word in words)
    assert rows["1F1B"]["device_share"] == pytest.approx(1.0)


def test_device_times_are_those_of_the_profiler_s_own_ranges(real_traces: Path) -> None:
    """Kineto draws a range on each stream from the first to the last kernel that the annotation's thread launched."""
    trace, facts = real(real_traces, "a100_nccl")
    rows = rows_of(facts, trace, select(facts))
    spans = trace["spans"]
    shadows = np.flatnonzero(spans["role"] == Role.DEVICE_ANNOTATION)
    for name in ("nccl:all_reduce", "nccl:broadcast", "DistributedDataParallel.forward"):
        own = shadows[spans["name"][shadows] == trace.strings.number(name)]
        drawn = int(spans["dur"][own].sum())
        assert rows[name]["calls"] == len(own)
        assert rows[name]["device_ns"] == pytest.approx(drawn, abs=3 * US * len(own))
