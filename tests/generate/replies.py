"""``fe/src/testing/replies/``: what the routes answer about recordings, for the tests of the page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

from msgspec.structs import replace
from werkzeug.test import Client

from tests.builders.drawn import text_of
from tests.builders.loop import FIRST_US, document, process, span, step
from tests.builders.server_trace import server_trace
from tests.builders.snapshots import pickled
from tests.builders.splitting import FORWARD, train
from tests.web.served import TIMELINE_ID, Answering, body
from torch_tb_profiler.errors import NotFound
from torch_tb_profiler.runs.loading import load_all
from torch_tb_profiler.runs.model import Opened, Snapshot, snapshot_of
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.web.application import Application

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
FOLDER = "fe/src/testing/replies"
ROWS = 8
"""Rows of a table; the rest is pooled."""
DIGITS = 9
"""Of fractions: the last ones depend on the machine."""


class Recording(NamedTuple):
    """What is asked of one: routes with what follows ``?``, of which worker, and the run of side B."""

    asked: tuple[str, ...]
    worker: int = 0
    other: str = ""


def _snapshot(folder: Path) -> None:
    device, _ = train(steps=2)
    device.fail(1 << 40, 5, ("/w/attention.py:88:softmax", *FORWARD))
    (folder / "snapshot.pickle").write_bytes(pickled(device.snapshot()))


def _server(folder: Path) -> None:
    events, _ = server_trace(20, odd=(9,))
    (folder / "server.pt.trace.json").write_text(text_of(events))


def _slow(
    folder: Path, gemm_us: float = 400, step_us: float = 1000, begin_us: float = FIRST_US
) -> None:
    events = [*process(100, "python", "CPU"), *process(0, "python", "GPU 0")]
    for k in range(6):
        at = begin_us + k * step_us
        events.append(span("user_annotation", f"ProfilerStep#{k + 1}", 100, 100, at, step_us - k))
        events += step(k + 1, at, mark=False, gemm_us=gemm_us + 2 * k)
    (folder / "worker0.pt.trace.json").write_text(json.dumps(document(events)))


def _fast(folder: Path) -> None:
    _slow(folder, 250, 850, FIRST_US + 3_600_000_000)


WRITTEN: Mapping[str, Callable[[Path], None]] = {
    "slow": _slow,
    "fast": _fast,
    "server": _server,
    "snapshot": _snapshot,
}
"""Recordings that are no samples."""

RECORDINGS: Mapping[str, Recording] = {
    "synthetic_ddp8": Recording(
        (
            "overview",
            "overview/ranks",
            "operator",
            "operator?group=shape",
            "operator?group=stack",
            "kernel",
            "efficiency",
            "critical_path",
            "critical_path/rows",
            "critical_path/steps",
            "critical_path/step?step=1",
            "critical_path/ranks",
            "critical_path/ranks/rows",
            "stragglers",
            "what_if",
            "module",
            "ranges",
            "lines",
            "api_calls",
            "memory",
            "memory/curve?n=16",
            "memory/blocks",
            "memory/alive",
            "distributed",
            "distributed/map",
            "distributed/groups",
            "trace",
            "trace/timeline",
            f"trace/event?event=113&id={TIMELINE_ID}",
        ),
        worker=2,
    ),
    "cnn_workers_0": Recording(
        (
            "overview",
            "findings",
            "operator",
            "efficiency",
            "module/flame",
            "memory",
            "memory/statistics",
            "memory/changes",
        ),
        other="cnn_workers_2",
    ),
    "slow": Recording(("diff", "diff/aligned", "experiments"), other="fast"),
    "server": Recording(("iterations",)),
    "snapshot": Recording(("memory", "memory/map?n=16")),
}
"""By name: samples, and recordings of ``WRITTEN``."""


def of(recording: str) -> Callable[[str], str]:
    """What makes its file: a line per reply."""

    def text(_: str) -> str:
        lines = [f"{json.dumps(asked)}: {reply}" for asked, reply in _replies(recording)]
        return "{\n" + ",\n".join(lines) + "\n}\n"

    return text


def _replies(name: str) -> Iterator[tuple[str, str]]:
    recording, opened = RECORDINGS[name], _opened()
    client = Client(Application(_Catalogue(opened), Settings(max_table_rows=ROWS)))  # type: ignore[arg-type]
    mine = [trace for trace in opened if trace.run.name == name]
    place = _place(mine[recording.worker])
    if recording.other:
        other = next(trace for trace in opened if trace.run.name == recording.other)
        place |= {f"{key}2": value for key, value in _place(other).items()}
    for asked in recording.asked:
        path, _, more = asked.partition("?")
        given = dict(pair.split("=") for pair in more.split("&") if pair)
        reply: Any = {"progress": 0.0}
        # What takes longer than an answer may is asked again, on a busy machine more often.
        while isinstance(reply, dict) and reply.get("progress", 1.0) < 1:
            response = client.get(f"/{path}", query_string={**place, **given})
            assert response.status_code == 200, (name, asked, body(response))
            reply = _rounded(json.loads(body(response)))
        yield asked, json.dumps(reply, ensure_ascii=False, separators=(",", ":"))


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return value


def _place(trace: Opened) -> dict[str, str]:
    return {"run": trace.run.name, "worker": trace.worker.name, "span": trace.span.name}


@cache
def _opened() -> list[Opened]:
    """The traces of all recordings and of those that they are compared with."""
    with TemporaryDirectory() as work:
        settings = Settings(cache_dir=f"{work}/cache")
        traces: list[Opened] = []
        others = [each.other for each in RECORDINGS.values() if each.other]
        for name in dict.fromkeys([*RECORDINGS, *others]):
            folder = SAMPLES / name
            if name in WRITTEN:
                folder = Path(work) / name
                folder.mkdir()
                WRITTEN[name](folder)
            found = [each for each in load_all(str(folder), settings) if isinstance(each, Opened)]
            traces += [replace(each, run=found[-1].run) for each in found]
    return traces


class _Catalogue(Answering):
    """Opened traces as all that there is."""

    store = SimpleNamespace(link=None)
    logdirs = MappingProxyType[str, str]({})
    folders: tuple[str, ...] = ()

    def __init__(self, traces: list[Opened]) -> None:
        self._traces = {tuple(_place(trace).values()): trace for trace in traces}

    def snapshot(self) -> Snapshot:
        runs = {trace.run.name: trace.run for trace in self._traces.values()}
        return snapshot_of(False, ("/logs",), tuple(runs.values()), (), ())

    def open(self, run: str, worker: str, span: str) -> Opened:
        try:
            return self._traces[run, worker, span]
        except KeyError:
            raise NotFound(f"There is no trace {run}/{worker}/{span}.") from None
