"""Perfetto's own traces: what they say is what the same Chrome trace says."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.builders.perfetto import (
    CLEARED,
    INSTANT,
    PerfettoFile,
    annotation,
    field,
    fixed,
    from_chrome,
)
from tests.importers.reading import defects, names, read, rows
from tests.loading import load
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.errors import NotFound
from torch_tb_profiler.runs.download import cut
from torch_tb_profiler.runs.event_text import EventTexts
from torch_tb_profiler.runs.loading import load_all
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.packets import is_perfetto
from torch_tb_profiler.sources.sniff import Head, judge
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

SAMPLES = Path(__file__).parents[2] / "samples"
BASE = 1_700_000_000_000_000_000


def drawn(trace: Trace) -> list[tuple[str, int, int, str, tuple[str, str]]]:
    """(name, begin in ns, duration, role, (pid, tid))."""
    return [
        (name, start, dur, Role(role).name, track)
        for start, dur, name, _, track, role, *_ in rows(trace)["spans"]
    ]


def _args(trace: Trace, table: str) -> dict[str, dict[str, Any]]:
    """Arguments by name of the span, the known ones."""
    columns = [c.name for c in trace[table].spec.columns]
    spans = names(trace)
    return {
        spans[row[0]]: {
            key: value
            for key, value in zip(columns[1:], row[1:], strict=True)
            if value not in (-1, "", "nan")
        }
        for row in rows(trace)[table]
    }


def sample(name: str) -> dict[str, Any]:
    path = next((SAMPLES / name).glob("*.pt.trace.json.gz"))
    document: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return document


def _comparable(trace: Trace) -> dict[str, list[Any]]:
    """Rows without positions in the file, empty arguments, and tracks whose ids are names: Perfetto's are
    numbers.
    """
    ordinal = {t.spec.name: [c.name for c in t.spec.columns] for t in trace.tables.values()}
    out = {}
    for table, listed in rows(trace).items():
        if table in ("tracks", "marks"):
            continue
        keep = [i for i, c in enumerate(ordinal[table]) if c != "ordinal"]
        out[table] = [
            tuple(_number_track(row[i]) for i in keep) for row in listed if "Spans" not in row
        ]
    # Perfetto's have neither labels nor sort indexes.
    out["named"] = [
        (*row[:3], row[4]) for row in rows(trace)["tracks"] if row[0].isdigit() and row[2]
    ]
    return out


def _number_track(value: Any) -> Any:
    if isinstance(value, tuple):
        return value if all(text.isdigit() and int(text) < 900_000 for text in value) else ()
    return value


def nested(document: dict[str, Any]) -> dict[str, Any]:
    """The document without slices that overlap others of their thread and do not nest: begins and ends
    in the order of time do not tell them apart.
    """
    kept: list[int] = []
    open_: dict[Any, list[int]] = {}
    slices = [e for e in document["traceEvents"] if e["ph"] == "X"]
    for e in sorted(slices, key=lambda e: (_ns(e["ts"]), -_ns(e["dur"]))):
        begin, end = _ns(e["ts"]), _ns(e["ts"]) + _ns(e["dur"])
        stack = open_.setdefault((e["pid"], e["tid"]), [])
        while stack and stack[-1] <= begin:
            stack.pop()
        if not stack or stack[-1] >= end:
            stack.append(end)
            kept.append(id(e))
    events = [e for e in document["traceEvents"] if e["ph"] != "X" or id(e) in kept]
    return {**document, "traceEvents": events}


def _ns(micros: float) -> int:
    return round(micros * 1000)


@pytest.mark.parametrize("interned", [True, False])
@pytest.mark.parametrize("lists", [True, False])
@pytest.mark.slow
def test_a_sample_says_the_same_in_both_formats(interned: bool, lists: bool) -> None:
    document = sample("ddp_gloo") if lists else nested(sample("ddp_gloo"))
    chrome = read(json.dumps(document))
    perfetto = read(from_chrome(document, interned, lists))
    theirs, ours = _comparable(chrome), _comparable(perfetto)
    assert ours.keys() == theirs.keys()
    for table in theirs:
        assert ours[table] == theirs[table], table
    assert (chrome.origin_ns + chrome.base_ns) == (perfetto.origin_ns + perfetto.base_ns)
    assert defects(perfetto) == {}
    assert derive(perfetto).summary.attribution == derive(chrome).summary.attribution


@pytest.mark.slow
def test_categories_that_pytorch_left_out_are_told_by_arguments() -> None:
    document = sample("cnn_workers_0")
    with_categories = read(from_chrome(document, lists=True))
    without = read(from_chrome(document, lists=True, categories=False))
    role = with_categories["spans"]["role"]
    told = role != Role.PROFILER
    assert (without["spans"]["role"][told] == role[told]).all()
    assert defects(without) == {d.NO_CATEGORY: int((~told).sum())}


def _stage_names() -> bytes:
    """What PyTorch interns for GPU work: stages, queues, kernels, names of launch arguments."""
    listed = ((1, "Kernel"), (2, "Memcpy"), (4, "Annotation"), (100, "stream 07"))
    return (
        b"".join(field(24, field(1, iid) + field(2, name)) for iid, name in listed)
        + field(2, field(1, 1) + field(2, "gemm"))
        + field(1000, field(1, 5) + field(3, "void gemm<float>()"))
        + field(1001, field(1, 1) + field(2, "registers_per_thread"))
        + field(1001, field(1, 2) + field(2, "shared_mem_dynamic"))
    )


def _stage(stage: int, dur: int, *fields: bytes, **extra: Any) -> bytes:
    data = b"".join(
        field(6, field(1, key.replace("_", " ")) + field(2, str(value)))
        for key, value in extra.items()
    )
    return field(
        53,
        field(2, dur) + field(11, 3) + field(13, 100) + field(14, stage) + b"".join(fields) + data,
    )


def test_device_work_as_pytorch_writes_it() -> None:
    file = PerfettoFile()
    file.process(1, 42, "python")
    file.thread(2, 42, 7, "main", parent=1)
    file.begin(2, BASE, "cudaLaunchKernel", args={"cbid": 211, "correlation": 9})
    file.end(2, BASE + 1000)
    file.packet(field(12, _stage_names()))
    launch = field(
        21,
        field(1, field(1, 27) + field(2, 2) + field(3, 1))
        + field(2, field(1, 128) + field(2, 1) + field(3, 1))
        + field(3, field(1, 1) + field(4, 40))
        + field(3, field(1, 2) + field(4, 2048)),
    )
    kernel = _stage(1, 5000, field(20, 1), launch, correlation=9, stream_id=7, device_id=3, bytes=0)
    file.packet(kernel, time=BASE + 3000)
    nccl = {"Collective name": "allreduce", "In msg nelems": "[4]", "Group size": 8}
    file.packet(_stage(1, 100, field(19, 5), **nccl), time=BASE + 8000)
    file.packet(_stage(2, 700, correlation=10, stream_id=7, bytes=4096), time=BASE + 9000)
    file.packet(_stage(4, 9000, field(17, "step")), time=BASE + 2000)
    trace = read(file.data())
    assert drawn(trace) == [
        ("cudaLaunchKernel", 0, 1000, "RUNTIME", ("42", "7")),
        ("step", 2000, 9000, "DEVICE_ANNOTATION", ("3", "7")),
        ("gemm", 3000, 5000, "KERNEL", ("3", "7")),
        ("void gemm<float>()", 8000, 100, "KERNEL", ("3", "7")),
        ("Memcpy", 9000, 700, "MEMCPY", ("3", "7")),
    ]
    assert _args(trace, "device_args") == {
        "gemm": {
            "device": 3,
            "stream": 7,
            "grid": "[27,2,1]",
            "block": "[128,1,1]",
            "registers": 40,
            "shared_memory": 2048,
            "bytes": 0,
        },
        "void gemm<float>()": {"device": 3, "stream": 7},
        "Memcpy": {"device": 3, "stream": 7, "bytes": 4096},
    }
    assert _args(trace, "collective_args") == {
        "void gemm<float>()": {"collective": "allreduce", "group_size": 8}
    }
    assert trace["spans"]["correlation"].tolist() == [9, -1, 9, -1, 10]
    assert [row[:5] for row in rows(trace)["tracks"]] == [
        ("3", "7", "", "GPU 3", "stream 7"),
        ("42", "7", "python", "", "main"),
    ]
    assert derive(trace).summary.attribution.with_launch == 1


def test_counters_of_gpus() -> None:
    names_of = field(1, field(1, 4) + field(2, "Power (W)")) + field(1, field(1, 5))
    file = PerfettoFile()
    file.packet(field(12, field(47, field(1, 1) + field(2, names_of) + field(3, 2))))
    watts, unnamed = (field(2, field(1, 4) + field(3, 71.5)), field(2, field(1, 5) + field(2, 8)))
    file.packet(field(52, field(4, 1) + watts + unnamed), time=BASE)
    trace = read(file.data())
    assert [(row[0], row[1], row[2], row[5]) for row in rows(trace)["instants"]] == [
        (0, ("2", ""), "Power (W)", '{"":71.5}'),
        (0, ("2", ""), "counter 5", '{"":8}'),
    ]


def test_counter_tracks() -> None:
    file = PerfettoFile()
    file.process(1, 42)
    file.track(5, field(8, field(3, 3)), name="allocated", parent=1)
    file.track(6, field(8, field(4, 1000) + field(5, True)), name="added", parent=1)
    file.track(7, field(8, b""), name="load", parent=1)
    file.counter(5, BASE, -12)
    file.counter(6, BASE + 1, 2)
    file.counter(6, BASE + 2, 3)
    file.counter(7, BASE + 3, 0.5)
    beside = field(12, 77) + field(31, 5) + field(46, 0.25) + field(45, 7)
    file.end(9, BASE + 4, beside)
    trace = read(file.data())
    assert [(row[0], row[2], row[5]) for row in rows(trace)["instants"]] == [
        (0, "allocated [bytes]", '{"":-12}'),
        (1, "added", '{"":2000}'),
        (2, "added", '{"":5000}'),
        (3, "load", '{"":0.5}'),
        (4, "allocated [bytes]", '{"":77}'),
        (4, "load", '{"":0.25}'),
    ]
    assert defects(trace) == {d.UNMATCHED_END: 1}


@pytest.mark.parametrize("begins", [36, 47])
def test_flows_of_both_schemas(begins: int) -> None:
    ends = {36: 42, 47: 48}[begins]
    file = PerfettoFile()
    number = (1 << 63) + 4
    write = field if begins == 36 else fixed
    for place, (which, kind) in enumerate(((begins, 1), (begins, 1), (ends, 1))):
        event = field(9, kind) + field(11, 2) + field(23, f"at {place}") + write(which, number)
        file.packet(field(11, event), time=BASE + 10 * place)
        file.end(2, BASE + 10 * place + 5)
    trace = read(file.data())
    assert [(row[0], row[2], chr(row[4])) for row in rows(trace)["flows"]] == [
        (0, 4, "s"),
        (10, 4, "t"),
        (20, 4, "f"),
    ]


def test_all_kinds_of_annotations() -> None:
    value = {"a": [1, [], {"b": None}], "c": True, "d": -7, "e": 1.5, "f": "text"}
    nested = field(1, 1) + field(2, "x") + field(3, field(5, 3)) + field(2, "y")
    nested += field(3, field(1, 2) + field(4, field(7, True)) + field(4, field(8, "z")))
    written = {
        "value": annotation(value),
        "uint": field(3, (1 << 64) - 1),
        "pointer": field(7, 0x7F00),
        "nested": field(8, nested),
        "json": field(9, '{"k": [1, 2]}'),
        "no json": field(9, "{k"),
        "proto": field(14, b"\x08\x01"),
        "interned": field(17, 3),
        "not finite": field(5, float("inf")),
        "not UTF-8": field(6, b"\xff"),
    }
    file = PerfettoFile()
    file.packet(field(12, field(29, field(1, 3) + field(2, "three"))))
    event = field(9, INSTANT) + field(11, 2) + field(23, "here")
    for name, data in written.items():
        event += field(4, field(10, name) + data)
    event += field(4, b"\x0f")
    file.packet(field(11, event), time=BASE)
    trace = read(file.data())
    assert json.loads(rows(trace)["instants"][0][5]) == {
        "value": value,
        "uint": (1 << 64) - 1,
        "pointer": "0x7f00",
        "nested": {"x": 3, "y": [True, "z"]},
        "json": {"k": [1, 2]},
        "no json": "{k",
        "proto": None,
        "interned": "three",
        "not finite": None,
        "not UTF-8": "\ufffd",
    }
    assert defects(trace) == {d.WRONG_TYPE: 1}


def test_clocks() -> None:
    def clock(number: int, time: int, *more: bytes) -> bytes:
        return field(1, field(1, number) + field(2, time) + b"".join(more))

    file = PerfettoFile()
    wall, own, steps = clock(1, BASE), clock(64, 5, field(4, 10)), clock(65, 100, field(3, True))
    file.packet(field(6, clock(6, 1000) + wall + own + steps))
    file.begin(2, 1000, "boot")
    file.begin(2, 8, "own, in units of 10 ns", clock=64)
    file.begin(2, 50, "50 after", clock=65)
    file.begin(2, 7, "7 after that", clock=65)
    file.begin(2, BASE + 90, "wall", clock=1)
    file.packet(field(59, field(58, 64) + field(11, field(11, 2))))
    for _ in range(5):
        file.end(None, 16)
    file.begin(2, 3, "unknown clock", clock=99)
    trace = read(file.data())
    assert [(row[0], row[0] + row[1], row[2]) for row in rows(trace)["spans"]] == [
        (0, 110, "boot"),
        (30, 110, "own, in units of 10 ns"),
        (50, 110, "50 after"),
        (57, 110, "7 after that"),
        (90, 110, "wall"),
    ]
    assert trace.origin_ns + trace.base_ns == BASE
    assert defects(trace) == {d.NO_TIME: 1, d.NO_CATEGORY: 5}


def test_a_sequence_forgets_its_names_and_defaults() -> None:
    file = PerfettoFile()
    file.packet(field(59, field(11, field(11, 2))))
    file.begin(None, BASE, "named")
    file.end(None, BASE + 5)
    file.packet(field(13, CLEARED))
    file.begin(None, BASE + 10, "named")
    file.end(None, BASE + 15)
    trace = read(file.data())
    assert drawn(trace) == [
        ("named", 0, 5, "OTHER", ("", "track 2")),
        ("", 10, 5, "OTHER", ("", "")),
    ]
    assert defects(trace) == {d.NO_CATEGORY: 2, d.NO_NAME: 1}


def test_two_sequences_have_names_of_their_own() -> None:
    first, second = PerfettoFile(), PerfettoFile(sequence=2)
    first.begin(2, BASE, "of the first")
    second.begin(3, BASE, "of the second")
    first.end(2, BASE + 5)
    second.end(3, BASE + 5)
    packets = [p for pair in zip(first.packets, second.packets, strict=True) for p in pair]
    trace = read(b"".join(field(1, packet) for packet in packets))
    assert names(trace) == ["of the first", "of the second"]


@pytest.mark.parametrize("kind", ["deflate", "zstd"])
def test_compressed_packets(kind: str) -> None:
    document = nested(sample("ddp_gloo"))
    data = from_chrome(document)
    pack = zlib.compress if kind == "deflate" else zstandard.ZstdCompressor().compress
    packed = field(1, field({"deflate": 50, "zstd": 133}[kind], pack(data)))
    assert rows(read(packed)) == rows(read(data))
    twice = read(packed + field(1, field(50, zlib.compress(packed))))
    assert defects(twice) == {d.DAMAGED_PACKET: 1}


def test_a_packet_that_inflates_to_too_much_is_dropped() -> None:
    file = PerfettoFile()
    file.packet(field(50, zlib.compress(bytes(20 << 20))))
    file.begin(2, BASE, "a")
    file.end(2, BASE + 5)
    assert defects(read(file.data())) == {d.DAMAGED_PACKET: 1, d.NO_CATEGORY: 1}


def test_ends_without_begins_and_begins_without_ends() -> None:
    file = PerfettoFile()
    file.end(2, BASE)
    file.begin(2, BASE + 1, "open", "cpu_op", {"Sequence number": 4, "External id": 1})
    file.begin(2, BASE + 2, "closed", "cpu_op", {"Sequence number": 5, "External id": 2})
    file.end(2, BASE + 3)
    file.begin(3, BASE + 2, "elsewhere", "cpu_op", {"Sequence number": 6})
    file.end(3, BASE + 9)
    trace = read(file.data())
    assert [row[:3] for row in drawn(trace)] == [("elsewhere", 0, 7), ("closed", 0, 1)]
    assert _args(trace, "operator_args") == {
        "closed": {"sequence": 5},
        "elsewhere": {"sequence": 6},
    }
    assert defects(trace) == {d.UNMATCHED_BEGIN: 1, d.UNMATCHED_END: 1}
    # Three begins, three ends.
    assert trace.entries == 6


def test_listed_and_opened_from_files(tmp_path: Path) -> None:
    data = from_chrome(sample("ddp_gloo"), lists=True)
    assert is_perfetto(data[:65536])
    assert judge(Head(data[:65536], False, None)) is None
    (tmp_path / "rank0.pftrace").write_bytes(data)
    (tmp_path / "rank1.perfetto-trace.gz").write_bytes(gzip.compress(data))
    (tmp_path / "rank2.pb.zst").write_bytes(zstandard.ZstdCompressor().compress(data))
    opened = [
        item
        for item in load_all(str(tmp_path), Settings(use_cache=False))
        if isinstance(item, Opened)
    ]
    assert [each.worker.name for each in opened] == ["rank0", "rank1", "rank2"]
    assert len({each.trace["spans"].n for each in opened}) == 1


@pytest.mark.parametrize("packed", [False, True])
def test_an_event_is_reread_with_all_its_arguments(tmp_path: Path, packed: bool) -> None:
    document = sample("ddp_gloo")
    data = from_chrome(document, lists=True)
    path = tmp_path / "rank0.pftrace.gz"
    whole = field(1, field(50, zlib.compress(data))) if packed else data
    path.write_bytes(gzip.compress(whole))
    opened = load(str(path), Settings(use_cache=False))
    spans, texts = opened.trace["spans"], EventTexts()
    written = [e["args"] for e in document["traceEvents"] if "External id" in e.get("args", {})]
    for row in range(0, spans.n, 97):
        found = json.loads(texts.read(opened, row))
        assert found["name"] == opened.trace.strings[int(spans["name"][row])]
        if spans["role"][row] == Role.OPERATOR:
            assert found["args"] in written
    with pytest.raises(NotFound):
        texts.read(opened, spans.n + opened.trace["instants"].n)


def test_a_window_of_a_trace_is_a_chrome_trace(tmp_path: Path) -> None:
    path = tmp_path / "rank0.pftrace"
    path.write_bytes(from_chrome(sample("ddp_gloo"), lists=True))
    opened = load(str(path), Settings(use_cache=False))
    end = int(opened.facts["steps"]["end"].max())
    again = read(b"".join(cut(opened, 0, end, Settings())))
    assert set(names(again)) <= set(names(opened.trace))
    assert again["spans"].n > 1000
