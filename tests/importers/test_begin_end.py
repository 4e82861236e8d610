"""Begin and end events of threads: at one time an end belongs to what was open before."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.importers.reading import read, trace
from torch_tb_profiler.store import defects as d

Mark = tuple[str, str, int, int]
"""Phase, name, time in µs and thread."""


def _written(marks: list[Mark]) -> str:
    return trace(
        *(
            json.dumps(
                {"ph": phase, "cat": "cpu_op", "pid": 1, "tid": tid, "ts": ts}
                | ({"name": name} if name else {})
            )
            for phase, name, ts, tid in marks
        )
    )


def _found(marks: list[Mark]) -> tuple[list[tuple[int, int, str, int]], int, int]:
    """(thread, begin, name, length) of each span, and how many ends and begins are alone."""
    imported = read(_written(marks))
    spans, tracks = imported["spans"], imported["tracks"]
    found = [
        (
            int(imported.strings[int(tracks["tid"][spans["track"][row]])]),
            (int(spans["start"][row]) + imported.origin_ns) // 1000,
            imported.strings[int(spans["name"][row])],
            int(spans["dur"][row]) // 1000,
        )
        for row in range(spans.n)
    ]
    return sorted(found), imported.defects[d.UNMATCHED_END], imported.defects[d.UNMATCHED_BEGIN]


def _model(marks: list[Mark]) -> tuple[list[tuple[int, int, str, int]], int, int]:
    """What a search through all that is open finds."""
    open_: list[Mark] = []
    spans, alone = [], 0
    for phase, name, ts, tid in sorted(marks, key=lambda mark: mark[2]):
        if phase == "B":
            open_.append((phase, name, ts, tid))
            continue
        here = [mark for mark in open_ if mark[3] == tid]
        same = [mark for mark in here if name and mark[1] == name] or here
        before = [mark for mark in same if mark[2] < ts] or same
        if not before:
            alone += 1
            continue
        chosen = before[-1]
        # Of equal marks the latest.
        del open_[len(open_) - 1 - open_[::-1].index(chosen)]
        spans.append((tid, chosen[2], chosen[1], ts - chosen[2]))
    return sorted(spans), alone, len(open_)


_MARKS = st.lists(
    st.tuples(
        st.sampled_from("BBE"),
        st.sampled_from(["", "a", "b"]),
        st.integers(0, 6),
        st.integers(1, 2),
    ),
    min_size=1,
    max_size=24,
)


@examples(150)
@given(_MARKS)
def test_pairs_are_those_of_a_plain_search(marks: list[Mark]) -> None:
    """Ties, pairs of no length, files in any order, several threads, ends with and without a name."""
    expected = _model(marks)
    if not expected[0]:
        return
    assert _found(marks) == expected


@examples(60)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.booleans())
def test_spans_that_follow_each_other_keep_their_lengths(lengths: list[int], later: bool) -> None:
    """Each begins where the one before ends, and a writer may note either first."""
    marks: list[Mark] = []
    at = 0
    for number, length in enumerate(lengths):
        begin: Mark = ("B", f"op{number}", at, 1)
        at += 1 + length
        marks.insert(len(marks) - (later and number > 0), begin)
        marks.append(("E", "", at, 1))
    spans, *alone = _found(marks)
    assert [span[3] for span in spans] == [1 + length for length in lengths]
    assert alone == [0, 0]
