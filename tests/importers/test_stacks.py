"""Folded stacks: a tree of sums, laid end to end, in every view that can show it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.importers.reading import Stream, defects, names, read
from tests.loading import load
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.errors import NotATrace, NotFound
from torch_tb_profiler.importers import peeked_text
from torch_tb_profiler.importers.stacks_text import read_stacks
from torch_tb_profiler.runs.event_text import EventTexts
from torch_tb_profiler.runs.loading import load_all
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.views.overview.payload import RankInJob, overview_payload
from torch_tb_profiler.views.work.flame import flame_file, flame_payload

TEXT = """train.py(7):_step 5
train.py(7):_step;nn.Module:_Linear_0;model.py(3):_forward 120
train.py(7):_step;nn.Module:_Linear_0 30
train.py(7):_step;nn.Module:_Linear_0;model.py(3):_forward 1
<frozen_runpy>(88):_run_code 10
"""


def _drawn(trace: Trace) -> list[tuple[str, int, int, str]]:
    """(name, begin, length in µs, role)."""
    spans = trace["spans"]
    times = ((spans[key] // 1000).tolist() for key in ("start", "dur"))
    return list(
        zip(names(trace), *times, [Role(role).name for role in spans["role"].tolist()], strict=True)
    )


def test_a_frame_is_as_long_as_everything_beneath_it() -> None:
    assert _drawn(read(TEXT)) == [
        ("train.py(7): step", 0, 156, "PYTHON"),
        ("operators (sum)", 0, 5, "OPERATOR"),
        ("nn.Module: Linear_0", 5, 151, "PYTHON"),
        ("operators (sum)", 5, 30, "OPERATOR"),
        ("model.py(3): forward", 35, 121, "PYTHON"),
        ("operators (sum)", 35, 121, "OPERATOR"),
        ("<frozen_runpy>(88): run_code", 156, 10, "PYTHON"),
        ("operators (sum)", 156, 10, "OPERATOR"),
    ]


@pytest.mark.parametrize("name", ["stacks_cuda.txt", "GPU_stacks.txt.gz", "stacks.xpu.txt"])
def test_the_name_tells_that_the_sums_are_of_a_device(name: str) -> None:
    trace = read_stacks(Stream(b"a;b 7\na 2\n"), name)
    assert _drawn(trace) == [
        ("a", 0, 9, "PYTHON"),
        ("device work (sum)", 0, 2, "KERNEL"),
        ("operators (sum)", 0, 0, "OPERATOR"),
        ("b", 2, 7, "PYTHON"),
        ("device work (sum)", 2, 7, "KERNEL"),
        ("operators (sum)", 2, 0, "OPERATOR"),
    ]
    facts = derive(trace)
    assert (facts.summary.has_device, facts.summary.attribution.with_operator) == (True, 2)
    assert (
        b"".join(
            flame_file(
                facts, build_insight(trace, facts), select(facts), "line", "device", "folded"
            )
        )
        == b"a 2000\na;b 7000\n"
    )


def test_what_this_program_wrote_comes_back() -> None:
    trace = read_stacks(Stream(TEXT.encode()))
    facts = derive(trace)
    written = b"".join(
        flame_file(facts, build_insight(trace, facts), select(facts), "line", "host", "folded")
    )
    assert sorted(written.splitlines()) == [
        b"<frozen_runpy>(88): run_code 10000",
        b"train.py(7): step 5000",
        b"train.py(7): step;nn.Module: Linear_0 30000",
        b"train.py(7): step;nn.Module: Linear_0;model.py(3): forward 121000",
    ]
    reread = read_stacks(Stream(written), "w0.line.host.ns.folded.txt")
    assert sorted(_drawn(reread)) == sorted(_drawn(trace))


def test_the_views_say_that_it_is_no_timeline() -> None:
    trace = read(TEXT)
    facts = derive(trace)
    insight = build_insight(trace, facts)
    payload = flame_payload(facts, insight, select(facts), "line")
    assert (
        dict(zip(payload.rows["name"], payload.rows["host_ns"], strict=True))[
            "model.py(3): forward"
        ]
        == 121_000
    )
    assert payload.missing == []
    notes = overview_payload(facts, select(facts), RankInJob(1, None, "", None)).notes
    assert notes[0].startswith("The file holds sums of stacks and no times")
    assert "laid end to end" in trace.strings[int(trace["tracks"]["process_name"][0])]
    assert insight.about["module_source"] == "python"
    assert insight.about["findings"]["unsure"][0] == "sums"
    assert insight.about["findings"]["found"] == []


def test_lines_that_are_no_stacks_are_counted() -> None:
    trace = read("a;b 7\nno number\n\na;b 1.5\n" + ";".join("x" * 1001) + " 3\n a -3\nb 2")
    assert [name for name, _, _, role in _drawn(trace) if role == "PYTHON"] == ["a", "b", "b"]
    assert (defects(trace), trace.entries) == ({d.NOT_A_STACK: 4}, 6)


@pytest.mark.parametrize("piece", [1, 3, 1000])
def test_any_piece_of_the_stream(piece: int) -> None:
    assert _drawn(read_stacks(Stream(TEXT.encode(), piece))) == _drawn(read(TEXT))


def test_endless_sums_and_texts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotATrace, match="add up to more"):
        read("a 999999999999999999\n")
    monkeypatch.setattr(peeked_text, "MOST_TEXT", 10)
    with pytest.raises(NotATrace, match="cannot be read"):
        read(TEXT)


def test_a_deep_stack_needs_no_recursion() -> None:
    deep = ";".join(f"f{n}" for n in range(1000))
    assert derive(read(f"{deep} 4\n")).summary.span_ns == 4000


def test_files_are_found_by_their_name_and_judged_by_their_content(tmp_path: Path) -> None:
    (tmp_path / "profiler_stacks.txt").write_text(TEXT)
    (tmp_path / "requirements.txt").write_text("numpy 2\n")
    (tmp_path / "my_stack_notes.txt").write_text("Some words about stacks.\n")
    outcomes = {
        item.path if hasattr(item, "path") else item.span.path: type(item).__name__
        for item in load_all(str(tmp_path), Settings(use_cache=False))
    }
    assert {Path(path).name: kind for path, kind in outcomes.items()} == {
        "profiler_stacks.txt": "Opened",
        "my_stack_notes.txt": "Unreadable",
    }
    opened = load(str(tmp_path / "profiler_stacks.txt"), Settings(use_cache=False))
    assert opened.facts.summary.sums is True
    (tmp_path / "stacks_cuda.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    assert (
        load(
            str(tmp_path / "stacks_cuda.txt.gz"), Settings(use_cache=False)
        ).facts.summary.has_device
        is True
    )


def test_an_event_made_of_sums_stands_nowhere_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "stacks.txt"
    path.write_text(TEXT)
    with pytest.raises(NotFound, match="made of them and stands nowhere"):
        EventTexts().read(load(str(path), Settings(use_cache=False)), 1)
