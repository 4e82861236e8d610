"""File names ⇄ (worker, span), ranks in names, and the order of spans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.sources import names
from torch_tb_profiler.sources.names import TraceName

WORKERS = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=30
)
SUFFIXES = st.sampled_from(
    [
        ".pt.trace.json",
        ".pt.trace.json.gz",
        ".json",
        ".json.gz",
        ".json.zst",
        ".gz",
        ".PT.Trace.JSON.GZ",
        ".pickle",
        ".pkl.zst",
        ".raw.json.gz",
    ]
)


@pytest.mark.parametrize(
    ("file", "worker", "span", "suffix"),
    [
        ("worker0.1623143089861.pt.trace.json", "worker0", "1623143089861", ".pt.trace.json"),
        (
            "rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
            "rank-0.Apr_03_18_51_38",
            "1102",
            ".pt.trace.json.gz",
        ),
        ("rank0.pt.trace.json.gz", "rank0", "", ".pt.trace.json.gz"),
        (
            "host.example.org_4242.1752829956515000000.pt.trace.json",
            "host.example.org_4242",
            "1752829956515000000",
            ".pt.trace.json",
        ),
        ("trace.json", "trace", "", ".json"),
        ("a.b.json.zst", "a.b", "", ".json.zst"),
        ("dump.gz", "dump", "", ".gz"),
        ("rank0.pickle", "rank0", "", ".pickle"),
        ("snapshot.pkl.gz", "snapshot", "", ".pkl.gz"),
        ("rank0.raw.json.gz", "rank0", "", ".raw.json.gz"),
        ("a.raw.json", "a.raw", "", ".json"),
        ("1102.pt.trace.json", "1102", "", ".pt.trace.json"),
    ],
)
def test_the_parts_of_a_name(file: str, worker: str, span: str, suffix: str) -> None:
    assert names.parse(file) == TraceName(worker, span, suffix)


@pytest.mark.parametrize(
    "file", ["events.out.tfevents.1", "model.pt", "readme.md", ".json", ".gz", "json"]
)
def test_other_files_have_no_trace_name(file: str) -> None:
    assert names.parse(file) is None


@given(WORKERS, SUFFIXES)
def test_a_file_name_is_its_parts(worker: str, suffix: str) -> None:
    parsed = names.parse(worker + suffix)
    assert parsed is not None
    span = f".{parsed.span}" if parsed.span else ""
    assert parsed.worker + span + parsed.suffix == worker + suffix


@given(
    st.from_regex(r"[A-Za-z_-][\w.-]{0,20}[A-Za-z_-]", fullmatch=True),
    st.integers(0, 10**19).map(str),
    st.sampled_from(["", ".gz"]),
)
def test_what_the_handler_writes_comes_back(worker: str, span: str, gz: str) -> None:
    assert names.parse(f"{worker}.{span}.pt.trace.json{gz}") == TraceName(
        worker, span, f".pt.trace.json{gz}"
    )


@given(st.lists(st.integers(0, 10**6), unique=True))
def test_spans_stand_in_numeric_order(numbers: list[int]) -> None:
    files = [TraceName("w", str(n), ".pt.trace.json") for n in numbers]
    assert [int(f.span) for f in sorted(files, key=names.span_order)] == sorted(numbers)


@given(st.lists(st.tuples(st.sampled_from(["", "1", "01", "2"]), SUFFIXES), unique=True))
def test_span_names_are_unique(parts: list[tuple[str, str]]) -> None:
    labels = names.span_names([TraceName("w", span, suffix) for span, suffix in parts])
    assert len(set(labels)) == len(parts)


def test_only_a_clash_puts_the_suffix_into_the_name() -> None:
    files = [
        TraceName("w", "7", ".pt.trace.json"),
        TraceName("w", "7", ".pt.trace.json.gz"),
        TraceName("w", "8", ".pt.trace.json"),
    ]
    assert names.span_names(files) == ["7.pt.trace.json", "7.pt.trace.json.gz", "8"]


def test_files_of_memory_or_stacks_stand_behind_the_traces_of_their_worker() -> None:
    parsed = [
        names.parse(f)
        for f in (
            "w.folded",
            "w.pickle",
            "w.raw.json.gz",
            "w.7.pt.trace.json",
            "w.pt.trace.json",
            "w.8.json",
        )
    ]
    files = sorted((f for f in parsed if f is not None and f.worker == "w"), key=names.span_order)
    assert [f.suffix for f in files] == [
        ".pt.trace.json",
        ".pt.trace.json",
        ".folded",
        ".pickle",
        ".raw.json.gz",
    ]
    assert [f.extra for f in files] == [False, False, True, True, True]


def test_texts_are_stacks_by_their_name_only() -> None:
    assert [
        names.parse(f) is not None
        for f in (
            "stacks.txt",
            "Profiler_Stack_cpu.TXT",
            "w0.ns.folded.txt",
            "x.stacks",
            "x.folded.gz",
        )
    ] == [True] * 5
    assert [names.parse(f) for f in ("requirements.txt", "log.txt", "stack/notes.md")] == [None] * 3


@given(st.text(max_size=12), st.text(max_size=12))
def test_natural_order_is_total(a: str, b: str) -> None:
    assert (names.natural(a) == names.natural(b)) == (a == b)
    assert (names.natural(a) < names.natural(b)) == (names.natural(b) > names.natural(a))


def test_natural_order_counts() -> None:
    assert sorted(["rank10", "rank2", "Rank1", "rank1"], key=names.natural) == [
        "Rank1",
        "rank1",
        "rank2",
        "rank10",
    ]


@pytest.mark.parametrize(
    ("workers", "ranks"),
    [
        (["rank-0.Apr_03_18_51_38"], [0]),
        (["rank-3", "rank_4", "rank5", "RANK=6"], [3, 4, 5, 6]),
        (["worker0", "worker11"], [0, 11]),
        (["job_rank12_host"], [12]),
        (["trace_0", "trace_1", "trace_10"], [0, 1, 10]),
        (["0", "1"], [0, 1]),
        (["node7_4242", "node7_4243"], [None, None]),
        (["frank3"], [None]),
        (["bert_small"], [None]),
        (["trace_1", "trace_1.a"], [None, None]),
    ],
)
def test_ranks_that_names_tell(workers: list[str], ranks: list[int | None]) -> None:
    assert names.ranks_by_name(workers) == ranks


@pytest.mark.parametrize(
    ("span", "label"),
    [
        ("1623143089861", "3 · 2021-06-08 09:04:49 UTC"),
        ("1752829956515000000", "3 · 2025-07-18 09:12:36 UTC"),
        ("1102", "3 · 1102"),
        ("", "3"),
    ],
)
def test_labels_say_when(span: str, label: str) -> None:
    assert names.span_label(2, span) == label


def test_endless_numbers_are_no_trouble() -> None:
    name = names.parse("w." + "9" * 9_999 + ".pt.trace.json")
    assert name is not None
    assert name.span == ""
    assert names.natural(name.worker) > names.natural("w")


def test_unique_counts_up() -> None:
    assert names.unique(["a", "a", "a (2)", "b"]) == ["a", "a (2)", "a (2) (2)", "b"]
