"""Search against looking at every event."""

from __future__ import annotations

import re
from time import thread_time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.timeline.charts import Chart, chart, event
from tests.analysis.timeline.made_up import traces
from tests.builders.drawn import Event, trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.timeline import search as module
from torch_tb_profiler.analysis.timeline import search_texts
from torch_tb_profiler.analysis.timeline.kinds import KIND_OF_LOOK, KINDS
from torch_tb_profiler.analysis.timeline.search import Hits, Search
from torch_tb_profiler.analysis.timeline.search_texts import LONGEST_TEXT, Query, Texts
from torch_tb_profiler.errors import BadRequest, Busy

COLUMNS = {
    "operator_args": ("dims", "types", "strides", "concrete", "stack"),
    "device_args": ("grid", "block"),
    "collective_args": ("collective", "dtype", "group"),
}


def texts_of(found: Chart) -> list[tuple[str, list[str]] | None]:
    """Name and argument texts of every event; None for samples of counters."""
    trace, _, timeline = found
    spans, instants = trace["spans"], trace["instants"]
    texts: list[tuple[str, list[str]] | None] = [
        (trace.strings[int(name)], []) for name in [*spans["name"], *instants["name"]]
    ]
    for table, columns in COLUMNS.items():
        for row, span in enumerate(trace[table]["span"].tolist()):
            entry = texts[span]
            assert entry is not None
            entry[1].extend(
                trace.strings[int(trace[table][column][row])]
                for column in columns
                if trace[table][column][row] >= 0
            )
    for row in range(instants.n):
        entry = texts[spans.n + row]
        assert entry is not None
        entry[1].append(trace.strings[int(instants["args"][row])])
        if instants["phase"][row] == ord("C"):
            texts[spans.n + row] = None
    assert len(texts) == timeline["places"].n
    return texts


def matches(query: Query, text: str) -> bool:
    if query.regex:
        return re.search(query.text, text, 0 if query.case else re.IGNORECASE) is not None
    return query.text in text if query.case else query.text.casefold() in text.casefold()


def expected(found: Chart, query: Query) -> list[int]:
    """Events in time order, spans before instants of the same time."""
    trace = found[0]
    start = [*trace["spans"]["start"].tolist(), *np.maximum(trace["instants"]["time"], 0).tolist()]
    hits = [
        number
        for number, texts in enumerate(texts_of(found))
        if texts is not None
        and (
            matches(query, texts[0])
            or (query.arguments and any(matches(query, text) for text in texts[1]))
        )
    ]
    return sorted(hits, key=lambda number: (start[number], number))


def listed(hits: Hits) -> list[int]:
    numbers: list[int] = hits.event.tolist()
    return numbers


texts = st.sampled_from(
    [
        "a",
        "ADD",
        "gemm<",
        "straSSE",
        "STRASSE",
        "ß",
        "::",
        "3,4",
        "[[",
        "value",
        "nothing",
        "nccl",
        "1",
    ]
)
patterns = st.sampled_from(
    ["^aten", "mm$|<", r"\[\d,\d\]$", "a.*d", "ß", "[A-Z]", "^$", "(gemm|nccl)"]
)
chosen = st.sampled_from(("first", "all", *KINDS))
queries = st.builds(Query, texts, st.just(False), st.booleans(), st.booleans(), chosen) | st.builds(
    Query, patterns, st.just(True), st.booleans(), st.booleans(), chosen
)


@examples(200)
@given(made=traces, query=queries)
def test_hits_are_those_of_looking_at_every_event(made: list[Event], query: Query) -> None:
    example = chart(trace_of(made))
    trace, _, timeline = example
    search, wanted = Search(trace, timeline), expected(example, query)
    hits = search.find(query)
    kind = [KINDS[KIND_OF_LOOK[timeline["places"]["look"][number]]] for number in wanted]
    assert hits.kinds == tuple(kind.count(each) for each in KINDS)
    first = next((each for each in KINDS if each in kind), "all")
    assert hits.kind == (first if query.kind == "first" else query.kind)
    if hits.kind != "all":
        wanted = [number for number, each in zip(wanted, kind, strict=True) if each == hits.kind]
    assert hits.n == len(wanted)
    assert listed(hits) == wanted
    check_names(example, hits, wanted)
    check_order(example, search, hits, wanted)


def check_names(found: Chart, hits: Hits, wanted: list[int]) -> None:
    trace, _, timeline = found
    counts: dict[int, list[int]] = {}
    for number in wanted:
        dur = int(trace["spans"]["dur"][number]) if number < trace["spans"].n else 0
        counts.setdefault(int(timeline["places"]["name"][number]), []).append(dur)
    names, count, total = hits.names.tolist(), hits.count.tolist(), hits.total.tolist()
    assert {name: (n, t) for name, n, t in zip(names, count, total, strict=True)} == {
        name: (len(d), sum(d)) for name, d in counts.items()
    }
    order = [(-t, -n) for t, n in zip(total, count, strict=True)]
    assert order == sorted(order)


def check_order(found: Chart, search: Search, hits: Hits, wanted: list[int]) -> None:
    trace, _, timeline = found
    start = [*trace["spans"]["start"].tolist(), *np.maximum(trace["instants"]["time"], 0).tolist()]
    shown = [number for number in range(len(start)) if timeline["places"]["lane"][number] >= 0]
    for number in shown:
        key = start[number], number
        assert search.before(hits, number, included=False) == sum(
            (start[w], w) < key for w in wanted
        )
        assert search.before(hits, number, included=True) == sum(
            (start[w], w) <= key for w in wanted
        )
    assert hits.start.tolist() == [start[w] for w in wanted]


