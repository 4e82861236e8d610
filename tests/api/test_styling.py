"""Tables as a notebook shows them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas
import pytest

import torch_tb_profiler
from tests.api.traces import write
from tests.builders.drawn import events, text_of
from torch_tb_profiler.api.frames import TraceFrames
from torch_tb_profiler.api.styling import register, styled, unregister


def frame(units: dict[str, str], **columns: Any) -> pandas.DataFrame:
    made: pandas.DataFrame = pandas.DataFrame(columns)
    made.attrs = {"units": units, "docs": {name: f"What {name} is." for name in columns}}
    return made


def cells(markup: str) -> list[str]:
    return re.findall(r"<td[^>]*>(.*?)</td>", markup)


@pytest.mark.parametrize(
    ("unit", "value", "shown"),
    [
        ("ns", 1_234_567, "1.23 ms"),
        ("ns", -1_500, "−1.50 µs"),
        ("bytes", 1536, "1.50 KiB"),
        ("share", 0.1234, "12.3 %"),
        ("FLOP", 3_285_000, "3.29 MFLOP"),
        ("FLOP/s", 2.5e12, "2.50 TFLOP/s"),
        ("bytes/s", 8e11, "800 GB/s"),
        ("row of events", 1234567, "1234567"),
        ("", 1234567, "1\u202f234\u202f567"),
        ("", 0.5, "0.500"),
        ("ns", float("nan"), "–"),
        ("", None, "–"),
        ("", True, "yes"),
        ("rows of events", (1, 2, 3, 4), "1, 2, 3 and 1 more"),
        ("", (), "–"),
        ("", "aten::mm", "aten::mm"),
    ],
)
def test_a_cell_has_the_unit_that_fits(unit: str, value: object, shown: str) -> None:
    assert cells(styled(frame({"a": unit}, a=[value]))._repr_html_()) == [shown]


def test_missing_integers_are_unknown() -> None:
    made = frame({"a": "ns"}, a=pandas.array([5, None], dtype="Int64"))
    assert cells(styled(made)._repr_html_()) == ["5 ns", "–"]
    assert "5 ns" in repr(styled(made))


def test_a_heading_says_what_its_column_means() -> None:
    assert 'title="What a is.">a</th>' in styled(frame({}, a=[1]))._repr_html_()


def test_what_is_left_out_is_counted() -> None:
    shown = styled(frame({}, a=range(100)), rows=3)
    assert len(cells(shown._repr_html_())) == 3
    assert "3 of 100 rows" in shown._repr_html_()
    assert "3 of 100 rows" in repr(shown)


def test_an_index_with_names_is_kept() -> None:
    made = frame({"a": "ns"}, a=[5]).set_axis(["kernel"])
    assert ">kernel</th>" in styled(made)._repr_html_()


def test_two_columns_of_one_name_are_both_shown() -> None:
    made = frame({}, a=[1], b=[2]).set_axis(["a", "a"], axis=1)
    assert cells(styled(made)._repr_html_()) == ["1", "2"]
    assert "2" in repr(styled(made))


def test_no_markup_of_a_trace_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "w0.pt.trace.json"
    hostile = "<script>alert(1)</script>\x1b[31m"
    path.write_text(
        text_of(events("main [ProfilerStep#1 ]\nmain  [a  ] [b]", names={"a": hostile}))
    )
    opened = torch_tb_profiler.open(path, use_cache=False)
    for table in (opened.operators(), opened.critical_path(), opened.events, opened.findings):
        shown = styled(table)._repr_html_()
        assert "<script" not in shown
        assert "\x1b" not in shown
    assert "&lt;script&gt;" in styled(opened.operators())._repr_html_()


def test_findings_are_sentences() -> None:
    findings = frame(
        {"recoverable_ns": "ns", "share": "share"},
        worker=["rank1", "rank1"],
        title=["Too many copies", "The first step is cold"],
        sentence=["Copies take 2 ms.", "It takes longer."],
        recoverable_ns=pandas.array([2_000_000, None], dtype="Int64"),
        share=[0.25, float("nan")],
        attempt=["Pin the memory", "Warm up"],
        events=[(7, 8), ()],
    )
    findings.attrs["headline"] = ["Copies cost most.", "Copies cost most.", None]
    shown = styled(findings)._repr_html_()
    assert shown.count("Copies cost most.") == 1
    assert re.findall("<li>(.*?)</li>", shown) == [
        "<b>rank1: Too many copies</b> · 2.00 ms per step (25.0 %)<br>Copies take 2 ms.<br>Try: Pin"
        " the memory<br>Events: #7, #8",
        "<b>rank1: The first step is cold</b><br>It takes longer.<br>Try: Warm up",
    ]


def test_a_critical_path_has_a_bar_per_step_that_is_filled(one: TraceFrames) -> None:
    path = one.critical_path()
    shown = styled(path)._repr_html_()
    bars = re.findall(r'<div style="white-space: nowrap[^>]*>(.*?)</div>', shown)
    assert len(bars) == path["step"].nunique() == 2
    for bar in bars:
        assert sum(map(float, re.findall(r"width: ([\d.]+)%", bar))) == pytest.approx(100, abs=0.1)


def test_a_path_through_all_ranks_has_one_bar_per_step(tmp_path: Path) -> None:
    run = torch_tb_profiler.open(write(tmp_path / "run", "rank0", "rank1"), use_cache=False)
    own = styled(run.critical_path())._repr_html_()
    assert own.count("step 0") == 2
    assert "rank0" in own


def test_a_table_without_rows_is_shown(one: TraceFrames) -> None:
    for table in (one.operators().head(0), one.findings.head(0), one.critical_path().head(0)):
        assert styled(table)._repr_html_()
        assert repr(styled(table))


def test_only_a_frame_can_be_styled() -> None:
    with pytest.raises(TypeError, match="not int"):
        styled(5)  # type: ignore[arg-type]


class Formatters(dict[type, Any]):
    """What IPython keeps per type."""

    def for_type(self, kind: type, show: Any) -> None:
        self[kind] = show


class Shell:
    def __init__(self) -> None:
        self.html = Formatters()
        self.display_formatter = self
        self.formatters = {"text/html": self.html}


def test_a_shell_shows_our_tables_with_units_and_others_as_before() -> None:
    shell = Shell()
    register(shell)
    show = shell.html[pandas.DataFrame]
    assert "5 ns" in show(frame({"a": "ns"}, a=[5]))
    other = pandas.DataFrame({"a": [5]})
    assert show(other) == other._repr_html_()
    unregister(shell)
    assert not shell.html


def test_ipython_is_not_needed() -> None:
    program = (
        "import sys; sys.modules['IPython'] = None\n"
        "import torch_tb_profiler as t; t.styled; t.TraceFrames.show"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
