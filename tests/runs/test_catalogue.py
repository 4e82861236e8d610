"""The live catalogue: what it lists, and what it notices."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import fsspec
import pytest

from tests.builders.drawn import events, text_of
from tests.builders.snapshots import pickled
from tests.runs.conftest import DRAWING, Start, spans, states, until, write
from tests.runs.targets import content
from torch_tb_profiler.errors import ImportFailed, NotFound, NotReady
from torch_tb_profiler.runs.catalogue import MOST_UNREAD, Catalogue
from torch_tb_profiler.runs.model import State
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import walk
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.watch import Watch
from torch_tb_profiler.store import sidecar as sidecars


def ready(catalogue: Catalogue, count: int) -> bool:
    found = spans(catalogue).values()
    return len(found) == count and all(s.state is State.READY for s in found)


def begun(settings: Settings) -> list[str]:
    log = Path(settings.cache_dir) / "begun.log"
    return log.read_text().split() if log.exists() else []


def test_runs_workers_and_spans(logdir: Path, start: Start) -> None:
    for name in (
        "run10/worker0.9.pt.trace.json",
        "run10/worker0.10.pt.trace.json",
        "run2/rank1.pt.trace.json",
        "run2/rank0.pt.trace.json",
        "direct.json",
    ):
        write(logdir / name, content())
    write(logdir / "run2" / "package.json", '{"name": "x"}')
    catalogue = start(logdir)
    until(lambda: ready(catalogue, 5))
    runs = {
        r.name: {w.name: [s.name for s in w.spans] for w in r.workers}
        for r in catalogue.snapshot().runs
    }
    assert runs == {
        "logs": {"direct": ["trace"]},
        "run2": {"rank0": ["trace"], "rank1": ["trace"]},
        "run10": {"worker0": ["9", "10"]},
    }
    assert list(runs) == ["logs", "run2", "run10"]
    opened = catalogue.open("run10", "worker0", "10")
    assert (opened.run.name, opened.worker.name, opened.span.path) == (
        "run10",
        "worker0",
        "run10/worker0.10.pt.trace.json",
    )
    rejected = next(f for f in catalogue.snapshot().files if f.state is State.REJECTED)
    assert rejected.path == "run2/package.json"
    assert "without traceEvents" in rejected.reason


def test_ranks_and_where_they_come_from(logdir: Path, start: Start) -> None:
    write(logdir / "told" / "a.pt.trace.json", content(rank=5, world=8))
    write(logdir / "told" / "b.pt.trace.json", content(rank=2, world=8))
    write(logdir / "named" / "rank-3.pt.trace.json", content())
    write(logdir / "gapless" / "rank-0.pt.trace.json", content())
    write(logdir / "gapless" / "rank-1.pt.trace.json", content())
    write(logdir / "order" / "host_4242.pt.trace.json", content())
    write(logdir / "order" / "host_4300.pt.trace.json", content())
    catalogue = start(logdir)
    until(lambda: ready(catalogue, 7))
    found = {
        r.name: [(w.name, w.rank, w.rank_source, w.world_size) for w in r.workers]
        for r in catalogue.snapshot().runs
    }
    assert found["told"] == [("b", 2, "distributedInfo", 8), ("a", 5, "distributedInfo", 8)]
    assert found["named"] == [("rank-3", 3, "file name", None)]
    assert found["gapless"] == [("rank-0", 0, "file name", 2), ("rank-1", 1, "file name", 2)]
    assert found["order"] == [
        ("host_4242", None, "order", None),
        ("host_4300", None, "order", None),
    ]


def test_memory_snapshots_are_no_ranks_of_their_run(logdir: Path, start: Start) -> None:
    for name in ("beside/rank0.pt.trace.json", "beside/rank1.pt.trace.json"):
        write(logdir / name, content())
    for name in (
        "beside/rank1.pickle",
        "beside/a dump.pickle",
        "beside/rank7.pkl",
        "alone/x.pickle",
    ):
        write(logdir / name, content())
    (logdir / "alone" / "weights.pkl").write_bytes(pickled({"weights": [1]}))
    catalogue = start(logdir)
    until(lambda: ready(catalogue, 6))
    found = {
        r.name: [(w.name, w.rank, w.world_size, [s.name for s in w.spans]) for w in r.workers]
        for r in catalogue.snapshot().runs
    }
    assert found["beside"] == [
        ("rank0", 0, 2, ["trace"]),
        ("rank1", 1, 2, ["trace.pt.trace.json", "trace.pickle"]),
        ("a dump", None, None, ["trace"]),
        ("rank7", 7, None, ["trace"]),
    ]
    assert found["alone"] == [("x", None, None, ["trace"])]
    (run,) = (r for r in catalogue.snapshot().runs if r.name == "beside")
    for worker, expected in (
        (run.workers[0], ["rank0", "rank1"]),
        (run.workers[2], ["a dump"]),
    ):
        beside = run.beside(worker, worker.spans[0])
        assert [other.name for other, _ in beside] == expected
    until(lambda: any(f.state is State.REJECTED for f in catalogue.snapshot().files))
    rejected = next(f for f in catalogue.snapshot().files if f.state is State.REJECTED)
    assert (rejected.path, "no memory snapshot" in rejected.reason) == ("alone/weights.pkl", True)


def test_a_program_made_trace_says_so(logdir: Path, start: Start) -> None:
    write(logdir / "a" / "a.json", content(synthetic="yes"))
    write(logdir / "b" / "b.json", content())
    catalogue = start(logdir)
    until(lambda: ready(catalogue, 2))
    assert [r.synthetic for r in catalogue.snapshot().runs] == [True, False]


def test_json_beside_its_compressed_copy(logdir: Path, start: Start) -> None:
    write(logdir / "r" / "w.7.pt.trace.json", content())
    write(logdir / "r" / "w.7.pt.trace.json.gz", content())
    catalogue = start(logdir)
    until(lambda: ready(catalogue, 2))
    assert catalogue.open("r", "w", "7.pt.trace.json.gz").span.path == "r/w.7.pt.trace.json.gz"


def test_names_of_a_spec_lead_the_runs(tmp_path: Path, start: Start) -> None:
    write(tmp_path / "x" / "w.json", content())
    write(tmp_path / "y" / "run" / "w.json", content())
    catalogue = start({"a": tmp_path / "x", "b": tmp_path / "y"})
    until(lambda: ready(catalogue, 2))
    assert [r.name for r in catalogue.snapshot().runs] == ["a", "b/run"]
    assert set(spans(catalogue)) == {"a/w.json", "b/run/w.json"}
    assert catalogue.snapshot().logdirs == (str(tmp_path / "x"), str(tmp_path / "y"))


def test_overlapping_logdirs_import_a_file_once(
    tmp_path: Path, start: Start, settings: Settings
) -> None:
    write(tmp_path / "x" / "run" / "w.json", content())
    catalogue = start({"a": tmp_path / "x", "b": tmp_path / "x" / "run"})
    until(lambda: ready(catalogue, 2))
    assert begun(settings) == ["w.json"]


def test_a_logdir_that_comes_later(tmp_path: Path, start: Start) -> None:
    catalogue = start(tmp_path / "later")
    until(lambda: not catalogue.snapshot().scanning)
    assert "does not exist" in catalogue.snapshot().notes[0]
    write(tmp_path / "later" / "run" / "w.json", content())
    until(lambda: ready(catalogue, 1))
    assert catalogue.snapshot().notes == ()


def test_new_spans_and_removed_files_are_noticed(logdir: Path, start: Start) -> None:
    write(logdir / "run" / "w.1.pt.trace.json", content())
    catalogue = start(logdir)
    until(lambda: ready(catalogue, 1))
    write(logdir / "run" / "w.2.pt.trace.json", content())
    until(lambda: ready(catalogue, 2))
    (logdir / "run" / "w.1.pt.trace.json").unlink()
    until(lambda: set(spans(catalogue)) == {"run/w.2.pt.trace.json"})
    with pytest.raises(NotFound, match="has no span '1'; it has 2"):
        catalogue.open("run", "w", "1")
    (logdir / "run" / "w.2.pt.trace.json").unlink()
    until(lambda: catalogue.snapshot().runs == ())


def test_a_growing_file_is_shown_and_imported_when_it_is_whole(
    logdir: Path, start: Start, settings: Settings
) -> None:
    catalogue = start(logdir, Settings(**{**vars(settings), "settle_seconds": 2.0}))
    path = write(logdir / "run" / "w.pt.trace.json", content(), old=False)
    until(lambda: states(catalogue).get("run/w.pt.trace.json") == "growing")
    with pytest.raises(NotReady, match="still being written"):
        catalogue.open("run", "w", "trace")
    for i in range(5):
        size = path.write_text(content(more="x" * i))
        until(lambda size=size: spans(catalogue)["run/w.pt.trace.json"].bytes == size)  # type: ignore[misc]
    until(lambda: ready(catalogue, 1))
    assert spans(catalogue)["run/w.pt.trace.json"].events == len(content(more="x" * 4))
    assert begun(settings)[-1:] == ["w.pt.trace.json"]


def test_a_changed_file_is_imported_again(logdir: Path, start: Start) -> None:
    path = write(logdir / "run" / "w.json", content(rank=1))
    catalogue = start(logdir)
    until(lambda: ready(catalogue, 1))
    first = catalogue.open("run", "w", "trace")
    assert catalogue.open("run", "w", "trace").trace is first.trace
    path.write_text(content(rank=22))
    until(lambda: ready(catalogue, 1) and catalogue.snapshot().runs[0].workers[0].rank == 22)
    assert catalogue.open("run", "w", "trace").trace is not first.trace


def test_a_file_that_becomes_a_trace_is_accepted(logdir: Path, start: Start) -> None:
    path = write(logdir / "run" / "w.json", "")
    catalogue = start(logdir)
    until(lambda: states(catalogue).get("run/w.json") == "rejected")
    assert catalogue.snapshot().runs == ()
    path.write_text(content())
    until(lambda: ready(catalogue, 1))


def test_the_version_changes_with_the_content_and_only_then(
    logdir: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(logdir / "run" / "w.1.pt.trace.json", content())
    catalogue = start(logdir)
    until(lambda: ready(catalogue, 1) and not catalogue.snapshot().scanning)
    first = catalogue.snapshot()
    scan, looked = catalogue._scan, list[str]()

    def noted(name: str, watch: Watch) -> bool:
        growing = scan(name, watch)
        looked.append(name)
        return growing

    monkeypatch.setattr(catalogue, "_scan", noted)
    catalogue.rescan()
    until(lambda: looked)
    assert catalogue.snapshot() == first
    write(logdir / "run" / "w.2.pt.trace.json", content())
    until(lambda: ready(catalogue, 2))
    assert catalogue.snapshot().version != first.version


def test_a_restart_uses_the_sidecars(logdir: Path, start: Start, settings: Settings) -> None:
    write(logdir / "run" / "rank0.pt.trace.json", content(rank=3, world=4))
    first = start(logdir)
    until(lambda: ready(first, 1))
    kept = first.snapshot().runs
    first.close()
    second = start(logdir)
    until(lambda: ready(second, 1))
    assert second.snapshot().runs == kept
    assert second.open("run", "rank0", "trace").worker.rank == 3
    assert not second.store.queue.started
    assert begun(settings) == ["rank0.pt.trace.json"]


@pytest.mark.parametrize("stated", [(0, 1, 2), (2, 0, 0), (None, 1, None)])
@pytest.mark.parametrize("lost", [0, 2])
def test_what_a_file_says_stays_known_while_the_same_file_is_imported_again(
    stated: tuple[int | None, ...], lost: int, logdir: Path, start: Start, tmp_path: Path
) -> None:
    go = write(tmp_path / "go", "")
    for number, rank in enumerate(stated):
        orders = {} if rank is None else {"rank": rank, "world": 3}
        write(logdir / "run" / f"w{number}.pt.trace.json", content(until=go, **orders))
    catalogue = start(logdir)
    until(lambda: ready(catalogue, 3))

    def told() -> dict[str, object]:
        [run] = catalogue.snapshot().runs
        known = [(w.name, w.rank, w.world_size, w.job) for w in run.workers]
        ready = [w for w in run.workers if w.spans[0].state is State.READY]
        beside = {w.name: [o.name for o, _ in run.beside(w, w.spans[0])] for w in ready}
        return {"decided": (known, run.remarks, run.provisional), **beside}

    before = told()
    [run] = catalogue.snapshot().runs
    place = run.name, run.workers[lost].name, run.workers[lost].spans[0].name
    sidecar = Path(catalogue._arranged().entries[place].sidecar)
    go.unlink()
    sidecar.unlink()
    with pytest.raises(NotReady, match="imported again"):
        catalogue.open(*place)
    assert told() == {key: said for key, said in before.items() if key != place[1]}
    write(go, "")
    until(lambda: ready(catalogue, 3))
    assert told() == before


def test_what_was_kept_of_a_file_that_is_gone_goes_at_the_next_start(
    logdir: Path, start: Start, settings: Settings
) -> None:
    path = write(logdir / "run" / "w.json", text_of(events(DRAWING)))
    first = start(logdir, maker="torch_tb_profiler.runs.import_job:run_import")
    until(lambda: ready(first, 1))
    first.close()
    (sidecar,) = Path(settings.cache_dir).glob("*.safetensors")
    os.utime(sidecar, (1, 1))
    path.unlink()
    start(logdir)
    until(lambda: not sidecar.exists())


def test_what_can_never_be_read_is_not_imported_for_ever(
    logdir: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the package is updated while a server runs: its new import processes write what the
    old program cannot read.
    """
    write(logdir / "run" / "w.json", content())
    catalogue = start(logdir)
    until(lambda: ready(catalogue, 1))
    monkeypatch.setattr(sidecars, "LAYOUT", "another")
    for _ in range(MOST_UNREAD):
        with pytest.raises(NotReady, match="imported again"):
            catalogue.open("run", "w", "trace")
        until(lambda: ready(catalogue, 1))
    with pytest.raises(
        ImportFailed, match=r"its layout is .*, expected another\. Was the program updated"
    ):
        catalogue.open("run", "w", "trace")
    assert states(catalogue) == {"run/w.json": "failed"}


