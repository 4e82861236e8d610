"""Pickles that need more than plain containers: nothing runs, cost is bounded, the error is clear."""

from __future__ import annotations

import contextlib
import copyreg
import os
import pickle
import resource
import struct
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders.snapshots import Allocator, pickled, snapshot
from tests.importers.reading import Stream
from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.importers.plain_pickle import load
from torch_tb_profiler.importers.snapshot import read_snapshot
from torch_tb_profiler.runs.import_job import read as read_file
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import sniff
from torch_tb_profiler.sources.places import Place

TOUCHED: list[str] = []


def touch(text: str) -> None:
    TOUCHED.append(text)


class Calls:
    """Its pickle calls a function when it is loaded."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.how = (function, arguments)

    def __reduce__(self) -> Any:
        return self.how


class Built:
    """Its pickle sets a state."""

    def __setstate__(self, state: Any) -> None:
        TOUCHED.append("state")

    def __getstate__(self) -> Any:
        return {"a": 1}


def program(body: bytes) -> bytes:
    return b"\x80\x04" + body + b"."


def text(value: str) -> bytes:
    return b"\x8c" + bytes([len(value)]) + value.encode()


HOSTILE = {
    "os.system": pickle.dumps(Calls(os.system, "touch hacked"), 4),
    "eval": pickle.dumps(Calls(eval, "__import__('os').system('true')"), 2),
    "inside a snapshot": pickle.dumps(
        {"segments": [], "device_traces": [[{"action": "alloc", "size": Calls(touch, "inside")}]]},
        4,
    ),
    "as a key": pickle.dumps({"segments": [], Calls(touch, "key"): 1}, 4),
    "an object with a state": pickle.dumps({"segments": Built()}, 4),
    "an ordered dict": pickle.dumps(OrderedDict(segments=[]), 4),
    "a numpy scalar": pickle.dumps({"segments": [np.int64(3)]}, 4),
    "a numpy array": pickle.dumps({"segments": np.arange(3)}, 4),
    "bytes": pickle.dumps({"segments": b"abc"}, 4),
    "a bytearray": pickle.dumps({"segments": bytearray(b"abc")}, 5),
    "a set": pickle.dumps({"segments": {1}}, 4),
    "a complex number": pickle.dumps({"segments": 1j}, 4),
    "getattr chain": program(b"cbuiltins\ngetattr\n(cos\nsystem\n" + text("__call__") + b"tR"),
    "stack global": program(text("os") + text("system") + b"\x93" + text("true") + b"\x85R"),
    "global": b"\x80\x02cos\nsystem\n(X\x04\x00\x00\x00truetR.",
    "inst": b"\x80\x02(X\x04\x00\x00\x00trueios\nsystem\n.",
    "obj": b"\x80\x02(cos\nsystem\nX\x04\x00\x00\x00trueo.",
    "newobj": program(text("os") + text("system") + b"\x93)\x81"),
    "newobj with keywords": program(text("os") + text("system") + b"\x93)}\x92"),
    "build": program(b"}}b"),
    "persistent id": program(b"X\x01\x00\x00\x00aQ"),
    "persistent text": b"\x80\x02Pabc\n.",
    "next buffer": b"\x80\x05\x97.",
    "readonly buffer": b"\x80\x05]\x98.",
    "reduce of a list": program(b"])R"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_is_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    TOUCHED.clear()
    called: list[str] = []
    monkeypatch.setattr(os, "system", lambda *a: called.append("system"))
    with pytest.raises(NotATrace) as error:
        read_snapshot(Stream(HOSTILE[name]))
    assert "nothing in it was run" in error.value.message
    assert not TOUCHED
    assert not called
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("code", [b"\x82\x01", b"\x83\x01\x00", b"\x84\x01\x00\x00\x00"])
def test_registered_extensions_are_not_looked_up(code: bytes) -> None:
    copyreg.add_extension(__name__, "touch", 1)
    try:
        # The standard reader would take a class that another pickle of this process used before,
        # without asking anybody.
        assert pickle.loads(program(code)) is touch
        with pytest.raises(NotATrace, match="nothing in it was run"):
            read_snapshot(Stream(program(code)))
    finally:
        copyreg.remove_extension(__name__, "touch", 1)


DAMAGED = [
    b"\x80\x04",
    b"\x80\x04.",
    program(b"h\x05"),
    program(b"a"),
    program(b"u"),
    program(b"(e"),
    program(b"}(]K\x01u"),
    program(b"}(NNu"),
    program(b"\x86"),
    b"\x80\x04X\xff\x00",
    program(b"\x8a\xffabc"),
    program(b"]}s"),
    b"\x80\x04G\x00",
    b"\x80\x04J\x00",
]


@pytest.mark.parametrize("data", DAMAGED)
def test_damage_is_told_as_such(data: bytes) -> None:
    with pytest.raises(NotATrace) as error:
        read_snapshot(Stream(data))
    assert "byte" in error.value.message


@pytest.mark.slow
def test_a_snapshot_cut_anywhere_is_refused_with_the_place() -> None:
    device = Allocator()
    for size in range(20):
        device.alloc(size)
    data = pickled(snapshot(device))
    # Its records are longer than three bytes, and most of them alike.
    for end in range(2, len(data), 3):
        with pytest.raises(NotATrace, match="byte"):
            read_snapshot(Stream(data[:end]))


@pytest.mark.parametrize("value", [[], [1], "segments", 7, None, {"a": 1}, {}, ({},)])
def test_other_plain_values_are_no_snapshot(value: object) -> None:
    with pytest.raises(NotATrace, match="no memory snapshot"):
        read_snapshot(Stream(pickled(value)))


@pytest.mark.parametrize(
    "value",
    [
        {"segments": 3},
        {"segments": [], "device_traces": 3},
        {"device_traces": [3, None, [[]], [5]]},
    ],
)
def test_a_snapshot_of_nothing_usable_is_an_empty_trace(value: object) -> None:
    trace = read_trace(Stream(pickled(value)), Settings())
    assert trace["memory"].n == 0
    assert trace.defects["no_trace_events"] == 1


def test_nested_containers_beyond_any_snapshot_are_refused() -> None:
    with pytest.raises(NotATrace, match="nests"):
        read_snapshot(Stream(program(b"(" * 101)))


def test_a_tuple_a_million_deep_is_never_hashed() -> None:
    deep = b")" + b"\x85" * 300_000
    with pytest.raises(NotATrace, match="damaged"):
        read_snapshot(Stream(program(b"}" + deep + b"Ns")))


BOMBS = {
    "a text of 4 GB": program(b"X" + struct.pack("<I", 0xFFFF_FFF0)),
    "a text of 2^60 bytes": program(b"\x8d" + struct.pack("<Q", 1 << 60)),
    "a place of the memo far away": program(b"]r" + struct.pack("<I", 0x7FFF_FFFF)),
    "a frame of 2^60 bytes": program(b"\x95" + struct.pack("<Q", 1 << 60)),
    "a bytearray of 2^40 bytes": b"\x80\x05\x96" + struct.pack("<Q", 1 << 40) + b".",
    "a number of 2^31 bytes": program(b"\x8b" + struct.pack("<i", (1 << 31) - 1)),
    "ten million empty dicts": program(b"(" + b"}" * 10_000_000 + b"t"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_asks_for_memory_gets_none(name: str) -> None:
    if sys.platform != "linux":
        pytest.skip("the peak is told in KiB on Linux only")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(NotATrace):
        read_snapshot(Stream(BOMBS[name]))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 600 << 10


def test_a_list_that_names_itself_a_thousand_times_over_is_read_once() -> None:
    """The laughs of a billion: 3 lists in the file, 10^9 records to whoever follows every mention."""
    entry = {"action": "alloc", "addr": 4096, "size": 8, "stream": 0, "time_us": 1, "frames": []}
    records = [entry] * 1000
    trace = read_snapshot(Stream(pickled({"segments": [], "device_traces": [records] * 1000})))
    # The first mention of the record is emptied as it is taken over; the rest of the list says the
    # same thing.
    assert trace["memory"].n <= 1000
    blocks = [
        {
            "address": 0,
            "size": 8,
            "state": "active_allocated",
            "frames": [{"filename": "f", "line": 1, "name": "n"}] * 1000,
        }
    ] * 1000
    segment = {"device": 0, "address": 0, "total_size": 8, "blocks": blocks}
    assert read_snapshot(Stream(pickled({"segments": [segment] * 100_000})))["memory"].n <= 1000


def test_sizes_that_wrap_around_are_refused() -> None:
    entry = {"action": "alloc", "size": (1 << 48) - 1, "addr": 1, "time_us": 1}
    with pytest.raises(NotATrace, match="add up"):
        read_snapshot(Stream(pickled({"device_traces": [[dict(entry) for _ in range(20_000)]]})))


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "empty"),
        (HOSTILE["os.system"], "no memory snapshot"),
        (pickle.dumps({"weights": [1]}), "no memory snapshot"),
    ],
)
def test_files_are_judged_by_their_first_bytes(content: bytes, word: str, tmp_path: Path) -> None:
    path = tmp_path / "a.pickle"
    path.write_bytes(content)
    assert word in (sniff.rejection(Place(str(path))) or "")
    with pytest.raises(NotATrace):
        read_file(Place(str(path)), Settings())


def test_a_snapshot_that_calls_at_its_end_is_refused_by_the_import(tmp_path: Path) -> None:
    TOUCHED.clear()
    path = tmp_path / "rank0.pickle"
    path.write_bytes(HOSTILE["inside a snapshot"])
    assert sniff.rejection(Place(str(path))) is None
    with pytest.raises(NotATrace, match="nothing in it was run"):
        read_file(Place(str(path)), Settings())
    assert not TOUCHED


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text(max_size=4), inner, max_size=5)
        | st.tuples(inner, inner)
        | st.lists(inner).map(tuple)
    ),
    max_leaves=40,
)


@given(PLAIN, st.integers(2, 5))
def test_plain_values_come_back_as_the_standard_reader_gives_them(
    value: object, protocol: int
) -> None:
    data = pickle.dumps(value, protocol)
    assert repr(load(Stream(data, 3), lambda _, items: items)) == repr(value)


@given(
    st.integers(0, 10**9),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=8),
    st.binary(max_size=40),
)
def test_no_byte_makes_anything_but_a_trace_or_a_refusal(
    cut: int, changes: list[tuple[int, int]], tail: bytes
) -> None:
    device = Allocator()
    for size in range(4):
        device.alloc(size)
    data = bytearray(pickled(snapshot(device)))
    for offset, byte in changes:
        data[2 + offset % (len(data) - 2)] = byte
    with contextlib.suppress(NotATrace):
        read_trace(Stream(bytes(data[: max(2, cut % (2 * len(data)))]) + tail), Settings())


RECORD = st.dictionaries(
    st.sampled_from(["action", "addr", "size", "stream", "time_us", "frames", "device_free"]),
    PLAIN | st.sampled_from(["alloc", "oom"]),
)
BLOCK = st.dictionaries(
    st.sampled_from(["address", "size", "state", "requested_size", "frames", "history"]),
    PLAIN | st.sampled_from(["active", 512]),
)
SEGMENT = st.dictionaries(
    st.sampled_from(["device", "address", "total_size", "stream"]),
    PLAIN | st.sampled_from([0, 4096]),
)


WITH_BLOCKS = st.builds(
    lambda segment, blocks: {**segment, "blocks": blocks}, SEGMENT, st.lists(BLOCK | PLAIN)
)


@given(st.lists(st.lists(RECORD | PLAIN) | PLAIN), st.lists(WITH_BLOCKS | PLAIN))
def test_values_of_any_kind_in_any_field_break_nothing(
    traces: list[Any], segments: list[Any]
) -> None:
    memory = read_trace(
        Stream(pickled({"segments": segments, "device_traces": traces})), Settings()
    )["memory"]
    assert (memory["time"][1:] >= memory["time"][:-1]).all()
