"""The text of every event comes back from its file, whatever its layout and compression; a file
that changed is never read wrongly.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zstandard

from tests import public
from tests.builders import drawn, loop
from tests.views import hand_made
from torch_tb_profiler.errors import NotFound, Outdated, SourceError
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.runs import event_text
from torch_tb_profiler.runs.event_text import EventTexts
from torch_tb_profiler.runs.model import Opened, Run, Span, State, Worker
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.streams import open_text

DRAWING = """
    main    (ProfilerStep#1                              )
    main      [aten::mm                 ]   [aten::add]
    main        <cudaLaunchKernel #7>        <launch #8>
    gpu 7             {gemm #7   }               {add #8}
"""
MORE = [
    {
        "ph": "i",
        "cat": "cpu_instant_event",
        "name": "mark",
        "pid": 100,
        "tid": 1,
        "ts": 5,
        "s": "t",
        "args": {"why": "because"},
    },
    {
        "ph": "B",
        "cat": "cpu_op",
        "name": "outer",
        "pid": 100,
        "tid": 9,
        "ts": 1,
        "args": {"a": [1, 2]},
    },
    {"ph": "B", "cat": "cpu_op", "name": "inner", "pid": 100, "tid": 9, "ts": 2.25},
    {"ph": "E", "pid": 100, "tid": 9, "ts": 3},
    {"ph": "E", "pid": 100, "tid": 9, "ts": 4},
    loop.span("cpu_op", 'naïve \u2028 "quoted" }, {', "p", "t", 6, 1, deep={"er": [{}, {"x": 1}]}),
]


def opened(path: Path, chunk_bytes: int = 2 << 20) -> Opened:
    settings = Settings(chunk_bytes=chunk_bytes)
    with open_text(Place(str(path))) as stream:
        trace = read_trace(stream, settings)
    span = Span(
        "1", "1", f"run/{path.name}", Place(str(path)), path.stat().st_size, State.READY, 1.0
    )
    worker = Worker("w0", 0, "file name", 1, (span,))
    return Opened(Run("run", (worker,)), worker, span, trace, hand_made.facts())


def every_event_is_itself(found: Opened) -> int:
    """Read every event; its name, category and time must be those of the store. Returns how many
    there are.
    """
    texts = EventTexts()
    trace = found.trace
    spans, instants = trace["spans"], trace["instants"]
    # In the order of the file: the chunk that was read last is kept.
    for event in np.argsort(np.concatenate((spans["ordinal"], instants["ordinal"]))).tolist():
        table, row = (spans, event) if event < spans.n else (instants, event - spans.n)
        entry = json.loads(texts.read(found, event))
        assert (entry.get("name") or "") == trace.strings[int(table["name"][row])]
        assert (entry.get("cat") or "") == trace.strings[int(table["category"][row])]
        time = int(table["start" if table is spans else "time"][row]) + trace.origin_ns
        assert abs(float(entry["ts"]) * 1000 - time) <= max(1.0, 1e-12 * abs(time))
    return spans.n + instants.n


def compact(text: str) -> bytes:
    return json.dumps(json.loads(text), separators=(",", ":")).encode()


def pretty(text: str) -> bytes:
    return json.dumps(json.loads(text), indent=2, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "pack",
    [bytes, lambda b: gzip.compress(b), lambda b: zstandard.compress(b)],
    ids=["plain", "gzip", "zstd"],
)
@pytest.mark.parametrize("layout", [compact, pretty])
@pytest.mark.parametrize("chunk_bytes", [1, 200, 2 << 20])
def test_every_event_of_a_drawing(
    tmp_path: Path, layout: Callable[[str], bytes], pack: Callable[[bytes], bytes], chunk_bytes: int
) -> None:
    path = tmp_path / "w0.pt.trace.json"
    path.write_bytes(pack(layout(drawn.text_of([*drawn.events(DRAWING), *MORE]))))
    assert every_event_is_itself(opened(path, chunk_bytes)) == 7 + 3 + 1


def test_the_text_is_that_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "w0.pt.trace.json"
    entry = (
        '{"ph": "X", "cat": "cpu_op",\n  "name": "aten::mm", "pid": 1, "tid": 2, "ts": 3.125,'
        ' "dur": 1, "args": {"Not kept": [1, {"a": null}]} }'
    )
    path.write_text('{"traceEvents": [' + entry + "]}")
    assert EventTexts().read(opened(path), 0) == entry


def test_a_pair_of_begin_and_end_gives_its_begin(tmp_path: Path) -> None:
    path = tmp_path / "w0.pt.trace.json"
    path.write_text(drawn.text_of(MORE))
    found = opened(path)
    assert [json.loads(EventTexts().read(found, i))["ph"] for i in range(2)] == ["B", "B"]


@pytest.mark.parametrize("damage", [b'"name": "aten::m"m"', b'"name": "aten::mm", "args": {'])
def test_events_around_a_damaged_one(tmp_path: Path, damage: bytes) -> None:
    text = drawn.text_of([*drawn.events(DRAWING), *MORE]).encode()
    path = tmp_path / "w0.pt.trace.json"
    path.write_bytes(text.replace(b'"name": "aten::mm"', damage))
    found = opened(path)
    texts = EventTexts()
    names = {found.trace.strings[n] for n in found.trace["spans"]["name"].tolist()}
    assert {"aten::add", "gemm", "outer"} <= names
    for event in range(found.trace["spans"].n):
        name = found.trace.strings[int(found.trace["spans"]["name"][event])]
        assert json.dumps(name)[1:-1] in texts.read(found, event) or name in texts.read(
            found, event
        )


@pytest.mark.parametrize("sample", ["cnn_workers_2", "ddp_gloo", "synthetic_ddp8"])
def test_every_event_of_a_sample(samples: Path, sample: str) -> None:
    assert every_event_is_itself(opened(sorted((samples / sample).glob("*.gz"))[0])) > 1000


def test_every_event_of_the_small_public_traces(real_traces: Path) -> None:
    small = public.some(p for p in real_traces.glob("*/*.json*") if p.stat().st_size < 50_000)
    assert sum(every_event_is_itself(opened(p)) for p in small) > 5_000


def test_some_events_of_a_large_public_trace_in_any_order(real_traces: Path) -> None:
    found = opened(next((real_traces / "h100_owlv2").glob("*.json*")))
    texts = EventTexts()
    spans = found.trace["spans"]
    assert found.trace["chunks"].n > 10
    for event in np.linspace(spans.n - 1, 0, 9).astype(int).tolist():
        assert (
            json.loads(texts.read(found, event))["name"]
            == found.trace.strings[int(spans["name"][event])]
        )


def test_there_is_no_such_event(tmp_path: Path) -> None:
    path = tmp_path / "w0.pt.trace.json"
    path.write_text(drawn.text_of(MORE))
    found = opened(path)
    for event in (4, -1, 1 << 40):
        with pytest.raises(NotFound):
            EventTexts().read(found, event)


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "w0.pt.trace.json"
    path.write_text(drawn.text_of(MORE))
    found = opened(path)
    path.unlink()
    with pytest.raises(SourceError):
        EventTexts().read(found, 0)


class Broken(io.BytesIO):
    """A file of a driver that raises what is no OSError."""

    def read(self, n: int | None = -1) -> bytes:
        raise RuntimeError("the reply was cut" + 10_000 * " and cut")


def test_a_store_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "w0.pt.trace.json"
    path.write_text(drawn.text_of(MORE))
    found, file = opened(path), Broken()
    monkeypatch.setattr(event_text, "open_original", lambda found: (file, None))
    with pytest.raises(
        SourceError, match="could not be read: RuntimeError: the reply was cut"
    ) as e:
        EventTexts().read(found, 0)
    assert len(e.value.message) < 600
    assert file.closed


def test_a_file_of_another_size(tmp_path: Path) -> None:
    path = tmp_path / "w0.pt.trace.json"
    path.write_text(drawn.text_of(MORE))
    found = opened(path)
    path.write_text(drawn.text_of(MORE[:-1]))
    with pytest.raises(Outdated):
        EventTexts().read(found, 0)


@pytest.mark.parametrize(
    "change",
    [
        ("outer", "other"),
        ('"ts": 1,', '"ts": 0,'),
        ('"tid": 9', '"tid": 8'),
        ("{", "x"),
        ('"ph": "B"', '"ph": "M"'),
    ],
)
def test_other_content_of_the_same_size(tmp_path: Path, change: tuple[str, str]) -> None:
    path = tmp_path / "w0.pt.trace.json"
    path.write_text(drawn.text_of(MORE))
    found = opened(path)
    event = [found.trace.strings[n] for n in found.trace["spans"]["name"].tolist()].index("outer")
    assert json.loads(EventTexts().read(found, event))["name"] == "outer"
    path.write_text(drawn.text_of(MORE).replace(*change))
    with pytest.raises(Outdated):
        EventTexts().read(found, event)


def test_the_last_chunk_is_kept_for_its_own_trace_only(tmp_path: Path) -> None:
    texts = EventTexts()
    for name in ("first", "other"):
        path = tmp_path / f"{name}.pt.trace.json"
        path.write_text(drawn.text_of([{**MORE[-1], "name": name}]))
        found = opened(path)
        assert json.loads(texts.read(found, 0))["name"] == name
        path.write_text("")
        assert json.loads(texts.read(found, 0))["name"] == name