def test_a_sidecar_that_somebody_removes_is_made_again_each_time(
    logdir: Path, start: Start, settings: Settings
) -> None:
    write(logdir / "run" / "w.json", content())
    catalogue = start(logdir)
    until(lambda: ready(catalogue, 1))
    for _ in range(MOST_UNREAD + 2):
        (sidecar,) = Path(settings.cache_dir).glob("*.safetensors")
        sidecar.unlink()
        with pytest.raises(NotReady, match="imported again"):
            catalogue.open("run", "w", "trace")
        until(lambda: ready(catalogue, 1))
    assert states(catalogue) == {"run/w.json": "ready"}


def test_what_is_asked_for_jumps_the_queue(
    logdir: Path, start: Start, settings: Settings, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    for i in range(6):
        write(logdir / f"run{i}" / f"w{i}.json", content(until=gate))
    catalogue = start(logdir, Settings(**{**vars(settings), "workers": 1}))
    until(lambda: len(spans(catalogue)) == 6 and begun(settings) == ["w0.json"])
    with pytest.raises(NotReady) as caught:
        catalogue.open("run4", "w4", "trace")
    assert caught.value.details["progress"] == 0.0
    gate.touch()
    until(lambda: ready(catalogue, 6))
    assert begun(settings) == ["w0.json", "w4.json", "w1.json", "w2.json", "w3.json", "w5.json"]


def test_progress_is_shown(logdir: Path, start: Start, tmp_path: Path) -> None:
    write(logdir / "run" / "w.json", content(until=tmp_path / "gate"))
    catalogue = start(logdir)
    until(
        lambda: (
            (s := spans(catalogue).get("run/w.json"))
            and (s.state, s.progress) == (State.IMPORTING, 0.5)
        )
    )
    with pytest.raises(NotReady, match="is being imported") as caught:
        catalogue.open("run", "w", "trace")
    assert caught.value.details["progress"] == 0.5
    (tmp_path / "gate").touch()
    until(lambda: ready(catalogue, 1))


def test_the_list_is_there_before_any_import(logdir: Path, start: Start, tmp_path: Path) -> None:
    for i in range(300):
        write(logdir / f"run{i}" / "w.pt.trace.json", content(until=tmp_path / "gate"))
    catalogue = start(logdir)
    # No import can end before the gate opens.
    until(lambda: len(catalogue.snapshot().runs) == 300)
    assert not any(s.state is State.READY for s in spans(catalogue).values())


def test_names_that_do_not_exist(logdir: Path, start: Start) -> None:
    write(logdir / "run" / "w.json", content())
    catalogue = start(logdir)
    until(lambda: ready(catalogue, 1))
    with pytest.raises(NotFound, match="no run 'x'; there are 1: run"):
        catalogue.open("x", "w", "trace")
    with pytest.raises(NotFound, match="no worker 'x'; it has w"):
        catalogue.open("run", "x", "trace")


def test_before_the_first_look_nothing_is_denied(logdir: Path, settings: Settings) -> None:
    catalogue = Catalogue({"": Place(str(logdir))}, settings)
    assert catalogue.snapshot().scanning
    with pytest.raises(NotReady, match="first time"):
        catalogue.open("run", "w", "trace")
    catalogue.close()


def test_only_so_many_traces_stay_open(logdir: Path, start: Start, settings: Settings) -> None:
    for name in ("a", "b", "c"):
        write(logdir / "run" / f"{name}.json", content())
    catalogue = start(logdir, Settings(**{**vars(settings), "open_traces": 2}))
    until(lambda: ready(catalogue, 3))
    a, b = (catalogue.open("run", n, "trace").trace for n in "ab")
    assert catalogue.open("run", "a", "trace").trace is a
    catalogue.open("run", "c", "trace")
    assert catalogue.open("run", "a", "trace").trace is a
    assert catalogue.open("run", "b", "trace").trace is not b


def test_payloads_are_made_once_per_content(logdir: Path, start: Start) -> None:
    path = write(logdir / "run" / "w.json", content())
    catalogue = start(logdir)
    until(lambda: ready(catalogue, 1))
    made: list[int] = []

    def make() -> int:
        made.append(1)
        return len(made)

    def ask() -> int:
        return catalogue.open("run", "w", "trace").memoise("payload", make)

    assert (ask(), ask(), len(made)) == (1, 1, 1)
    path.write_text(content(more="x"))
    until(
        lambda: (
            ready(catalogue, 1) and spans(catalogue)["run/w.json"].events == len(content(more="x"))
        )
    )
    assert ask() == 2


@pytest.mark.usefixtures("settings")
def test_memory_is_read_in_this_process(start: Start) -> None:
    fs = fsspec.filesystem("memory")
    fs.pipe("/catalogue/run/w.json", content(rank=1, world=2).encode())
    try:
        catalogue = start("memory://catalogue")
        until(lambda: ready(catalogue, 1))
        assert catalogue.open("run", "w", "trace").worker.rank == 1
        assert catalogue.store.queue.worker_pids() == {}
        fs.pipe("/catalogue/run/w.json", content(rank=2, world=3, more="x").encode())
        until(lambda: ready(catalogue, 1) and catalogue.snapshot().runs[0].workers[0].rank == 2)
    finally:
        fs.rm("/catalogue", recursive=True)


def test_a_cache_that_cannot_be_written_is_noted(
    logdir: Path, start: Start, settings: Settings, tmp_path: Path
) -> None:
    write(tmp_path / "file", "")
    catalogue = start(
        logdir, Settings(**{**vars(settings), "cache_dir": str(tmp_path / "file" / "cache")})
    )
    until(lambda: catalogue.snapshot().notes)
    assert "is not writable" in catalogue.snapshot().notes[0]


def test_without_a_cache_everything_is_imported_anew(
    logdir: Path, start: Start, settings: Settings, tmp_path: Path
) -> None:
    write(logdir / "run" / "w.json", content())
    catalogues = [
        start(logdir, Settings(**{**vars(settings), "use_cache": False})) for _ in range(2)
    ]
    until(lambda: all(ready(c, 1) for c in catalogues))
    for catalogue in catalogues:
        catalogue.open("run", "w", "trace")
        catalogue.close()
    assert begun(settings) == ["w.json", "w.json"]
    assert os.listdir(settings.cache_dir) == ["begun.log"]


def test_runs_appear_while_a_scan_goes_on(
    logdir: Path, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(logdir / "run" / "w.json", content())
    (tmp_path / "slow").mkdir()
    (logdir / "link").symlink_to(tmp_path / "slow")
    scandir, gate = os.scandir, threading.Event()

    def held(path: str) -> object:
        if path == str(logdir / "link"):
            assert gate.wait(60)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", held)
    catalogue = start(logdir)
    try:
        until(lambda: ready(catalogue, 1))
        assert catalogue.snapshot().scanning
    finally:
        gate.set()
    until(lambda: not catalogue.snapshot().scanning)


def test_a_scan_that_is_cut_loses_no_run_but_those_that_are_gone(
    logdir: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        write(logdir / name / "w.json", content())
    catalogue = start(logdir)
    until(lambda: ready(catalogue, 3))
    monkeypatch.setattr(walk, "MOST_ENTRIES", 4)
    until(lambda: catalogue.snapshot().notes)
    assert ready(catalogue, 3)
    assert "The search ended in the folder a " in catalogue.snapshot().notes[0]
    (logdir / "c" / "w.json").unlink()
    until(lambda: set(spans(catalogue)) == {"a/w.json", "b/w.json"})
    assert ready(catalogue, 2)
