"""The command: what it prints, where, and with which exit code."""

from __future__ import annotations

import errno
import io
import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.views import hand_made
from torch_tb_profiler.cli import main
from torch_tb_profiler.cli.plain_text import WIDTH
from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.runs.loading import Unreadable
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings

BAD = Unreadable("run", "w9", "1", "run/w9.pt.trace.json", "The file is empty.")
NO_TRACE = Unreadable("", "", "", "notes.json", "It is not a trace.", rejected=True)


@pytest.fixture
def holds(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Say what a path holds."""

    def say(*items: Opened | Unreadable) -> list[Settings]:
        asked: list[Settings] = []

        def load_all(
            path: str, settings: Settings, progress: object, workers: object, beside: bool
        ) -> Iterator[Opened | Unreadable]:
            asked.append(settings)
            yield from items

        monkeypatch.setattr("torch_tb_profiler.runs.loading.load_all", load_all)
        return asked

    return say


def test_json(holds: Any, capsys: pytest.CaptureFixture[str]) -> None:
    holds(hand_made.opened(), BAD, NO_TRACE, hand_made.opened(hand_made.facts(device=False)))
    assert main.main(["summary", "somewhere", "--json"]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert [(t["run"], t["worker"], t["span"]) for t in found] == [("run", "w0", "1")] * 2
    assert found[0]["events"] == {"total": 99, "stored": 96, "lost": 3}
    assert printed.err == "torch-tb-profiler: run/w9.pt.trace.json: The file is empty.\n"


def test_the_report_fits_a_terminal_and_says_the_figures(
    holds: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    holds(hand_made.opened())
    assert main.main(["summary", "somewhere"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= WIDTH
    for expected in (
        "Step time: 130 µs, average of 2 steps",
        "Kernel         40.0 µs  30.8 %  #########",
        "GPU 0 was busy ",
        "GPU 0 · NVIDIA H100 · 80.0 GiB · 132 SMs · compute capability 9.0",
        "aten::mm",
        "cutlass_80_tensorop_gemm",
        "truncated file",
        "6 kernels in the recording: 6 with launch, 5 with operator",
    ):
        assert expected in text


def test_the_report_of_a_host_only_trace_says_what_was_not_recorded(
    holds: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    holds(hand_made.opened(hand_made.facts(device=False, has_shapes=False)))
    assert main.main(["summary", "somewhere"]) == 0
    text = capsys.readouterr().out
    assert "Accelerator activity" in text
    assert "top 2 by host self time" in text
    assert "Devices" not in text


@pytest.mark.parametrize(("arguments", "use_cache"), [([], True), (["--no-cache"], False)])
def test_no_cache(arguments: list[str], use_cache: bool, holds: Any) -> None:
    asked = holds(hand_made.opened())
    assert main.main(["summary", "somewhere", "--json", *arguments]) == 0
    assert [s.use_cache for s in asked] == [use_cache]


def test_a_terminal_without_greek_letters(holds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    holds(hand_made.opened())
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    assert main.main(["summary", "somewhere"]) == 0
    out.flush()
    assert b"120 ?s" in out.buffer.getvalue()


def test_a_reader_that_hangs_up_is_no_error(holds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    holds(hand_made.opened())

    class HungUp(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", HungUp())
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert main.main(["summary", "somewhere"]) == 0


def test_a_full_disk_is_one_line(
    holds: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    holds(hand_made.opened())

    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    assert main.main(["summary", "somewhere"]) == 2
    assert capsys.readouterr().err == "torch-tb-profiler: No space left on device.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nothing"],
        ["summary"],
        ["serve"],
        ["serve", "x", "--port", "99999"],
        ["serve", "x", "--port", "y"],
    ],
)
def test_wrong_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main(arguments)
    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["diff", "a", "b", "--fail-on", "x"],
        ["operators", "a", "--limit", "x"],
        ["serve", "a", "--port", "x"],
    ],
)
def test_a_word_in_the_place_of_a_number_is_told(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main.main(arguments)
    assert capsys.readouterr().err.endswith("'x' is not a number\n")


def test_serve_says_why_it_cannot(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: Any) -> None:
        raise SourceError(
            "127.0.0.1:1 cannot be used: Permission denied.", "Choose another --port."
        )

    monkeypatch.setattr("torch_tb_profiler.web.standalone.server", refuse)
    assert main.main(["serve", "somewhere"]) == 2
    assert (
        capsys.readouterr().err
        == "torch-tb-profiler: 127.0.0.1:1 cannot be used: Permission denied. Choose another"
        " --port.\n"
    )
