"""What a question finds: names of the recording with the times of their tables, in the order of what costs most."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.builders.drawn import events, trace_of
from tests.examples import examples
from tests.views import hand_made
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import Selection, select
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.timeline.build import build_timeline
from torch_tb_profiler.analysis.timeline.search import Search
from torch_tb_profiler.analysis.timeline.search_texts import Query
from torch_tb_profiler.cli.tables import records
from torch_tb_profiler.runs.model import Run
from torch_tb_profiler.tables.ask import ask
from torch_tb_profiler.tables.registry import TABLES
from torch_tb_profiler.tables.source import TableSource
from torch_tb_profiler.untrusted import printable
from torch_tb_profiler.views.ask.payload import MOST_OF_A_KIND, EventNames
from torch_tb_profiler.views.ask.table import KINDS

STEPS = """
main    [ProfilerStep#5                  ][ProfilerStep#6                        ][ProfilerStep#7                                  ]
main      /line                        /    /line                              /    /line                                        /
main       [first     ] [other       ]       [first     ] [other             ]       [first     ] [other                       ]
main         <launch #1> <launch #2>           <launch #3> <launch #4>                 <launch #5> <launch #6>
gpu 7          {kernel #1} {more #2}             {kernel #3} {more #4      }             {kernel #5} {more #6                }
"""
NAMES = {
    "line": "train.py(12): main",
    "first": "aten::mm",
    "other": "aten::_softmax",
    "launch": "cudaLaunchKernel",
    "kernel": "void gemm<float>(int)",
    "more": "cunn_SoftMaxForward",
}
HOSTILE = (
    "<script>alert(1)</script>",
    "a\u202eb",
    "\x1b[31mred\x1b[0m",
    "`rm -rf /`; $(id)",
    "=cmd|' /C calc'!A0",
    "^(a+)+$",
    "why 7",
    "%s%n{0}",
    "ſtraße İ",
)
TABLES_OF = {
    "operator": ("operators", "device_self_ns"),
    "kernel": ("kernels", "total_ns"),
    "call": ("api_calls", "total_ns"),
    "line": ("lines", "path_ns"),
}


def source(names: dict[str, str] | None = None, drawing: str = STEPS) -> TableSource:
    trace = trace_of(events(drawing, {**NAMES, **(names or {})}))
    facts = derive(trace)
    insight = build_insight(trace, facts)
    return TableSource(trace, facts, lambda: insight, select(facts))


def rows(of: TableSource, question: str, **more: Any) -> list[dict[str, Any]]:
    return records(ask(of, question, **more).table)


def of_median(of: TableSource) -> TableSource:
    """The step that answers are of: of three steps the one of median length."""
    return TableSource(of.trace, of.facts, of.derive, Selection(np.array([1], np.int64), False))


@given(
    name=st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=30)),
    place=st.sampled_from(sorted(NAMES)),
    cut=st.tuples(st.integers(0, 30), st.integers(1, 30)),
)
@example(name="<script>alert(1)</script>", place="first", cut=(1, 1))
@examples(25)
def test_what_is_found_is_in_the_recording_with_the_time_of_its_table(
    name: str, place: str, cut: tuple[int, int]
) -> None:
    of = source({place: name})
    known = set(of.trace.strings.all()) | set(of.insight.strings.all())
    tables = {
        kind: dict(
            zip(
                (t := TABLES[table].computed(of_median(of))).texts(t.spec.columns[0].name),
                t[time].tolist(),
                strict=True,
            )
        )
        for kind, (table, time) in TABLES_OF.items()
    }
    question = name[cut[0] : sum(cut)] or name
    for row in rows(of, question):
        assert row["kind"] in KINDS
        if row["kind"] in TABLES_OF and row["name"]:
            # Work without an operator has a row with words of its own.
            assert row["name"] in known | set(tables[row["kind"]])
            assert row["time_ns"] == tables[row["kind"]].get(row["name"], 0)
        link = dict(parse_qsl(row["to"], keep_blank_values=True))
        assert link or row["kind"] == "word"
    assert printable(ask(of, question).sentence) == ask(of, question).sentence


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_found_whatever_stands_in_it(name: str) -> None:
    of = source({"first": name})
    if name == "why 7":  # it is a question
        assert rows(of, name)[0]["kind"] == "step"
        return
    assert name in [row["name"] for row in rows(of, name) if row["kind"] == "operator"]


@pytest.mark.parametrize("text", ["softmax", "MM", "cuda", "main", "no such"])
def test_so_many_events_are_marked_as_the_timeline_finds(text: str) -> None:
    of = source()
    hits = Search(of.trace, build_timeline(of.trace, of.facts)).find(Query(text))
    assert EventNames(of.trace).count(text) == hits.n


def test_findings_come_first_then_what_costs_most_then_places_and_words() -> None:
    found = rows(source(), "o")
    order = [
        ("finding", "cost", "what_if", "place", "word")[
            0
            if kind == "finding"
            else 2
            if kind == "what_if"
            else 4
            if kind == "word"
            else 3
            if kind in ("step", "rank", "run", "section", "trace")
            else 1
        ]
        for kind in (row["kind"] for row in found if row["name"] and row["kind"] != "trace")
    ]
    assert order == sorted(order, key=["finding", "cost", "what_if", "place", "word"].index)
    costs = [
        row["path_ns"] or 0
        for row in found
        if row["kind"] in ("operator", "kernel", "line", "call")
    ]
    assert costs == sorted(costs, reverse=True)
    for kind in KINDS:
        assert sum(row["kind"] == kind and bool(row["name"]) for row in found) <= MOST_OF_A_KIND


def test_a_misspelt_name_is_answered_with_the_nearest() -> None:
    answer = ask(source(), "sofmax")
    assert answer.sentence == "Nothing here is called “sofmax”. The nearest name is softmax."
    assert "aten::_softmax" in [row["name"] for row in records(answer.table)]


def test_without_a_question_the_answer_is_told() -> None:
    answer = ask(source(), " ")
    assert answer.sentence.endswith(".")
    assert answer.over == "Times are of step 6."
    assert records(answer.table)[0]["label"]


def test_nothing_is_said_of_causes_while_ranks_are_read() -> None:
    answer = ask(source(), "", reading=True)
    assert answer.sentence == "The ranks are still being read."
    assert "finding" not in [row["kind"] for row in records(answer.table)]
    assert "finding" not in [row["kind"] for row in rows(source(), "o", reading=True)]


@pytest.mark.parametrize("question", ["why 7", "Why is step 7 slow?", "why #7", "WHY step 7"])
def test_why_a_step_is_slow(question: str) -> None:
    first, *others = rows(source(), question)
    assert first["label"].startswith("Step 7 takes 10.0 µs longer")
    assert first["change_ns"] == 10_000
    assert first["to"] == "view=steps&why=2"
    assert [row["label"] for row in others][-1] == "Only step 7, everywhere"
    assert others[-1]["to"] == "steps=2"


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("why 4", "There is no step 4. Recorded: 5 to 7."),
        ("step 99", "There is no step 99. Recorded: 5 to 7."),
        ("rank 3", "There is no rank 3 here. No rank is known."),
        ("vs main", "Nothing is called “main” here. There is no other run to compare with."),
        ("train.py:3", "Nothing was recorded at train.py:3."),
        ("what if pigs fly", "No change has the words “pigs fly”."),
    ],
)
def test_what_a_command_cannot_find_is_said(question: str, sentence: str) -> None:
    assert ask(source(), question).sentence == sentence


def test_a_line_is_found_by_its_number_and_a_later_one_by_the_function_above_it() -> None:
    for question in ("line 12", "train.py:12"):
        assert [row["label"] for row in rows(source(), question)] == ["train.py:12"]
    answer = ask(source(), "train.py:30")
    assert "begin above it" in answer.sentence
    assert [row["label"] for row in records(answer.table)] == ["train.py:12"]


def test_a_change_is_found_by_its_words_or_as_the_command_line_takes_it() -> None:
    assert [row["name"] for row in rows(source(), "what if no-sync")] == ["no-sync"]
    (row,) = rows(source(), "what if scale:operator=aten::mm,factor=0.5")
    assert dict(parse_qsl(row["to"])) == {
        "view": "critical_path",
        "what_if": "scale:operator=aten::mm,factor=0.5",
    }


def test_a_kind_alone_names_all_of_it() -> None:
    assert {row["kind"] for row in rows(source(), "which kernels")} <= {"kernel", "section", "word"}
    assert rows(source(), "kernel")[0]["name"] == "cunn_SoftMaxForward"


def opened_beside(*names: str) -> tuple[TableSource, list[Run]]:
    """A trace and other runs of its logdir, each with a worker of the same name."""
    opened = hand_made.opened()
    insight = build_insight(opened.trace, opened.facts)
    runs = [replace(opened.run, name=name) for name in names]
    of = TableSource(
        opened.trace, opened.facts, lambda: insight, select(opened.facts), opened=opened
    )
    return of, runs


@pytest.mark.parametrize("question", ["vs main", "compare with MAIN", "what changed since main"])
def test_a_run_is_compared_with_by_its_name(question: str) -> None:
    of, runs = opened_beside("main", "other")
    (row,) = rows(of, question, runs=runs)
    assert row["label"] == "Compare with main"
    assert dict(parse_qsl(row["to"]))["run2"] == "main"


def test_where_no_run_has_the_name_the_nearest_comes_first() -> None:
    of, runs = opened_beside("other", "maine")
    answer = ask(of, "vs mains", runs)
    assert answer.sentence == "Nothing is called “mains” here."
    assert [row["label"] for row in records(answer.table)] == [
        "Compare with maine",
        "Compare with other",
    ]
