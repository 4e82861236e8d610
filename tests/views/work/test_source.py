"""What ``/source`` shows of the functions of the ladder, and what it says of those that it does not show."""

from __future__ import annotations

from tests.builders.drawn import events, trace_of
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.views.work.source import Read, SourcePayload, source_payload

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
    return source_payload(trace, facts, build_insight(trace, facts), select(facts), read)


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
