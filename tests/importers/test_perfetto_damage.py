"""Perfetto's own traces, damaged ones, and files that are none."""

from __future__ import annotations

from random import Random
from typing import Any
from unittest import mock

import numpy as np
import pytest

from tests.builders.perfetto import PerfettoFile, field, from_chrome
from tests.importers.reading import Stream, defects, lost, read
from tests.importers.test_perfetto import BASE, drawn, nested, sample
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.importers.assemble import assemble
from torch_tb_profiler.importers.perfetto import schema
from torch_tb_profiler.importers.perfetto.entries import Translation
from torch_tb_profiler.importers.perfetto.pairs import match
from torch_tb_profiler.importers.perfetto.reading import read_perfetto
from torch_tb_profiler.importers.perfetto.slice_columns import plain_runs
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.packets import is_perfetto
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.model import Trace

pytestmark = pytest.mark.slow


def test_parents_in_a_circle() -> None:
    file = PerfettoFile()
    file.track(2, name="a", parent=3)
    file.track(3, name="a", parent=2)
    file.process(4, 42, "python")
    file.track(5, name="a", parent=4)
    for uuid in (2, 3, 5):
        file.begin(uuid, BASE, f"on {uuid}", "kernel")
        file.end(uuid, BASE + 5)
    assert [(row[0], row[4]) for row in drawn(read(file.data()))] == [
        ("on 2", ("", "a")),
        ("on 3", ("", "a (2)")),
        ("on 5", ("42", "a")),
    ]


def test_a_trace_of_the_system_is_refused_with_the_reason() -> None:
    file = PerfettoFile()
    file.packet(field(1, field(1, 0)))
    with pytest.raises(NotATrace, match="operating system"):
        read(file.data())


def test_a_file_cut_anywhere_is_read_up_to_there() -> None:
    data = from_chrome(nested(sample("ddp_gloo")))[:60_000]
    whole = read(data)["spans"].n
    random = Random(4)
    for _ in range(40):
        length = random.randrange(8, len(data))
        try:
            trace = read(data[:length], piece=random.choice((1 << 30, 1000)))
        except NotATrace:
            continue
        assert trace["spans"].n <= whole
        assert trace.defects[d.TRUNCATED] <= 1


def test_damage_costs_its_own_packets() -> None:
    file = PerfettoFile(interned=False)
    for number in range(200):
        file.begin(2, BASE + 10 * number, f"op {number}", "cpu_op")
        file.end(2, BASE + 10 * number + 5)
    packets = [field(1, packet) for packet in file.packets]
    damaged = packets.copy()
    damaged[101] = b"\xff" * len(packets[101])
    assert packets[101] != damaged[101]
    trace = read(b"".join(damaged))
    # The begin of one is lost; its end closes nothing.
    assert trace["spans"].n == 199
    assert defects(trace) == {d.DAMAGED_PACKET: 1, d.UNMATCHED_END: 1}
    assert trace.entries == 400


def test_mutated_files_are_read_or_refused() -> None:
    data = from_chrome(nested(sample("ddp_gloo")))[:12_000]
    random = Random(13)
    imported = 0
    for _ in range(200):
        text = bytearray(data)
        for _ in range(random.choice((1, 3, 30, 100))):
            at = random.randrange(len(text))
            kind = random.randrange(4)
            if kind == 0:
                text[at] ^= 1 << random.randrange(8)
            elif kind == 1:
                text[at : at + random.randrange(1, 40)] = b""
            elif kind == 2:
                text[at:at] = random.randbytes(random.randrange(1, 40))
            else:
                text[at : at + 4] = random.choice((b"\xff\xff\xff\xff", b"\n\n\n\n", bytes(4)))
        try:
            trace = _balanced(bytes(text), random.choice((1 << 30, 999)))
        except NotATrace:
            continue
        imported += 1
        if imported % 10 == 0:
            derive(trace)
    assert imported > 150


def _balanced(data: bytes, piece: int = 1 << 30) -> Trace:
    """The trace, every entry of which is stored, lost, the name of a track, or the end of a slice."""
    others = {}

    def matched(*columns: Any) -> Any:
        partner = match(*columns)
        others["ends"] = int((partner >= 0).sum())
        return partner

    def assembled(gathered: Any, *rest: Any) -> Trace:
        others["names"] = len(gathered.metadata)
        return assemble(gathered, *rest)

    with (
        mock.patch("torch_tb_profiler.importers.perfetto.reading.match", matched),
        mock.patch("torch_tb_profiler.importers.perfetto.reading.assemble", assembled),
    ):
        trace = read_perfetto(Stream(data, piece), Settings())
    stored = sum(trace[table].n for table in ("spans", "memory", "flows", "instants"))
    assert trace.entries == stored + lost(trace) + sum(others.values())
    return trace


def test_every_entry_is_accounted_for() -> None:
    document = nested(sample("ddp_gloo"))
    trace = _balanced(from_chrome(document))
    written = sum(e["ph"] in "isfC" or 2 * (e["ph"] == "X") for e in document["traceEvents"])
    assert trace.entries > written > trace["spans"].n


@pytest.mark.parametrize(
    "text",
    [
        b'\n{"traceEvents": []}',
        b"\n  [\n]",
        b"\nmain;step;forward 120\nmain;step 30\n" * 9,
        b"\n",
        b"",
        b"\n\x00",
        b"\x0a\x03\x08\x01\x03" + b" " * 9,
        b"\n" + bytes(range(32, 127)) * 3,
    ],
)
def test_what_does_not_begin_like_a_perfetto_trace(text: bytes) -> None:
    assert not is_perfetto(text)


@pytest.mark.parametrize("interned", [True, False])
def test_many_packets_at_once_say_the_same_as_one_by_one(interned: bool) -> None:
    data = from_chrome(sample("ddp_gloo"), interned, lists=True)
    packets = schema.Trace.FromString(data).packet
    at_once, one_by_one = (Translation(DefectCounts(), 1 << 30) for _ in range(2))
    assert sum(run.stop - run.start for run in plain_runs(data)) > (1000 if interned else 2000)
    for translation, text in ((at_once, data), (one_by_one, b"")):
        for _ in translation.add(packets, text):
            pass
    assert at_once.texts == one_by_one.texts
    for column in ("time", "track", "sequence", "entry"):
        assert getattr(at_once.slices, column) == getattr(one_by_one.slices, column)


def test_ends_close_the_innermost_slice_of_their_track() -> None:
    random = Random(6)
    for _ in range(200):
        n = random.randrange(1, 30)
        time = sorted(random.randrange(20) for _ in range(n))
        track = [random.randrange(3) for _ in range(n)]
        is_begin = [random.random() < 0.5 for _ in range(n)]
        expected = [-1] * n
        open_: list[list[int]] = [[], [], []]
        for place in range(n):
            if is_begin[place]:
                open_[track[place]].append(place)
            elif open_[track[place]]:
                expected[open_[track[place]].pop()] = place
        columns = (np.array(c) for c in (time, track, [0] * n, is_begin))
        assert match(*columns).tolist() == expected
