"""Two memory snapshots compared: the peak, what grew, by line and by operator, the limit of the gate."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders.snapshots import Allocator, pickled, snapshot, stack
from tests.examples import examples
from torch_tb_profiler.api.frames import TraceFrames
from torch_tb_profiler.api.opening import open_all
from torch_tb_profiler.cli.main import main

MIB = 1 << 20
Site = tuple[str, str]
TRACE = {
    "traceEvents": [
        {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{n}", "pid": 1, "tid": 1, "ts": n * 1000, "dur": 900}
        for n in range(3)
    ]
}  # fmt: skip


def written(path: Path, *blocks: tuple[int, str, int]) -> Path:
    """A snapshot in a folder: (MiB, function, line) each, all alive at the peak, the later ones then released."""
    device = Allocator()
    addresses = [
        device.alloc(mib * MIB, stack(f"/srv/model.py:{line}:{name}", "/srv/main.py:40:main"))
        for mib, name, line in blocks
    ]
    for address in addresses[1:]:
        device.free(address)
    path.mkdir(parents=True)
    (path / "memory_snapshot.pickle").write_bytes(pickled(snapshot(device)))
    return path


def pair(tmp_path: Path, attention: int = 64) -> list[str]:
    rest = (8, "mlp", 44)
    before = written(tmp_path / "before", (40, "__init__", 5), (16, "attention", 31), rest)
    after = written(tmp_path / "after", (40, "__init__", 5), (attention, "attention", 31), rest)
    return [str(before), str(after)]


def test_the_peak_and_what_grew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *pair(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "GPU 0 peaks at 112 MiB, 48.0 MiB more than before (64.0 MiB; +75.0 %)." in said
    assert "All of it is held by attention at model.py:31: 16.0 MiB → 64.0 MiB." in said
    assert "| `/srv/model.py(31): attention` | 16.0 MiB | 64.0 MiB | +48.0 MiB |" in said
    assert "| `attention` | 16.0 MiB | 64.0 MiB | +48.0 MiB |" in said
    assert "no step" not in said


@pytest.mark.parametrize(
    ("attention", "limit", "code"),
    [(64, "5%", 1), (64, "80%", 0), (19, "5%", 0), (20, "5%", 1), (16, "5%", 0), (8, "5%", 0)],
)
def test_the_limit_applies_to_the_peak(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], attention: int, limit: str, code: int
) -> None:
    assert main(["diff", *pair(tmp_path, attention), "--fail-on", limit]) == code
    assert "--fail-on and --strict apply to the peak of memory." in capsys.readouterr().err


def test_the_other_forms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = pair(tmp_path)
    assert main(["diff", *sides, "--json"]) == 0
    memory = json.loads(capsys.readouterr().out)["memory"]
    assert memory["devices"] == [
        {"device": "GPU 0", "before_bytes": 64 * MIB, "after_bytes": 112 * MIB}
    ]
    assert memory["verdict"]["share"] == 0.75
    assert main(["diff", *sides, "--format", "csv"]) == 0
    head, first, *_ = capsys.readouterr().out.split("\r\n")
    assert head == "table,device,name,delta_bytes,before_bytes,after_bytes,delta_blocks"
    assert first == f"line,GPU 0,/srv/model.py(31): attention,{48 * MIB},{16 * MIB},{64 * MIB},0"
    a, b = (open_all(side)[0] for side in sides)
    frame = a.diff(b)
    assert frame.attrs["because"].startswith("All of it is held by attention at model.py:31")
    assert frame.groupby("table")["delta_bytes"].sum().to_dict() == {
        "line": 48 * MIB,
        "operator": 48 * MIB,
    }


def test_snapshots_of_several_ranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for side, sizes in (("before", (10, 20)), ("after", (10, 30))):
        for rank, size in enumerate(sizes):
            made = written(tmp_path / side / f"of{rank}", (size, "forward", 3))
            (made / "memory_snapshot.pickle").rename(tmp_path / side / f"rank{rank}.pickle")
            made.rmdir()
    sides = [str(tmp_path / "before"), str(tmp_path / "after")]
    assert main(["diff", *sides, "--fail-on", "5%"]) == 1
    said = capsys.readouterr().out
    assert "rank1 · GPU 0 peaks at 30.0 MiB, 10.0 MiB more than before" in said
    assert "| rank0 · GPU 0 | 10.0 MiB | 10.0 MiB | 0 B |" in said


@pytest.mark.parametrize("device", [(1, 0), (12, 0), (20, 3)], ids=["cuda", "xpu", "npu"])
def test_a_snapshot_beside_a_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], device: tuple[int, int]
) -> None:
    snapshot_ = written(tmp_path / "snapshot", (40, "forward", 3))
    (tmp_path / "trace").mkdir()
    file = tmp_path / "trace" / "rank0.pt.trace.json"
    file.write_text(json.dumps(TRACE))
    assert main(["diff", str(snapshot_), str(tmp_path / "trace")]) == 0
    said = capsys.readouterr().out
    assert "holds allocations alone and the other none: nothing can be compared" in said
    kind, number = device
    record = {"Total Allocated": 70 * MIB, "Bytes": 70 * MIB, "Device Type": kind}
    point = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 5}
    more = {
        "args": {**record, "Device Id": number, "Addr": 7, "Total Reserved": 80 * MIB},
        "s": "t",
    }
    events = [*TRACE["traceEvents"], {**point, **more}]
    file.write_text(json.dumps({"traceEvents": events}))
    assert main(["diff", str(snapshot_), str(tmp_path / "trace"), "--fail-on", "50%"]) == 1
    said = capsys.readouterr().out
    assert "GPU 0 peaks at 70.0 MiB, 30.0 MiB more than before (40.0 MiB; +75.0 %)." in said
    assert "only their peaks are compared" in said
    assert "by line" not in said


@examples(40)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(1, 9), st.integers(1, 4), st.booleans()), min_size=1, max_size=15),
        min_size=2,
        max_size=2,
    )
)  # fmt: skip
def test_sums_by_line_are_those_of_a_plain_count_at_the_peak(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[list[tuple[int, int, bool]]]
) -> None:
    folder, peaks = tmp_path_factory.mktemp("pair"), []
    sides: list[TraceFrames] = []
    for side, operations in enumerate(drawn):
        device, alive, top = Allocator(), dict[int, tuple[int, int]](), Counter[int]()
        for mib, line, stays in operations:
            address = device.alloc(mib * MIB, stack(f"/w/net.py:{line}:forward"))
            alive[address] = line, mib * MIB
            now = Counter[int]()
            for of, size in alive.values():
                now[of] += size
            if now.total() > top.total():
                top = now
            if not stays:
                device.free(address)
                del alive[address]
        peaks.append(top)
        path = folder / f"{side}.pickle"
        path.write_bytes(pickled(snapshot(device)))
        sides += open_all(str(path), use_cache=False)
    frame = sides[0].diff(sides[1])
    rows = frame[frame["table"] == "line"]
    for column, top in zip(("before_bytes", "after_bytes"), peaks, strict=True):
        held = dict(zip(rows["name"], rows[column].tolist(), strict=True))
        assert {name: size for name, size in held.items() if size} == {
            f"/w/net.py({line}): forward": size for line, size in top.items()
        }
    delta = peaks[1].total() - peaks[0].total()
    assert rows["delta_bytes"].sum() == delta
    assert frame.attrs["share"] == delta / peaks[0].total()
    assert frame.attrs["changed"] == bool(delta)
    operators = frame[frame["table"] == "operator"]
    assert operators["name"].tolist() == ["forward"]
    assert operators["delta_bytes"].tolist() == [delta]
