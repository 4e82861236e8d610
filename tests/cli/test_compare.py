"""``torch-tb-profiler compare``: what it prints, and when a build fails."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.drawn import text_of
from tests.builders.pairs import CHANGES, NO_CHANGE, recording, write_pairs
from torch_tb_profiler.cli import main


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {name: str(path) for name, path in write_pairs(tmp_path_factory.mktemp("pairs")).items()}


@pytest.fixture(scope="module", autouse=True)
def _kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What one test has imported, the others read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def compare(*arguments: str) -> int:
    return main.main(["compare", *arguments])


def test_markdown_is_printed(pairs: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(pairs["baseline"], pairs["slower_kernel"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("**A step takes ")
    assert "\nSteps are " in text
    assert f"`{pairs['slower_kernel']}`" in text
    assert "`aten::gelu`" in text


def test_a_folder_with_one_trace_will_do(
    pairs: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        compare(
            str(Path(pairs["baseline"]).parent),
            str(Path(pairs["again"]).parent),
            "--format",
            "json",
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["verdict"]["changed"] is False


def test_csv_is_printed(pairs: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(pairs["baseline"], pairs["extra_copy"], "--format", "csv") == 0
    assert {row["table"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))} == {
        "category",
        "operator",
        "host",
        "kernel",
        "runtime",
        "module",
    }


@pytest.mark.parametrize(
    ("b", "limit", "code"),
    [
        ("slower_kernel", "3", 1),
        ("slower_kernel", "0", 1),
        ("slower_kernel", "50", 0),
        ("again", "0", 0),
        ("missing_overlap", "5", 1),
    ],
)
def test_a_build_fails_when_the_step_became_longer(
    pairs: dict[str, str], b: str, limit: str, code: int
) -> None:
    assert compare(pairs["baseline"], pairs[b], "--fail-on", limit) == code


def test_a_faster_step_fails_no_build(pairs: dict[str, str]) -> None:
    assert compare(pairs["slower_kernel"], pairs["baseline"], "--fail-on", "0") == 0


def test_what_cannot_be_told_fails_a_build_only_where_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = []
    for name in (NO_CHANGE, "slower_kernel"):
        paths.append(tmp_path / f"{name}.pt.trace.json")
        paths[-1].write_text(text_of(recording(CHANGES[name], steps=1)))
    assert compare(*map(str, paths), "--fail-on", "1") == 0
    assert "it cannot be told whether the step became longer" in capsys.readouterr().err
    assert compare(*map(str, paths), "--strict") == 1
    assert "Cannot tell: one step each does not suffice; 5 would." in capsys.readouterr().out


def test_ranges_of_one_trace(pairs: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        compare(
            pairs["baseline"],
            pairs["baseline"],
            "--steps-a",
            "0-3",
            "--steps-b",
            "4-7",
            "--format",
            "json",
        )
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert [s["index"] for s in found["b"]["steps"] if s["selected"]] == [4, 5, 6, 7]


@pytest.mark.parametrize(
    ("option", "value"), [("--steps-a", "99"), ("--steps-b", "x"), ("--steps-b", "3-1")]
)
def test_wrong_steps(
    pairs: dict[str, str], option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(pairs["baseline"], pairs["again"], option, value) == 2
    assert capsys.readouterr().err.startswith(f"torch-tb-profiler: {option}")


def write_run(folder: Path, changes: dict[str, str], steps: int = 8) -> str:
    """A run of one trace per worker, each with the change of a name."""
    folder.mkdir()
    for seed, (worker, change) in enumerate(changes.items()):
        (folder / f"{worker}.pt.trace.json").write_text(
            text_of(recording(CHANGES[change], 100 * len(folder.name) + seed, steps))
        )
    return str(folder)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("runs")
    return {
        "before": write_run(
            folder / "before", dict.fromkeys(("rank0", "rank1", "rank2"), NO_CHANGE)
        ),
        "same": write_run(folder / "same", dict.fromkeys(("rank0", "rank1", "rank2"), NO_CHANGE)),
        "slower": write_run(
            folder / "slower", dict.fromkeys(("rank0", "rank1", "rank2"), "slower_kernel")
        ),
        "one": write_run(
            folder / "one", {"rank0": NO_CHANGE, "rank1": "slower_kernel", "rank2": NO_CHANGE}
        ),
        "renamed": write_run(
            folder / "renamed",
            {"rank-2": NO_CHANGE, "rank-0": "slower_kernel", "rank-9": NO_CHANGE},
        ),
    }


@pytest.mark.parametrize(
    ("b", "limit", "code"),
    [("same", "3", 0), ("slower", "3", 1), ("slower", "50", 0), ("one", "3", 1), ("one", "12", 0)],
)
def test_a_build_fails_when_a_run_or_one_of_its_workers_is_slower(
    runs: dict[str, str], b: str, limit: str, code: int
) -> None:
    assert compare(runs["before"], runs[b], "--fail-on", limit, "--json") == code


def test_runs_are_compared_worker_by_worker(
    runs: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(runs["before"], runs["one"], "--json") == 0
    found = json.loads(capsys.readouterr().out)
    alone = {}
    for worker in ("rank0", "rank1", "rank2"):
        assert compare(runs["before"], runs["one"], "--worker", worker, "--json") == 0
        alone[worker] = json.loads(capsys.readouterr().out)
    assert found["workers"][0]["name"] == "rank1", "the one that changed most"
    assert {w["name"]: w["verdict"] for w in found["workers"]} == {
        name: payload["verdict"] for name, payload in alone.items()
    }
    assert [w["name"] for w in found["workers"] if w["sure"]] == ["rank1"]
    assert found["verdict"]["delta_ns"] == pytest.approx(
        sum(p["verdict"]["delta_ns"] for p in alone.values()) / 3, abs=2
    )
    for whole in found["wholes"]:
        rows = [i for i, table in enumerate(found["changes"]["table"]) if table == whole["table"]]
        assert sum(found["changes"]["time_b_ns"][i] or 0 for i in rows) == whole["time_b_ns"]
        mean = (
            sum(
                next(w["time_b_ns"] for w in p["wholes"] if w["table"] == whole["table"])
                for p in alone.values()
            )
            / 3
        )
        assert whole["time_b_ns"] == pytest.approx(mean, abs=len(rows) + 1)


def test_events_that_show_what_changed_are_found_by_their_workers(
    runs: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(runs["before"], runs["renamed"], "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [(w["worker_a"], w["worker_b"]) for w in found["workers"]] == [
        ("rank0", "rank-0"),
        ("rank2", "rank-2"),
    ]
    changes, workers = found["changes"], found["workers"]
    rows = [
        i
        for i, table in enumerate(changes["table"])
        if table in ("operator", "kernel") and changes["event_b"][i] is not None
    ]
    slower = max(rows, key=lambda i: changes["delta_ns"][i])
    assert (changes["worker_a"][slower], changes["worker_b"][slower]) == ("rank0", "rank-0"), (
        "only its kernel is slower"
    )
    named = {
        (runs[run], changes[f"worker_{side}"][i], changes[f"event_{side}"][i], changes["name"][i])
        for i in rows
        for side, run in (("a", "before"), ("b", "renamed"))
    }
    named |= {
        (runs["renamed"], worker["worker_b"], worker["event_b"], "aten::gelu")
        for worker in workers
        if worker["event_b"] is not None
    }
    assert any(name == "aten::gelu" for _, _, _, name in named)
    for path, worker in {one[:2] for one in named}:
        wanted = {str(event): name for *place, event, name in named if place == [path, worker]}
        assert main.main(["event", path, *wanted, "--worker", worker, "--json"]) == 0
        assert {
            str(e["ref"]["event"]): e["ref"]["name"] for e in json.loads(capsys.readouterr().out)
        } == wanted
    assert compare(runs["before"], runs["renamed"]) == 0
    text = capsys.readouterr().out
    row = next(line for line in text.split("### Operators")[1].splitlines() if "aten::gelu" in line)
    ids = [changes[f"event_{side}"][slower] for side in "ab"]
    assert row.endswith(f"| \\#{ids[0]} of rank0 → \\#{ids[1]} of rank-0 |")


def test_the_workers_of_a_run_in_markdown(
    runs: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(runs["before"], runs["renamed"]) == 0
    text = capsys.readouterr().out
    assert "- Only before, not compared: rank1." in text
    assert "- Only after, not compared: rank-9." in text
    assert [line.split(" |")[0] for line in text.split("### Workers")[1].splitlines()[4:6]] == [
        "| `rank0 → rank-0`",
        "| `rank2 → rank-2`",
    ]
    assert "over 2 workers" in text.splitlines()[0]
    assert compare(runs["before"], runs["renamed"], "--tokens", "400") == 0
    assert len(capsys.readouterr().out) < len(text) / 2


def test_a_run_without_a_counterpart(
    runs: dict[str, str], pairs: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(runs["before"], runs["same"], "--worker", "rank7") == 2
    assert (
        capsys.readouterr().err
        == "torch-tb-profiler: There is no worker 'rank7'. There are: rank0, rank1 and rank2.\n"
    )
    assert compare(str(Path(runs["before"]) / "rank1.pt.trace.json"), pairs["again"]) == 0
    capsys.readouterr()
    assert compare(str(Path(runs["before"]) / "rank1.pt.trace.json"), runs["renamed"]) == 2
    assert (
        "no worker in common: rank1 in A, rank-0, rank-2 and rank-9 in B" in capsys.readouterr().err
    )


def test_what_cannot_be_read(
    pairs: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(pairs["baseline"], str(tmp_path / "nothing.json")) == 2
    assert compare(pairs["baseline"], str(Path(pairs["again"]).parents[1])) == 2
    assert (
        "B holds 7 runs: again, baseline, extra_copy and 4 more. Give one of them."
        in capsys.readouterr().err
    )
    (tmp_path / "none.json").write_text("hello")
    assert compare(pairs["baseline"], str(tmp_path / "none.json")) == 2
    assert "none.json: Not a trace" in capsys.readouterr().err
    (tmp_path / "text.json").write_text("hello")
    assert compare(pairs["baseline"], str(tmp_path / "text.json")) == 2
