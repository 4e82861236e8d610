"""What a trace and a run print, and what a notebook shows of them."""

from __future__ import annotations

from pathlib import Path

import torch_tb_profiler
from tests.api.traces import frames, write
from tests.builders.drawn import events, text_of
from tests.views import hand_made
from torch_tb_profiler.api.frames import RunFrames, TraceFrames

HOSTILE = "<script>alert(1)</script>\x1b[31m\n=1+1"


def test_a_trace_in_a_screenful() -> None:
    text = repr(frames(hand_made.opened()))
    lines = text.splitlines()
    assert lines[0] == "TraceFrames"
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100
    for words in (
        "run · w0 · 1",
        "3 from ProfilerStep, 1 cold, 1 odd",
        "GPU 0 NVIDIA H100",
        "aten::mm 60.0 µs",
        ".operators(by=)",
        "1 × truncated",
    ):
        assert words in text, words


def test_what_a_notebook_shows_holds_no_markup_of_the_trace(tmp_path: Path) -> None:
    path = tmp_path / "w0.pt.trace.json"
    path.write_text(text_of(events("main [a  ] [b]", names={"a": HOSTILE})))
    opened = torch_tb_profiler.open(path, use_cache=False)
    shown, printed = opened._repr_html_(), repr(opened)
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown
    assert "\x1b" not in shown + printed
    assert "=1+1" in printed


def test_a_run_lists_its_workers_and_what_could_not_be_read(tmp_path: Path) -> None:
    write(tmp_path / "run", *(f"rank{n}" for n in range(30)))
    (tmp_path / "run" / "rank99.pt.trace.json").write_text("[1, 2")
    run = torch_tb_profiler.open(tmp_path / "run", use_cache=False)
    assert isinstance(run, RunFrames)
    text = repr(run)
    assert "rank0" in text
    assert "and 6 more" in text
    assert "rank99.pt.trace.json: " in text
    assert len(text.splitlines()) < 50
    assert run._repr_html_().startswith("<table>")


def test_the_only_trace_that_could_be_read_says_what_could_not(tmp_path: Path) -> None:
    write(tmp_path / "run", "rank0")
    for rank in range(1, 12):
        (tmp_path / "run" / f"rank{rank}.pt.trace.json").write_text("")
    trace = torch_tb_profiler.open(tmp_path / "run", use_cache=False)
    assert isinstance(trace, TraceFrames)
    assert len(trace.unreadable) == 11
    for shown in (repr(trace), repr(trace.in_steps(0)), trace._repr_html_()):
        assert "rank1.pt.trace.json: The file is empty." in shown
        assert "and 3 more" in shown


def test_a_trace_of_nothing(tmp_path: Path) -> None:
    path = tmp_path / "w0.pt.trace.json"
    path.write_text('{"traceEvents": []}')
    assert "0 entries" in repr(torch_tb_profiler.open(path, use_cache=False))
