"""``torch-tb-profiler export``: what it writes, and what it refuses in one line."""

from __future__ import annotations

import gzip
import json
import os
import stat
from pathlib import Path

import pytest

from tests.api.traces import write
from tests.builders.snapshots import Allocator, pickled, snapshot
from torch_tb_profiler.cli import main

STEPS = """\
step,name,start_ns,wall_ns,earlier_ns,silent_ns,kernel_ns,memcpy_ns,memset_ns,communication_ns,runtime_ns,dataloader_ns,cpu_exec_ns,other_ns,kind,cold,odd,cut
0,ProfilerStep#1,0,54000,0,0,22000,0,0,0,12000,0,15000,5000,,false,false,false
1,ProfilerStep#2,56000,34000,0,0,12000,0,0,0,6000,0,5000,11000,,false,false,true
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of one trace; the current folder is an empty one."""
    found = write(tmp_path / "run", "w0")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return found


def export(*arguments: str | Path) -> int:
    return main.main(["export", *map(str, arguments), "--no-cache"])


def written() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


def test_without_options_the_operators_as_csv(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(run) == 0
    assert (
        Path("operators.csv")
        .read_text(encoding="utf-8")
        .startswith("name,time_share,calls,device_self_ns,")
    )
    printed = capsys.readouterr()
    assert (printed.out, printed.err.startswith("operators.csv: ")) == ("", True)


def test_ranges_as_csv(run: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main.main(["ranges", str(run), "--csv", "--no-cache"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"name,kind,calls,")


def test_the_steps_on_standard_output(run: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert export(run, "--what", "steps", "-o", "-") == 0
    printed = capfdbinary.readouterr()
    assert printed.out.decode().replace("\r\n", "\n") == STEPS
    assert (printed.err, written()) == (b"", [])


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["--what", "kernels", "--by", "properties"], "kernels.csv"),
        (["--to", "folded"], "lines.folded"),
        (["--to", "trace"], "events.pt.trace.json.gz"),
        (
            ["--what", "modules", "--to", "speedscope", "--metric", "host"],
            "modules.speedscope.json",
        ),
        (["-o", "x.folded"], "x.folded"),
        (["-o", "x.speedscope.json"], "x.speedscope.json"),
        (["-o", "x.pt.trace.json.gz"], "x.pt.trace.json.gz"),
        (["-o", "x.csv", "--what", "events"], "x.csv"),
    ],
)
def test_the_name_tells_the_form_and_the_form_the_name(
    run: Path, arguments: list[str], name: str
) -> None:
    assert export(run, *arguments) == 0
    assert written() == [name]


def test_a_part_of_the_trace(run: Path) -> None:
    assert export(run, "--to", "trace", "--steps", "1", "--kinds", "kernel, annotation") == 0
    found = json.loads(gzip.decompress(Path("events.pt.trace.json.gz").read_bytes()))
    assert sorted(event["name"] for event in found["traceEvents"]) == ["ProfilerStep#2", "gemm"]
    assert (
        export(
            run, "--to", "trace", "--start", "0", "--end", "1000", "-o", "begin.pt.trace.json.gz"
        )
        == 0
    )
    assert (
        json.loads(gzip.decompress(Path("begin.pt.trace.json.gz").read_bytes()))["traceEvents"][0][
            "name"
        ]
        == "ProfilerStep#1"
    )


def test_a_trace_of_some_steps_has_no_marks_of_others(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sample, output = (
        repository / "samples" / "synthetic_ddp8" / "rank5.pt.trace.json.gz",
        tmp_path / "two.pt.trace.json.gz",
    )
    assert export(sample, "--to", "trace", "--steps", "2-3", "-o", output) == 0
    capsys.readouterr()
    found = {}
    for path in (sample, output):
        assert main.main(["summary", str(path), "--json", "--no-cache"]) == 0
        found[path] = [
            (step["name"], step["wall_ns"])
            for step in json.loads(capsys.readouterr().out)[0]["steps"]
        ]
    assert found[output] == found[sample][2:4]


def test_a_memory_snapshot_is_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = Allocator()
    memory.alloc(4096)
    (tmp_path / "snap.pickle").write_bytes(pickled(snapshot(memory)))
    monkeypatch.chdir(tmp_path)
    assert export("snap.pickle", "--to", "trace") == 2
    assert capsys.readouterr().err.startswith(
        "torch-tb-profiler: snap.pickle has no events for a trace. Export a table:"
    )
    assert written() == ["snap.pickle"]
    assert main.main(["summary", "snap.pickle", "--no-cache"]) == 0
    assert "Alive at the peak: 4.00 KiB on GPU 0" in capsys.readouterr().out


def test_several_traces_are_one_table(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(run, "w1")
    assert export(run, "--what", "steps") == 0
    assert [line.split(",")[0] for line in Path("steps.csv").read_text().splitlines()] == [
        "worker",
        "w0",
        "w0",
        "w1",
        "w1",
    ]
    (run / "broken.pt.trace.json").write_text("[1")
    assert export(run, "--what", "steps", "--force") == 0
    assert "broken.pt.trace.json: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--to", "xml"], "--to xml is unknown"),
        (["--what", "shoes"], "--what shoes cannot be written as csv"),
        (["--what", "queues"], "Queues of launches were removed: `launches` has their delays."),
        (["--what", "kernels", "--to", "folded"], "cannot be written as folded"),
        (["--to", "folded", "--what", "steps"], "cannot be written as folded"),
        (["--to", "folded", "--by", "name"], "--by cannot be used with folded"),
        (["--metric", "host"], "--metric cannot be used with csv"),
        (["--kinds", "kernel"], "--kinds cannot be used with csv"),
        (["--to", "trace", "--kinds", "shoes"], "Unknown kinds: shoes"),
        (["--steps", "9"], "step 9 does not exist"),
        (["--steps", "x"], "expected all"),
        (["--what", "operators", "--by", "colour"], "by='colour' is not known"),
        (["-o", "nowhere/x.csv"], "cannot be written"),
        (["--to", "trace", "--start", "5", "--end", "5"], "holds nothing"),
    ],
)
def test_what_is_refused_in_one_line(
    run: Path, arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(run, *arguments) == 2
    printed = capsys.readouterr()
    assert reason in printed.err
    assert (printed.out, printed.err.count("\n"), written()) == ("", 1, [])


def test_nothing_is_written_over(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("operators.csv").write_text("mine")
    assert export(run) == 2
    assert "exists already" in capsys.readouterr().err
    assert Path("operators.csv").read_text() == "mine"
    assert export(run, "--force") == 0


def test_a_device_is_written_to_and_never_replaced(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert export(run, "--what", "steps", "-o", "pipe", "--force") == 0
    assert os.read(reader, 9) == b"step,name"
    os.close(reader)
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)


def test_a_file_with_nothing_in_it_is_told(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export(run, "--what", "counters") == 0
    assert "there are no counters to write" in capsys.readouterr().err
