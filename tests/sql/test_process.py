"""Statements of a server run in a process of their own, which is ended and replaced."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from torch_tb_profiler.api.frames import TraceFrames
from torch_tb_profiler.api.opening import open_path
from torch_tb_profiler.errors import BadRequest, NotReady, SidecarError
from torch_tb_profiler.runs.products import INSIGHT
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sql.engine import Limits, Result
from torch_tb_profiler.sql.process import Statements

pytestmark = pytest.mark.processes


class Server:
    def __init__(self, frames: TraceFrames) -> None:
        self.frames, self.statements, self.made = frames, Statements(), 0

    def make(self) -> Any:
        self.made += 1
        return self.frames.insight

    def ask(self, text: str, **limits: Any) -> Result:
        sidecar = self.frames.context.opened.sidecar
        insight = INSIGHT.path(sidecar, Settings.from_environment())
        return self.statements.ask(sidecar, insight, self.make, text, Limits(**limits))


@pytest.fixture(scope="module")
def server(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(folder))
        frames: Any = open_path(repository / "samples/transformer")
        made = Server(frames)
        yield made
        made.statements._close()


def test_a_process_answers_one_statement_after_another(server: Server) -> None:
    assert server.ask("select 1 as x").rows == [[1]]
    first = server.statements._worker
    assert server.ask("select count(*) from operators").rows[0][0] > 0
    assert server.statements._worker is first


def test_the_insight_is_asked_for_once(server: Server) -> None:
    assert server.ask("select count(*) from critical_path").rows[0][0] > 0
    assert server.made == 1


@pytest.mark.parametrize(
    "text",
    [
        # Heeds no interrupt.
        "select levenshtein(repeat('a', 200000), repeat('b', 200000))",
        "select sum(length(repeat('x', 100000000 + range::int))) from range(2000)",
        # Heeds no limit of DuckDB's.
        "select length(repeat('x', 3000000000))",
        "select printf('%2000000000d', 1)",
    ],
)
def test_what_does_not_end_by_itself_is_ended_and_the_next_is_answered(
    server: Server, text: str
) -> None:
    with pytest.raises(BadRequest, match=r"was ended after|needs more than|too much memory"):
        server.ask(text, seconds=0.5)
    assert server.ask("select 2 as x").rows == [[2]]


@pytest.mark.skipif(os.name == "nt", reason="no signals")
def test_a_statement_whose_process_is_killed_is_asked_again(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody kills the first, and not for want of memory."""
    monkeypatch.setattr("torch_tb_profiler.runs.executor._memory_kills", lambda: 0)
    server.ask("select 1 as x")
    victim = server.statements._worker
    assert victim is not None
    run = victim.run

    def killed(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
        victim.kill()
        return run(task)

    monkeypatch.setattr(victim, "run", killed)
    assert server.ask("select 3 as x").rows == [[3]]
    assert server.statements._worker is not victim


def test_what_is_wrong_is_said_as_without_a_process(server: Server) -> None:
    with pytest.raises(BadRequest, match="There is no table nothing"):
        server.ask("select * from nothing")


def test_a_trace_that_is_gone_is_made_again(server: Server, tmp_path: Path) -> None:
    with pytest.raises(SidecarError):
        server.statements.ask(
            str(tmp_path / "x"), "", server.make, "select 1 from kernels", Limits()
        )


def test_an_insight_that_is_being_made_is_waited_for(server: Server) -> None:
    def not_yet() -> None:
        raise NotReady("soon")

    sidecar = server.frames.context.opened.sidecar
    with pytest.raises(NotReady):
        server.statements.ask(sidecar, "nowhere", not_yet, "select 1 from slack", Limits())
