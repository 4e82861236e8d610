"""Tiles as bytes, decoded here by the layout that ``views/timeline/tiles.py`` describes."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.timeline.charts import Chart, chart_drawn, of_spans
from tests.examples import examples
from torch_tb_profiler.analysis.timeline.tiles import read_tiles
from torch_tb_profiler.store.timeline_schema import Look
from torch_tb_profiler.views.timeline import tiles

NAMES = {
    1: "start",
    2: "dur",
    3: "name",
    4: "event",
    5: "count",
    6: "fill",
    7: "look",
    8: "flags",
    9: "module",
}
Tile = dict[str, Any]


def decoded(data: bytes) -> list[Tile]:
    """Every tile of a reply."""
    found, at = [], 0
    while at < len(data):
        magic, version, columns, size, level, k, t0, shift, n, lanes = struct.unpack_from(
            "<4sHHIIQqIII", data, at
        )
        assert (magic, version) == (b"TLOD", 1)
        tile: Tile = {"level": level, "k": k, "t0": t0, "shift": shift}
        table = [struct.unpack_from("<BBH", data, at + 64 + 4 * i) for i in range(columns)]
        place = at + 64 + padded(4 * columns)
        tile["lanes"] = np.frombuffer(data, "<u4", lanes, place).tolist()
        tile["ptr"] = np.frombuffer(data, "<u4", lanes + 1, place + 4 * lanes).tolist()
        place += padded(4 * (2 * lanes + 1))
        for number, width, _ in table:
            tile[NAMES[number]] = np.frombuffer(data, f"<u{width}", n, place).tolist()
            place += padded(width * n)
        assert place == at + size
        found.append(tile)
        at += size
    return found


def padded(size: int) -> int:
    return size + -size % 8


def asked(found: Chart, level: int, *numbers: int) -> list[Tile]:
    timeline = found[2]
    return decoded(tiles.encode_tiles(timeline, level, numbers, range(timeline["lanes"].n)))


def test_a_tile_says_what_is_where() -> None:
    found = of_spans([("cpu_op", 1, 0, 100), ("cpu_op", 1, 10, 20), ("cpu_op", 1, 40, 0)])
    (tile,) = asked(found, 0, 0)
    assert (tile["lanes"], tile["ptr"]) == ([0, 1], [0, 1, 3])
    assert (tile["start"], tile["dur"], tile["event"], tile["count"]) == (
        [0, 10, 40],
        [100, 20, 0],
        [0, 1, 2],
        [1, 1, 1],
    )
    assert (tile["fill"], tile["look"], tile["flags"]) == ([255] * 3, [Look.OPERATOR] * 3, [0] * 3)
    assert "module" not in tile


def test_a_summary_knows_how_many_and_how_busy() -> None:
    found = of_spans([("cpu_op", 1, 0, 10), ("cpu_op", 1, 20, 30), ("cpu_op", 1, 90, 10)])
    (tile,) = asked(found, 7, 0)
    assert (tile["start"], tile["dur"], tile["count"], tile["event"]) == ([0], [100], [3], [1])
    assert tile["fill"] == [50 * 255 // 100]


def test_what_began_before_is_marked_and_goes_on_to_its_end() -> None:
    found = of_spans([("cpu_op", 2, 0, 1), ("cpu_op", 1, 100, 2000)])
    first, second = (
        dict(tile, **{c: tile[c][: tile["ptr"][1]] for c in ("start", "dur", "flags")})
        for tile in asked(found, 0, 0, 1)
    )
    assert (first["start"], first["dur"], first["flags"]) == ([100], [2000], [0])
    assert (second["t0"], second["start"], second["dur"], second["flags"]) == (
        512,
        [0],
        [2100 - 512],
        [1],
    )


def test_modules_come_where_there_are_some() -> None:
    found = chart_drawn("""
        main  /nn.Module: Net_0                /
        main    [aten::mm ]   [aten::add  ]
        other                 [aten::sub  ]
    """)
    (tile,) = asked(found, 8, 0)
    text = [found[0].strings[int(n)] for n in found[2]["names"]["text"]]
    module = dict(
        zip(
            [text[n] for n in tile["name"]],
            [text[m - 1] if m else "" for m in tile["module"]],
            strict=True,
        )
    )
    assert module == {
        "nn.Module: Net_0": "nn.Module: Net_0",
        "aten::mm": "nn.Module: Net_0",
        "aten::sub": "",
        "aten::add": "nn.Module: Net_0",
    }


def test_times_of_a_minute_are_shortened_and_an_endless_event_stays_as_long_as_fits() -> None:
    day = 86_400_000_000_000
    found = of_spans([("cpu_op", 1, 0, day), ("cpu_op", 1, 60_000_000_000, 1_000_000_000)])
    level = 26
    tile = asked(found, level, 1)[0]
    assert tile["shift"] == level + 9 - 31
    assert tile["dur"][0] == min((day - tile["t0"]) >> tile["shift"], (1 << 32) - 1)
    assert (
        abs((tile["start"][1] << tile["shift"]) + tile["t0"] - 60_000_000_000) < 1 << tile["shift"]
    )
    assert asked(found, 0, 0)[0]["dur"] == [(1 << 32) - 1]


@examples(60)
@given(
    st.lists(
        st.tuples(st.just("kernel"), st.integers(1, 2), st.integers(0, 4000), st.integers(0, 500)),
        min_size=1,
        max_size=40,
    ),
    st.integers(0, 9),
)
def test_any_slices(spans: list[tuple[str, int, int, int]], level: int) -> None:
    found = of_spans(spans)
    numbers = range((found[2].about["span_ns"] >> (level + 9)) + 1)
    slices = read_tiles(found[2], level, numbers, range(found[2]["lanes"].n))
    for tile, known in zip(asked(found, level, *numbers), slices, strict=True):
        begin = np.maximum(known.slices.start, known.t0)
        assert tile["start"] == (begin - known.t0).tolist()
        assert tile["dur"] == (known.slices.start + known.slices.dur - begin).tolist()
        assert tile["count"] == known.slices.count.tolist()
        assert [
            tile["ptr"][lane + 1] - tile["ptr"][lane] for lane in range(len(tile["lanes"]))
        ] == [int((known.slices.lane == lane).sum()) for lane in range(len(tile["lanes"]))]
