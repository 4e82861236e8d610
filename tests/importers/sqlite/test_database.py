"""Databases that are damaged, hostile, compressed, remote, or of other programs."""

from __future__ import annotations

import gzip
import os
import random
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest

from tests.builders import nsight, nvprof
from tests.builders.nsight import PID, TID, NsightFile, global_id
from tests.importers.reading import Stream
from tests.importers.sqlite.asked import TRAININGS, drop_column, read, spans
from tests.loading import load
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.errors import NotATrace, ProfilerError, SourceError
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.importers.sqlite.database import MISSING, Database, Texts
from torch_tb_profiler.runs.loading import load_all
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import names, sniff
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.streams import open_text
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.units import format_count


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "report 1#50%?.sqlite"
    nsight.write_training(found, 2)
    return found


def alter(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)


def trace_or_message(path: Path) -> tuple[Trace | None, str]:
    """The trace of a file, or why there is none."""
    try:
        return read(path), ""
    except ProfilerError as error:
        return None, error.message


def test_the_file_is_read_in_place_and_nothing_is_left_beside_it(path: Path) -> None:
    before = (path.read_bytes(), sorted(os.listdir(path.parent)))
    with open_text(Place(str(path))) as stream:
        assert stream.path == str(path)
    read(path)
    assert (path.read_bytes(), sorted(os.listdir(path.parent))) == before


def test_a_compressed_one_is_unpacked_and_the_copy_removed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    packed = tmp_path / "report1.sqlite.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert spans(read(packed), "start") == spans(read(path), "start")
    packed.write_bytes(gzip.compress(b"SQLite format 3\0 and nothing else"))
    with pytest.raises(NotATrace):
        read(packed)
    assert os.listdir(room) == []


def test_one_elsewhere_is_fetched(path: Path) -> None:
    with fsspec.open("memory://nsight/report1.sqlite", "wb") as file:
        file.write(path.read_bytes())
    opened = load("memory://nsight/report1.sqlite", Settings(use_cache=False))
    assert opened.trace["spans"].n == read(path)["spans"].n