def named(*names: str) -> Chart:
    return chart(trace_of(event("cpu_op", 1, 10 * at, 5, name) for at, name in enumerate(names)))


def count(found: Chart, text: str, **how: Any) -> int:
    return Search(found[0], found[2]).find(Query(text, **how)).n


def test_capitals_and_folding() -> None:
    found = named("Straße", "STRASSE", "İstanbul", "ΣΑΣ", "mm")
    assert count(found, "strasse") == 2
    assert count(found, "STRASSE", case=True) == 1
    assert count(found, "σας") == 1
    assert count(found, "MM", regex=True) == 1
    assert count(found, "MM", regex=True, case=True) == 0
    assert count(found, "(?i)MM", regex=True, case=True) == 1
    assert count(found, r"^\p{Greek}+$", regex=True) == 1
    assert count(found, "a.c", regex=False) == 0


def test_looks_of_names() -> None:
    example = chart(
        trace_of(
            [
                event("python_function", 1, 0, 9, "x"),
                event("cpu_op", 1, 2, 3, "x"),
                event("cpu_op", 1, 6, 1, "y"),
            ]
        )
    )
    search = Search(example[0], example[2])
    hits = search.find(Query(".", True))
    matches = search.matches(hits, 3)
    assert dict(zip(matches.texts("name"), matches["look"].tolist(), strict=True)) == {
        "x": 8,
        "y": 1,
    }


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("(", "missing )"),
        ("a**", "bad repetition operator"),
        ("(?<=a)b", "invalid perl operator"),
        (r"\1", "invalid escape"),
        ("a{1001}", "repetition"),
        ("[b-a]", "range"),
        (r"\p{Klingon}", "range"),
        ("((a{30}){30}){30}", "size"),
    ],
)
def test_what_is_no_pattern_is_said(pattern: str, told: str) -> None:
    with pytest.raises(BadRequest, match="no regular expression") as caught:
        count(named("a"), pattern, regex=True)
    assert told in caught.value.message


def test_an_empty_query_is_none() -> None:
    for regex in (False, True):
        with pytest.raises(BadRequest, match="empty"):
            count(named("a"), "", regex=regex)


def test_large_patterns_are_refused() -> None:
    with pytest.raises(BadRequest, match="instructions"):
        count(named("a"), r"(.*\pL){20}", regex=True)


def test_patterns_that_take_too_long_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_texts, "LONGEST_SECONDS", -1.0)
    with pytest.raises(BadRequest, match="takes more than"):
        count(named("a"), "a", regex=True)


@pytest.mark.parametrize(
    "pattern", ["a{0,1000}a{0,1000}b", "(x|a)*(a|y){900}(a|z){900}b", "[ab]*a[ab]{1000}[ab]{800}c"]
)
@pytest.mark.slow
def test_the_costliest_patterns_are_ended_in_time(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of these texts takes RE2 some 0.3 s: a look at the clock every 256 texts took 56 s."""
    monkeypatch.setattr(search_texts, "LONGEST_SECONDS", 0.05)
    texts = [f"{i}" + "a" * LONGEST_TEXT for i in range(40)]
    found = named("b", *texts)
    begun = thread_time()
    with pytest.raises(BadRequest, match="takes more than"):
        Search(found[0], found[2]).find(Query(pattern, regex=True, arguments=True))
    assert thread_time() - begun < 2.0


def test_names_and_arguments_share_their_second(monkeypatch: pytest.MonkeyPatch) -> None:
    found, seen = named("a"), []
    monkeypatch.setattr(search_texts, "LONGEST_SECONDS", 7.0)
    matching = Texts.matching

    def noted(self: Texts, query: Query, until: float | None = None) -> Any:
        seen.append(until)
        return matching(self, query, until)

    monkeypatch.setattr(Texts, "matching", noted)
    Search(found[0], found[2]).find(Query("a", regex=True, arguments=True))
    assert len(seen) == 2
    assert seen[0] == seen[1]


def test_few_patterns_are_searched_for_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_WAIT", 0.01)
    found = named("a")
    for _ in range(module.PATTERNS_AT_ONCE):
        module._PATTERNS.acquire()
    try:
        with pytest.raises(Busy, match="take long") as caught:
            count(found, "a", regex=True)
        assert caught.value.status == 503
        assert count(found, "a") == 1
    finally:
        for _ in range(module.PATTERNS_AT_ONCE):
            module._PATTERNS.release()
    assert count(found, "a", regex=True) == 1


def test_a_search_that_waits_for_others_of_its_trace_gives_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LONGEST_WAIT", 0.01)
    found = named("a")
    search = Search(found[0], found[2])
    with search._lock, pytest.raises(Busy):
        search.find(Query("a"))
    assert search.find(Query("a")).n == 1


def test_patterns_look_at_the_begin_of_endless_texts() -> None:
    found = named("x" * LONGEST_TEXT + "needle", "needle")
    assert count(found, "needle", regex=True) == 1
    assert count(found, "needle") == 2


def test_few_results_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    found = named("a", "b")
    search = Search(found[0], found[2])
    assert search.find(Query("a")) is search.find(Query("a"))
    monkeypatch.setattr(module, "KEPT_BYTES", 0)
    first = search.find(Query("b"))
    assert search.find(Query("b")) is first
    search.find(Query("a"))
    assert search.find(Query("b")) is not first
