"""``torch-tb-profiler event`` and ``--worker``: what other commands name can be looked at."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.api.traces import write
from torch_tb_profiler.cli import main

pytestmark = pytest.mark.slow


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write(tmp_path / "run", "rank0", "rank1", "rank2")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert main.main([*map(str, arguments), "--no-cache"]) == 0
    return capsys.readouterr().out


def test_every_event_that_a_summary_names_is_there(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = repository / "samples" / "synthetic_ddp8" / "rank5.pt.trace.json.gz"
    ids = sorted(set(re.findall(r"#(\d+)\b(?! of)", printed(capsys, "summary", path))), key=int)
    ids = [number for number in ids if int(number) > 100]
    assert len(ids) > 10
    found = json.loads(printed(capsys, "event", path, *ids, "--json"))
    assert [event["ref"]["event"] for event in found] == list(map(int, ids))
    longest = {
        row["name"]: row["longest_event"]
        for row in json.loads(printed(capsys, "operators", path, "--json"))[0]["operators"]
    }
    for event in found:
        if (
            event["ref"]["name"] in longest
            and event["category"] == "cpu_op"
            and event["ref"]["event"] == longest[event["ref"]["name"]]
        ):
            assert event["siblings"]["rank"] == 1


def test_what_an_event_launched(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = run / "rank0.1700000000000000000.pt.trace.json"
    rows = json.loads(printed(capsys, "operators", path, "--json", "--by", "name"))[0]["operators"]
    mm = next(row for row in rows if row["name"] == "aten::mm")
    text = printed(capsys, "event", path, f"#{mm['longest_event']}")
    for expected in (
        "on thread 1 of process 100",
        "in ProfilerStep#2",
        "aten::mm",
        "launch: #",
        "device: #",
        "gemm",
        "Input shapes: [[8,4],[4,2]]",
        "Device work launched: 1, 12.0 µs",
    ):
        assert expected in text
    assert "In the file" not in text
    raw = json.loads(printed(capsys, "event", path, str(mm["longest_event"]), "--raw", "--json"))[
        0
    ]["raw"]
    assert json.loads(raw)["name"] == "aten::mm"


def test_an_event_of_a_worker(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [
        event["worker"]
        for event in json.loads(
            printed(capsys, "event", run, "1", "2", "1", "--worker", "rank1", "--json")
        )
    ] == ["rank1", "rank1"]
    assert main.main(["event", str(run), "1", "--no-cache"]) == 2
    assert (
        "holds several traces: rank0, rank1 and rank2. Give one of its files, or"
        " --worker NAME." in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        ("99999", "There is no event 99999. Ids run from 0 to "),
    ],
)
def test_an_event_that_is_not_there(
    run: Path, number: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["event", str(run), number, "--worker", "0", "--no-cache"]) == 2
    found = capsys.readouterr()
    assert (found.out, found.err.count("\n")) == ("", 1)
    assert reason in found.err


@pytest.mark.parametrize("number", ["x", "-1", "1.5", "#"])
def test_what_is_no_id(run: Path, number: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main(["event", str(run), number])
    assert ended.value.code == 2


@pytest.mark.parametrize(
    "command", ["summary", "operators", "kernels", "findings", "doctor", "pyprof", "export"]
)
def test_a_worker_is_chosen_by_name_or_rank(
    command: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = {"export": ["--what", "steps", "-o", "-"]}.get(command, [])
    texts = {
        worker: printed(capsys, command, run, "--worker", worker, *more)
        for worker in ("rank1", "1")
    }
    assert texts["rank1"] == texts["1"] or command == "doctor", (
        "but for the folder of a cache that is not kept"
    )
    # A table of one trace does not repeat its worker.
    assert command in ("export", "pyprof") or ("rank1" in texts["1"] and "rank2" not in texts["1"])
    assert main.main([command, str(run), "--worker", "rank1,nobody", *more, "--no-cache"]) == 2
    found = capsys.readouterr()
    assert (
        found.err
        == "torch-tb-profiler: There is no worker 'nobody'. There are: rank0, rank1 and rank2.\n"
    )
    assert found.out == "" or command == "doctor"


def test_a_run_is_told_before_its_workers(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("summary", "findings"):
        text = printed(capsys, command, run)
        assert [line for line in text.splitlines() if line.startswith("run")][:2] == [
            "run",
            "run · rank0 · 1700000000000000000",
        ]
        assert len(re.findall(r"^  rank\d  ", text.split("run · rank0")[0], re.MULTILINE)) == 3
        assert len(json.loads(printed(capsys, command, run, "--json"))) == 3
        assert not printed(capsys, command, run, "--worker", "2").startswith("run\n")
