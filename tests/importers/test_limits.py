"""Text made to be slow, and files that inflate without end: an import ends soon and says why."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import pytest

from tests.importers.reading import read as read_text
from tests.importers.reading import span, trace
from torch_tb_profiler.errors import NotATrace, OverLimit
from torch_tb_profiler.importers import walk
from torch_tb_profiler.runs.import_job import read
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store.defects import SKIPPED

EVENTS = ", ".join(span(number) for number in range(20)).encode()


@pytest.mark.parametrize(
    "damage", [b'"', b"1, ", b"[],", b'{"ph":"X","name":"a"b","ts":1},', b"1 ", b']["']
)
def test_more_damage_is_skipped_at_once(damage: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few thousand entries are lost one by one, the other hundred thousands together."""
    monkeypatch.setattr(walk, "LOST_BYTES", 1 << 14)
    monkeypatch.setattr(walk, "FUTILE_BYTES", 1 << 14)
    text = damage * ((1 << 19) // len(damage))
    imported = read_text(b'{"traceEvents": [' + EVENTS + b", " + text)
    assert imported["spans"].n >= 19
    assert imported.entries < 20_000


def test_events_behind_skipped_damage_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "LOST_BYTES", 100)
    monkeypatch.setattr(walk, "SKIPPED_BYTES", 1000)
    whole = trace(*(span(number) for number in range(20)), "@, " * 500 + "@", *(span(20),) * 9)
    imported = read_text(whole)
    assert imported["spans"].n >= 28
    assert imported.defects[SKIPPED] > 0
    assert imported.entries <= 20 + 120 + 9


@pytest.mark.parametrize(
    "before",
    ["", '{"traceEvents": [', '{"x": ', '{"traceEvents": [{"ph": "X", "args": ', '{"x": [[],'],
    ids=["array", "entry", "header", "argument", "array_in_header"],
)
def test_brackets_without_end_are_given_up_soon(before: str) -> None:
    begin = time.process_time()
    with pytest.raises(NotATrace):
        read_text(before + "[" * (4 << 20))
    assert time.process_time() - begin < 1.5


def test_a_small_damage_costs_what_it_did() -> None:
    imported = read_text(trace(span(0), *["1"] * 1000, span(1)))
    assert (imported.entries, imported["spans"].n) == (1002, 2)
    assert not imported.defects[SKIPPED]


@pytest.mark.slow
def test_a_file_that_inflates_to_more_than_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "bomb.json.gz"
    body = b'{"traceEvents": [' + EVENTS + b'], "x": "' + b" " * (32 << 20)
    path.write_bytes(gzip.compress(body, 9))
    begin = time.process_time()
    with pytest.raises(OverLimit, match=r"more than 1\.00 MiB") as error:
        read(Place(str(path)), Settings(use_cache=False, max_inflated_bytes=1 << 20))
    assert "TORCH_TB_PROFILER_MAX_INFLATED_BYTES" in error.value.hint
    assert time.process_time() - begin < 10
    imported, _ = read(Place(str(path)), Settings(use_cache=False))
    assert imported["spans"].n == 20


def test_an_import_that_takes_longer_than_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "slow.json"
    path.write_bytes(b'{"traceEvents": [' + EVENTS + b"]}")
    with pytest.raises(OverLimit, match="more than 0 s") as error:
        read(Place(str(path)), Settings(use_cache=False, max_import_seconds=0.0))
    assert "TORCH_TB_PROFILER_MAX_IMPORT_SECONDS" in error.value.hint
