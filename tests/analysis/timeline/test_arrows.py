"""Arrows: which event leads to which, and which of them a window shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.timeline.charts import Chart, chart, chart_drawn
from tests.builders.drawn import Event, events, trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.facts import span_lookup
from torch_tb_profiler.analysis.timeline.arrows import MOST_CATEGORIES, arrows_within, spread
from torch_tb_profiler.store import timeline_schema

Arrow = tuple[str, str, str]

THREADS = """
main [outer                            ]
main   [forward     ]    [other ]
back                        [backward   ]
back                          [inner]
"""


def flow(
    phase: str, number: int, ts: float, tid: int, category: str = "fwdbwd", pid: int = 100
) -> Event:
    return {
        "ph": phase,
        "cat": category,
        "name": category,
        "id": number,
        "pid": pid,
        "tid": tid,
        "ts": ts,
        **({"bp": "e"} if phase == "f" else {}),
    }


def arrows_in(found: Chart) -> list[Arrow]:
    """(kind, from, to) by name, in the order of the table."""
    trace, _, timeline = found
    table, kinds = timeline["arrows"], timeline.about["arrow_kinds"]

    def name(event: int) -> str:
        return trace.strings[int(trace["spans"]["name"][event])]

    columns = (table["kind"].tolist(), table["source"].tolist(), table["target"].tolist())
    return [
        (kinds[kind]["kind"], name(source), name(target))
        for kind, source, target in zip(*columns, strict=True)
    ]


def untied(found: Chart) -> dict[str, int]:
    return {kind["kind"]: kind["untied"] for kind in found[2].about["arrow_kinds"]}


def with_flows(*flows: Event) -> Chart:
    return chart(trace_of([*events(THREADS), *flows]))


def test_a_launch_leads_to_its_work() -> None:
    example = chart_drawn("""
        main  [aten::mm                     ]
        main    <cudaLaunchKernel #7>
        gpu 7             {gemm #7   }
        gpu 7                            {alone #8}
    """)
    assert arrows_in(example) == [("launch", "cudaLaunchKernel", "gemm")]
    table = example[2]["arrows"]
    assert (table["source_time"][0], table["target_time"][0]) == (2000, 12000)
    assert example[2].about["arrow_kinds"] == [
        {"kind": "launch", "label": "launch → device work", "total": 1, "untied": 0}
    ]


def test_a_flow_that_repeats_a_launch_is_no_arrow_of_its_own() -> None:
    drawn = """
        main  [aten::mm                     ]
        main    <cudaLaunchKernel #7>
        gpu 7             {gemm #7   }
        gpu 7                            {graph #9}
    """
    repeated = [flow("s", 7, 8, 1, "ac2g"), flow("f", 7, 18, 7, "ac2g", 0)]
    told = [flow("s", 9, 8, 1, "ac2g"), flow("f", 9, 33, 7, "ac2g", 0)]
    listed = events(drawn)
    first = min(e["ts"] for e in listed)
    for e in listed:
        e["ts"] += 6 - first
    example = chart(trace_of([*listed, *repeated, *told]))
    assert arrows_in(example) == [
        ("launch", "cudaLaunchKernel", "gemm"),
        ("launch", "cudaLaunchKernel", "graph"),
    ]
    assert untied(example) == {"launch": 0}


def test_ends_lead_to_what_begins_there_or_else_to_what_is_around() -> None:
    exact = with_flows(flow("s", 1, 7, 1), flow("f", 1, 28, 2))
    assert arrows_in(exact) == [("fwdbwd", "forward", "backward")]
    around = with_flows(flow("s", 1, 12, 1), flow("f", 1, 32, 2))
    assert arrows_in(around) == [("fwdbwd", "forward", "inner")]
    between = with_flows(flow("s", 1, 22, 1), flow("f", 1, 29, 2))
    assert arrows_in(between) == [("fwdbwd", "outer", "backward")]


def test_a_step_makes_a_chain() -> None:
    example = with_flows(flow("f", 1, 30, 2), flow("s", 1, 7, 1), flow("t", 1, 25, 1))
    assert arrows_in(example) == [("fwdbwd", "forward", "other"), ("fwdbwd", "other", "inner")]


def test_an_id_may_be_used_again_and_have_several_ends() -> None:
    example = with_flows(
        flow("s", 1, 7, 1),
        flow("f", 1, 28, 2),
        flow("f", 1, 30, 2),
        flow("s", 1, 31, 1),
        flow("f", 1, 32, 2),
    )
    assert arrows_in(example) == [
        ("fwdbwd", "forward", "backward"),
        ("fwdbwd", "forward", "inner"),
        ("fwdbwd", "other", "inner"),
    ]


def test_categories_are_apart_and_an_end_may_come_first() -> None:
    example = with_flows(
        flow("f", 1, 28, 2, "async"), flow("s", 1, 29, 1, "async"), flow("s", 1, 7, 1, "async_gpu")
    )
    assert arrows_in(example) == [("async", "other", "backward")]
    assert untied(example) == {"async": 0, "async_gpu": 1}


def test_what_leads_nowhere_is_counted() -> None:
    example = with_flows(
        flow("s", 1, 7, 1),
        flow("s", 2, 7, 1),
        flow("f", 2, 28, 9),
        flow("f", 3, 28, 2),
        flow("s", 4, 99, 1),
        flow("f", 4, 28, 2),
    )
    assert arrows_in(example) == []
    assert untied(example) == {"fwdbwd": 6}


@pytest.mark.parametrize(
    ("category", "kind"),
    [("forward_backward", "fwdbwd"), ("launch", "flow_launch"), ("a,b\n", "a_b_"), ("", "flow_")],
)
def test_kinds_can_stand_in_a_url(category: str, kind: str) -> None:
    assert [
        a[0]
        for a in arrows_in(with_flows(flow("s", 1, 7, 1, category), flow("f", 1, 28, 2, category)))
    ] == [kind]


def test_rare_categories_share_a_kind() -> None:
    flows = [
        e
        for i in range(MOST_CATEGORIES + 5)
        for e in (flow("s", 1, 7, 1, f"c{i}"), flow("f", 1, 28, 2, f"c{i}"))
    ]
    example = with_flows(*flows)
    assert [(k["kind"], k["total"]) for k in example[2].about["arrow_kinds"]][-1] == ("other", 5)
    assert len(example[2].about["arrow_kinds"]) == MOST_CATEGORIES + 1


def test_times_too_far_apart_for_one_key(monkeypatch: pytest.MonkeyPatch) -> None:
    flows = (
        flow("s", 1, 12, 1),
        flow("f", 1, 32, 2),
        flow("s", 2, 7, 1),
        flow("f", 2, 28, 2),
        flow("s", 3, 0, 1),
        flow("f", 3, 99, 2),
    )
    expected = arrows_in(with_flows(*flows))
    assert len(expected) == 2
    monkeypatch.setattr(span_lookup, "_KEY_LIMIT", 1)
    assert arrows_in(with_flows(*flows)) == expected


TIMES = st.integers(0, 40)
ROWS = st.lists(
    st.tuples(TIMES, TIMES, st.integers(0, 2), st.integers(0, 4), st.integers(0, 4)), max_size=40
).map(sorted)


@examples(200)
@given(
    rows=ROWS,
    begin=TIMES,
    length=st.integers(1, 20),
    kinds=st.none() | st.sets(st.integers(0, 2)),
    lanes=st.none() | st.sets(st.integers(0, 4)),
)
def test_a_window_shows_what_touches_it(
    rows: list[Any], begin: int, length: int, kinds: set[int] | None, lanes: set[int] | None
) -> None:
    columns = zip(*rows, strict=True) if rows else ([],) * 5
    names = ("source_time", "target_time", "kind", "source", "target")
    table = timeline_schema.ARROWS.build(**dict(zip(names, map(list, columns), strict=True)))
    chosen = None if lanes is None else (np.arange(5), np.isin(np.arange(5), sorted(lanes)))
    wanted = None if kinds is None else np.array(sorted(kinds), np.int64)
    found = arrows_within(table, begin, begin + length, wanted, chosen)
    expected = [
        row
        for row, (source, target, kind, from_, to) in enumerate(rows)
        if min(source, target) < begin + length
        and max(source, target) >= begin
        and (kinds is None or kind in kinds)
        and (lanes is None or from_ in lanes or to in lanes)
    ]
    assert found.tolist() == expected


@given(total=st.integers(0, 300), most=st.integers(1, 50))
def test_thinned_arrows_are_spread_evenly(total: int, most: int) -> None:
    rows = np.arange(total) * 3
    shown = spread(rows, most).tolist()
    assert len(shown) == len(set(shown)) == min(total, most)
    if total > most > 1:
        assert (shown[0], shown[-1]) == (0, 3 * (total - 1))
        gaps = np.diff(shown)
        assert gaps.max() - gaps.min() <= 3