def test_progress_is_told_in_bytes_of_the_file(path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    read(path, lambda done, size: told.append((done, size)))
    assert {size for _, size in told} == {path.stat().st_size}
    assert told == sorted(told)
    assert 0 <= told[0][0] < told[-1][0] <= path.stat().st_size


def test_views_virtual_tables_and_generated_columns_are_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "hostile.sqlite"
    with NsightFile(path) as file:
        file.push_pop("step", 100, 200)
    alter(
        path,
        "CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS SELECT 1 AS start, 2 AS [end], 3 AS nameId",
        "CREATE VIRTUAL TABLE CUPTI_ACTIVITY_KIND_KERNEL USING fts5(start, demangledName)",
        "CREATE TABLE OSRT_API (start INTEGER, nameId INTEGER, [end] AS"
        " (length(zeroblob(900000000))))",
        "INSERT INTO OSRT_API (start, nameId) VALUES (300, 0)",
        "CREATE TRIGGER t AFTER INSERT ON OSRT_API BEGIN DELETE FROM NVTX_EVENTS; END",
    )
    trace = read(path)
    assert spans(trace, "dur") == [("step", 100), ("osrt", 0)]
    assert trace.defects.as_dict() == {d.NO_DURATION: 1}


def test_names_that_are_sql_are_names(tmp_path: Path) -> None:
    path = tmp_path / "report1.sqlite"
    names_ = ["'; DROP TABLE StringIds; --", "b\0c", "a" * 100_000, "\ud7ff 🎈", "[x] AS y"]
    with NsightFile(path) as file:
        for number, name in enumerate(names_):
            file.push_pop(name, 100 * number, 100 * number + 50, registered=bool(number % 2))
    insert = (
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text) VALUES (900, 901, 59, CAST(x'ff41'"
        " AS TEXT))"
    )
    alter(path, 'CREATE TABLE "x; DROP TABLE NVTX_EVENTS; --" (start)', insert)
    texts = [name for (name,) in spans(read(path))]
    assert texts == [
        "'; DROP TABLE StringIds; --",
        "b",
        "a" * (1 << 16),
        "\ud7ff 🎈",
        "[x] AS y",
        "\ufffdA",
    ]


COLUMNS = {
    "nsight": (
        "deviceId",
        "contextId",
        "streamId",
        "correlationId",
        "globalPid",
        "gridX",
        "blockZ",
        "registersPerThread",
        "staticSharedMemory",
        "dynamicSharedMemory",
        "demangledName",
        "shortName",
        "eventClass",
        "globalTid",
        "nameId",
        "textId",
        "domainId",
        "eventType",
        "end",
        "text",
        "bytes",
        "copyKind",
        "memKind",
        "syncType",
        "graphId",
        "graphNodeId",
        "category",
        "smCount",
        "cuDevice",
        "typeId",
        "metricName",
        "value",
        "id",
    ),
    "nvprof": (
        "deviceId",
        "contextId",
        "streamId",
        "correlationId",
        "gridX",
        "registersPerThread",
        "dynamicSharedMemory",
        "cbid",
        "processId",
        "threadId",
        "flags",
        "timestamp",
        "id",
        "objectKind",
        "objectId",
        "name",
        "domain",
        "copyKind",
        "srcKind",
        "dstKind",
        "bytes",
        "memoryKind",
        "type",
        "overheadKind",
        "numMultiprocessors",
        "value",
        "_id_",
        "end",
    ),
}


@pytest.mark.parametrize(
    ("kind", "missing"), [(kind, column) for kind, columns in COLUMNS.items() for column in columns]
)
def test_any_column_may_be_missing(kind: str, missing: str, tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    TRAININGS[kind](path, 1)
    drop_column(path, missing)
    trace = read(path)
    derive(trace)
    assert trace["spans"].n > 0


def test_a_file_that_has_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"^gone\.sqlite could not be opened"):
        Database(str(tmp_path / "gone.sqlite"), DefectCounts())


def test_what_is_missing_is_unknown_and_never_zero(tmp_path: Path) -> None:
    path = tmp_path / "report1.sqlite"
    with NsightFile(path) as file:
        file.text("gemm")
    alter(
        path,
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName, registersPerThread,"
        " gridX)",
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 200, 1, 'many', NULL), (NULL, 5, 1, 1,"
        " 1), (300, 'late', 1, 7, 2), (900, 800, 77, 7, 2)",
    )
    trace = read(path)
    assert spans(trace, "start", "dur", "correlation") == [
        ("gemm", 0, 100, -1),
        ("gemm", 200, 0, -1),
        ("kernel without a name", 800, 0, -1),
    ]
    side = trace["device_args"]
    assert {
        c: side[c].tolist()
        for c in ("device", "stream", "registers", "shared_memory", "grid", "bytes")
    } == {
        "device": [-1] * 3,
        "stream": [-1] * 3,
        "registers": [-1, 7, 7],
        "shared_memory": [-1] * 3,
        "grid": [-1] * 3,
        "bytes": [-1] * 3,
    }
    assert trace.defects.as_dict() == {d.NO_TIME: 1, d.NO_DURATION: 1, d.NEGATIVE_DURATION: 1}


def test_a_database_that_is_cut_off_says_so(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])
    assert sniff.rejection(Place(str(path))) is None
    with pytest.raises(
        NotATrace,
        match=f"^The SQLite database is truncated: it has {format_count(len(data) * 2 // 3)} of"
        rf" {format_count(len(data))} bytes\.",
    ):
        read(path)


def test_one_that_lacks_a_part_of_its_last_page_says_so(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])
    assert read(path).defects[d.TRUNCATED] == 1


