"""What is shown of the functions of a ladder, and of those that hold memory, and what is said of those that are not shown."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.memory.test_holding import opened
from tests.builders.drawn import events, trace_of
from tests.builders.snapshots import Allocator, snapshot, stack
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.views.memory.tables import memory_source_payload
from torch_tb_profiler.views.source import MOST_FILES, MOST_LINES, Read, SourcePayload, path_source

DRAWING = """
main  [ProfilerStep#1                              ]
main  /train                                       /
main    /net                / /data               /
"""
NAMES = {
    "train": "/w/train.py(1): main",
    "net": "/w/net.py(9): forward",
    "data": "/w/data.py(7): read",
}


def shown(read: Read | None) -> SourcePayload:
    trace = trace_of(events(DRAWING, NAMES))
    facts = derive(trace)
    return path_source(trace, facts, build_insight(trace, facts), select(facts), read)


def test_without_a_folder_one_sentence_says_how_to_name_one() -> None:
    told = shown(None)
    assert told.functions == []
    assert "serve --source FOLDER" in told.notes[0]


def test_functions_that_moved_are_found_and_those_that_are_gone_are_named() -> None:
    texts = {
        "/w/train.py": ("train.py", "def main():\n    pass\n"),
        "/w/net.py": ("net.py", "\ndef forward(x):\n    return x\n"),
    }
    told = shown(texts.get)
    assert [(one.file, one.first, one.was) for one in told.functions] == [
        ("train.py", 1, -1),
        ("net.py", 2, 9),
    ]
    assert told.notes[1:] == [
        "Found by name, as the file is another now: forward of net.py was at line 9.",
        "Not in the named folders: read at data.py:7.",
    ]


def test_names_are_joined_as_in_all_sentences() -> None:
    assert shown(lambda _: None).notes == [
        "Not in the named folders: main at train.py:1, forward at net.py:9 and read at data.py:7."
    ]


MIB = 1 << 20
BLANK = 60
PROGRAM = f"""\
def grow(n):
    x = make()
{BLANK * chr(10)}    y = make()
    return grow(n - 1) if n else x

class Net:
    def step(self):
        return grow(3)

    def other(self):
        return make()

Net().step()
Net().other()
"""
CALLS = {
    "grow": (2, BLANK + 3, BLANK + 4),
    "step": (BLANK + 8,),
    "other": (BLANK + 11,),
    "<module>": (BLANK + 13, BLANK + 14),
}
"""Lines of the program by function."""
Call = tuple[str, int]


def held(blocks: list[tuple[int, list[Call]]], read: Read | None) -> SourcePayload:
    device = Allocator()
    for mib, calls in blocks:
        device.alloc(mib * MIB, stack(*(f"/w/net.py:{line}:{name}" for name, line in calls)))
    trace, insight = opened(snapshot(device))
    return memory_source_payload(trace, derive(trace), insight, 0, None, read)


def program(_: str) -> tuple[str, str]:
    return "net.py", PROGRAM


calls = st.sampled_from([(name, line) for name, lines in CALLS.items() for line in lines])


@given(st.lists(st.tuples(st.integers(1, 64), st.lists(calls, min_size=1, max_size=5)), min_size=1))
def test_each_line_of_a_snapshot_has_what_the_blocks_hold_whose_calls_were_at_it(
    blocks: list[tuple[int, list[Call]]],
) -> None:
    told = held(blocks, program)
    assert (told.unit, told.notes) == ("bytes", [])
    of_function, of_line = Counter[str](), Counter[int]()
    for mib, stacked in blocks:
        of_function.update({name: mib * MIB for name, _ in dict.fromkeys(stacked)})
        of_line.update({line: mib * MIB for _, line in stacked})
    assert {one.name: one.heat for one in told.functions} == of_function
    whole = sum(mib for mib, _ in blocks) * MIB
    text = PROGRAM.split("\n")
    for one in told.functions:
        assert one.share == pytest.approx(one.heat / whole)
        assert one.was == -1
        numbers = range(one.first, one.first + len(one.lines))
        assert one.lines == [text[number - 1].rstrip() for number in numbers]
        assert len(one.line_heat) == len(one.lines) <= MOST_LINES
        own = {line: of_line[line] for line in CALLS[one.name]}
        shown = dict(zip(numbers, one.line_heat, strict=True))
        assert shown == {number: own.get(number, 0) for number in numbers}
        # The hottest line is there, however long the function is.
        assert max(own.values()) in one.line_heat


def test_a_function_of_a_snapshot_that_moved_has_one_heat() -> None:
    blocks: list[tuple[int, list[Call]]] = [(8, [("step", 3)])]
    told = held(blocks, program)
    [step] = told.functions
    assert (step.name, step.was, step.heat, step.line_heat) == ("step", 3, 8 * MIB, [])
    assert told.notes == [
        "Found by name, as the file is another now: step of net.py was at line 3."
    ]
    assert held(blocks, None).notes[0].startswith("To see the source")
    assert held([(8, [])], None).notes == []


def test_only_so_many_files_are_opened() -> None:
    asked: list[str] = []
    device = Allocator()
    for number in range(2 * MOST_FILES):
        device.alloc((number + 1) * MIB, stack(f"/w/part{number}.py:1:run"))
    trace, insight = opened(snapshot(device))
    memory_source_payload(trace, derive(trace), insight, 0, None, asked.append)
    hottest = [f"/w/part{2 * MOST_FILES - 1 - place}.py" for place in range(MOST_FILES)]
    assert asked == hottest