@pytest.mark.parametrize("encoding", ["UTF-16le", "UTF-16be"])
@pytest.mark.parametrize("kind", TRAININGS)
def test_texts_of_two_bytes_are_read_too(
    kind: str, encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    TRAININGS[kind](tmp_path / "a.sqlite", 1)
    opened = sqlite3.connect

    def in_it(path: Path) -> sqlite3.Connection:
        database = opened(path)
        database.execute(f"PRAGMA encoding = '{encoding}'")
        return database

    with monkeypatch.context() as patched:
        patched.setattr(sqlite3, "connect", in_it)
        TRAININGS[kind](tmp_path / "b.sqlite", 1)
    with closing(sqlite3.connect(tmp_path / "b.sqlite")) as database:
        assert database.execute("PRAGMA encoding").fetchone() == (encoding,)
    first, second = read(tmp_path / "a.sqlite"), read(tmp_path / "b.sqlite")
    assert spans(second, "start", "dur", "category", "track") == spans(
        first, "start", "dur", "category", "track"
    )
    assert second.defects.as_dict() == first.defects.as_dict() == {}


def test_a_lock_is_no_matter(path: Path) -> None:
    expected = spans(read(path), "start")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        assert spans(read(path), "start") == expected


def test_what_stands_in_a_log_beside_it_is_missed_and_said(path: Path) -> None:
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
    # Its log was taken over and removed when it was closed.
    assert read(path).defects.as_dict() == {}
    with closing(sqlite3.connect(path)) as writer:
        writer.execute(
            "INSERT INTO NVTX_EVENTS (start, end, eventType, text) VALUES (5, 10, 59, 'late')"
        )
        writer.commit()
        trace = read(path)
    assert trace.defects.as_dict() == {d.UNFINISHED_DATABASE: 1}
    assert "late" not in {name for (name,) in spans(trace)}


def test_damage_in_the_middle_of_a_table_leaves_the_rows_before(tmp_path: Path) -> None:
    path = tmp_path / "report1.sqlite"
    with NsightFile(path) as file:
        for number in range(20_000):
            file.push_pop(f"range {number % 10}", 100 * number, 100 * number + 50)
    data = bytearray(path.read_bytes())
    data[len(data) * 2 // 3 : len(data) * 2 // 3 + 8192] = b"\xff" * 8192
    path.write_bytes(data)
    trace = read(path)
    assert 1000 < trace["spans"].n < 20_000
    assert trace.defects.as_dict() == {d.DAMAGED_TABLE: 1}


def test_damage_anywhere_ends_in_a_trace_or_in_one_line(tmp_path: Path) -> None:
    path, rng = tmp_path / "report1.sqlite", random.Random(5)
    nsight.write_training(path, 2)
    data = path.read_bytes()
    for _ in range(150):
        damaged = bytearray(data)
        for _ in range(rng.choice((1, 10, 200))):
            damaged[rng.randrange(16 if rng.random() < 0.9 else 0, len(damaged))] = rng.randrange(
                256
            )
        path.write_bytes(damaged[: rng.choice((len(damaged), rng.randrange(len(damaged))))])
        trace, message = trace_or_message(path)
        assert "\n" not in message
        if trace is not None:
            derive(trace)


def test_pages_tied_into_knots_are_not_read_for_ever(tmp_path: Path) -> None:
    """A table whose pages name each other has rows without end."""
    path = tmp_path / "report1.sqlite"
    with NsightFile(path) as file:
        for number in range(5000):
            file.push_pop("r", number, number + 1)
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    interior = [offset for offset in range(0, len(data), size) if offset and data[offset] == 0x05]
    leaf = next(
        offset
        for offset in range(size, len(data), size)
        if data[offset] == 0x0D and int.from_bytes(data[offset + 3 : offset + 5], "big") > 20
    )
    for offset in interior:
        for cell in range(int.from_bytes(data[offset + 3 : offset + 5], "big")):
            pointer = offset + int.from_bytes(
                data[offset + 12 + 2 * cell : offset + 14 + 2 * cell], "big"
            )
            data[pointer : pointer + 4] = (leaf // size + 1).to_bytes(4, "big")
    path.write_bytes(data)
    trace, message = trace_or_message(path)
    assert trace is not None or "damaged" in message
    assert trace is None or trace["spans"].n < len(data) / 4


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("CREATE TABLE runs (id INTEGER, name TEXT)", "without the tables"),
        ("CREATE TABLE StringIdsOfMine (id INTEGER)", ""),
    ],
)
def test_databases_of_others_are_refused(tmp_path: Path, content: str, word: str) -> None:
    path = tmp_path / "mlflow.db"
    alter(path, content)
    if word:
        assert word in (sniff.rejection(Place(str(path))) or "")
    with pytest.raises(NotATrace):
        load(str(path), Settings(use_cache=False))


def test_an_export_without_cuda_and_nvtx_says_what_to_record(tmp_path: Path) -> None:
    path = tmp_path / "report1.sqlite"
    with NsightFile(path):
        pass
    with pytest.raises(NotATrace, match="no CUDA or NVTX data"):
        read(path)


def test_files_are_found_by_their_names_and_judged_by_their_content(tmp_path: Path) -> None:
    nsight.write_training(tmp_path / "rank0.sqlite", 1)
    nvprof.write_training(tmp_path / "rank1.nvprof", 1)
    nvprof.write_training(tmp_path / "rank2.sql", 1)
    alter(tmp_path / "other.db", "CREATE TABLE a (b)")
    (tmp_path / "dump.sql").write_text("CREATE TABLE a;")
    (tmp_path / "report1.nsys-rep").write_bytes(b"\x01\x02NSYS report")
    loaded = list(load_all(str(tmp_path), Settings(use_cache=False)))
    traces: list[Any] = [item for item in loaded if hasattr(item, "trace")]
    refused: Any = {item.path: item.message for item in loaded if not hasattr(item, "trace")}
    assert [t.worker.name for t in traces] == ["rank0", "rank1", "rank2"]
    assert [t.worker.rank for t in traces] == [0, 1, 2]
    assert "nsys export --type sqlite report1.nsys-rep" in refused["report1.nsys-rep"]
    assert set(refused) == {"dump.sql", "other.db", "report1.nsys-rep"}
    for name, suffix in (
        ("a.sqlite", ".sqlite"),
        ("a.SQLITE3.gz", ".SQLITE3.gz"),
        ("a.nvvp", ".nvvp"),
        ("a.db.zst", ".db.zst"),
    ):
        parsed = names.parse(name)
        assert parsed is not None
        assert (parsed.suffix, parsed.extra) == (suffix, False)


def test_a_stream_in_memory_is_read_too(path: Path) -> None:
    assert (
        read_trace(Stream(path.read_bytes(), 1000), Settings())["spans"].n == read(path)["spans"].n
    )


def test_texts_by_number_with_and_without_a_key(path: Path) -> None:
    for statements in (
        (),
        (
            "CREATE TABLE kept AS SELECT * FROM StringIds",
            "DROP TABLE StringIds",
            "ALTER TABLE kept RENAME TO StringIds",
        ),
    ):
        alter(path, *statements)
        with Database(str(path), DefectCounts()) as database:
            texts = Texts(database, "StringIds", "id")
            assert texts.texts(np.array([1, MISSING, 0, 10**12, 1])) == [
                texts.text(1),
                "",
                "",
                "",
                texts.text(1),
            ]
            assert texts.text(1)


def test_a_row_is_read_again_with_all_its_columns(path: Path) -> None:
    with Database(str(path), DefectCounts()) as database:
        record = database.record("CUPTI_ACTIVITY_KIND_KERNEL", 1)
        assert (record["streamId"], record["globalPid"], record["graphNodeId"]) == (
            7,
            global_id(PID),
            None,
        )
        assert database.record("NVTX_EVENTS", 1 << 40) == {}
        assert database.record("nothing", 0) == {}
        assert database.record("ThreadNames", 0)["globalTid"] == global_id(PID, TID)
