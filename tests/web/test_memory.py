"""The routes of the Memory view: the original's unit cases, limits, windows, and parameters that
make no sense.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from werkzeug.test import Client

from tests.builders.allocator import records
from tests.builders.drawn import Event, events, trace_of
from tests.builders.listed import listed
from tests.web.served import WHERE, body, catalogue_of, client, error_of
from torch_tb_profiler.views.memory import wire
from torch_tb_profiler.views.source import SourcePayload
from torch_tb_profiler.views.wire import Wire

TYPES: dict[str, type[Wire]] = {
    "/memory": wire.MemoryPayload,
    "/memory/curve": wire.MemoryCurvePayload,
    "/memory/blocks": wire.MemoryBlocksPayload,
    "/memory/statistics": wire.MemoryStatisticsPayload,
    "/memory/alive": wire.MemoryAlivePayload,
    "/memory/map": wire.MemoryMapPayload,
    "/memory/changes": wire.MemoryChangesPayload,
    "/memory/source": SourcePayload,
}
OF_A_DEVICE = tuple(
    f"/memory/{name}" for name in ("curve", "blocks", "statistics", "alive", "source")
)


def asked_of(entries: list[Event], **settings: Any) -> Client:
    """A client of a trace of these entries."""
    return client(catalogue_of(trace_of(entries)), **settings)


def get(asked: Client, route: str, **query: object) -> dict[str, Any]:
    """The payload of a route, in the declared shape."""
    response = asked.get(
        f"{route}?{WHERE}" + "".join(f"&{name}={value}" for name, value in query.items())
    )
    assert response.status_code == 200, response.data[:500]
    msgspec.json.decode(body(response), type=TYPES[route], strict=True)
    found: dict[str, Any] = json.loads(body(response))
    return found


def keys(asked: Client) -> dict[str, int]:
    """The key of each device by its name, in order."""
    return {device["name"]: device["key"] for device in get(asked, "/memory")["devices"]}


# The original's test_memory_view: figures as its test has them, of one thread.
VIEW_CALLS = """
    123 op   aten::to@10+10
    123 note enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__@100+180
    123 op   aten::to@200+60
    123 op   aten::nll_loss_backward@340+70
    123 note ProfilerStep#1@50+400
    123 note ProfilerStep#2@500+500
    123 op   aten::to@510+150
    123 op   aten::copy_@520+100
    123 op   aten::liner@700+100
    123 op   aten::t@705+40
    123 op   aten::transpose@710+30
    123 op   aten::tranas_stride@720+10
    123 op   aten::addmm@750+40
    123 op   aten::to@900+100
"""
VIEW_RECORDS = """
    123  90 cpu   90 +4
    123 150 cpu  150 +4
    123 200 cpu  200 +4
    123 210 gpu0 210 +4
    123 265 gpu0 265 +4
    123 300 gpu0 300 +4
    123 350 gpu0 350 +10
    123 360 gpu0 350 -10
    123 450 cpu  450 +1000000
    123 515 gpu0 515 +100
    123 520 gpu0 520 +100
    123 600 gpu0 520 -100
    123 690 gpu0 690 +100
    123 701 gpu0 701 +100
    123 796 gpu0 515 -100
    123 708 gpu0 708 +100
    123 742 gpu0 708 -100
    123 715 gpu0 715 +50
    123 735 gpu0 715 -50
    123 725 gpu0 725 +50
    123 728 gpu0 725 -50
    123 729 cpu  729 +50
    123 746 cpu  746 +100
    123 747 gpu0 747 +20
    123 749 cpu  690 -100
    123 760 gpu0 760 +30
    123 780 gpu0 760 -30
    123 795 gpu0 795 +10
    123 799 gpu0 795 -10
"""
COLUMNS = (
    "self_increase_bytes",
    "self_allocation_bytes",
    "self_allocations",
    "increase_bytes",
    "allocation_bytes",
    "allocations",
    "calls",
)
VIEW = {
    "GPU 0": {
        "aten::to": [104, 104, 2, 104, 204, 3, 4],
        "aten::nll_loss_backward": [0, 10, 1, 0, 10, 1, 1],
        "aten::copy_": [0, 100, 1, 0, 100, 1, 1],
        "aten::addmm": [0, 30, 1, 0, 30, 1, 1],
        "aten::tranas_stride": [0, 50, 1, 0, 50, 1, 1],
        "aten::transpose": [0, 50, 1, 0, 100, 2, 1],
        "aten::t": [0, 100, 1, 0, 200, 3, 1],
        "aten::liner": [20, 130, 3, 20, 360, 7, 1],
    },
    "CPU": {
        "aten::to": [4, 4, 1, 4, 4, 1, 4],
        "aten::liner": [0, 100, 1, 50, 150, 2, 1],
        "aten::tranas_stride": [50, 50, 1, 50, 50, 1, 1],
        "aten::transpose": [0, 0, 0, 50, 50, 1, 1],
        "aten::t": [0, 0, 0, 50, 50, 1, 1],
    },
}


def test_the_originals_memory_view() -> None:
    asked = asked_of([*listed(VIEW_CALLS), *records(VIEW_RECORDS)])
    devices = keys(asked)
    assert list(devices) == ["GPU 0", "CPU"]
    for name, expected in VIEW.items():
        rows = get(asked, "/memory/statistics", device=devices[name])["rows"]
        found = {
            operator: [rows[column][at] for column in COLUMNS]
            for at, operator in enumerate(rows["name"])
        }
        assert found == expected


# The original's TestMemoryCurve, GPU and CPU in one thread.
CURVE = {
    "CPU": """
        main   1 cpu 1    +4     4 0
        main  20 cpu 1    -4     0 0
        main 100 cpu 2 +8000  8000 0
        main 200 cpu 2 -8000     0 0
        main 300 cpu 3    +4     4 0
        main 400 cpu 4   +16    20 0
        main 500 cpu 5 +4000  4020 0
        main 600 cpu 4   -16  4004 0
        main 700 cpu 7   +80  4084 0
        main 800 cpu 3    -4  4080 0
        main 900 cpu 7   -80  4000 0
        main 905 cpu 4 -4000     0 0
    """,
    "GPU 0": """
        main   2 gpu0 11  +400   400   512
        main  22 gpu0 11  -400     0   512
        main 105 gpu0 12 +5000  5000 10240
        main 106 gpu0 13 +3000  8000 10240
        main 205 gpu0 12 -5000  3000 10240
        main 401 gpu0 14 +1024  4024 10240
        main 499 gpu0 15    +4  4028 10240
        main 501 gpu0 13 -3000  1028 10240
        main 502 gpu0 15    -4  1024 10240
        main 906 gpu0 14 -1024     0 10240
    """,
}


def test_the_originals_memory_curve() -> None:
    asked = asked_of([entry for written in CURVE.values() for entry in records(written)])
    for name, written in CURVE.items():
        curve = get(asked, "/memory/curve", device=keys(asked)[name])
        stated = [line.split() for line in written.strip().splitlines()]
        # One point more than the original: what was allocated when the recording began.
        assert (curve["rows"]["time_ns"][0], curve["rows"]["allocated_bytes"][0]) == (0, 0)
        assert curve["rows"]["time_ns"][1:] == [(int(words[1]) - 1) * 1000 for words in stated]
        assert curve["rows"]["allocated_bytes"][1:] == [int(words[5]) for words in stated]
        # Differs by decision: the CPU's allocator reserves nothing ahead, which the original shows
        # as a curve of zeros.
        assert curve["rows"]["reserved_bytes"][1:] == [
            None if name == "CPU" else int(words[6]) for words in stated
        ]
        assert (curve["peak_bytes"], curve["thinned"]) == (8000, False)


SMALL = [
    *events("""
        main  /nn.Module: Linear_0                                             /
        main     [aten::linear                 ] [aten::relu     ] [aten::mul]
        main        [aten::addmm      ]
    """),
    *records("""
        main 14 gpu0 a  +512  1512 2048
        main 18 gpu0 b +1024  2536 4096
        main 45 gpu0 c  +256  2792 4096
        main 62 gpu0 d    +2  2794 4096
        main 70 gpu0 b -1024  1770 4096
        main 74 gpu0 p  -500  1270 4096
        main 16 cpu  e    +8
    """),
]


def test_what_the_view_offers() -> None:
    found = get(asked_of(SMALL), "/memory")
    assert found["source"] == "records"
    assert (found["has_modules"], found["has_stacks"], found["categories"], found["missing"]) == (
        True,
        True,
        [],
        [],
    )
    assert found["steps"]["selected"] == [True]
    gpu, cpu = found["devices"]
    # The trace begins with the module's call, 6 µs after the drawing.
    assert gpu == {
        "key": 0,
        "name": "GPU 0",
        "peak_bytes": 2794,
        "peak_ns": 56_000,
        "blocks": 5,
        "has_map": False,
        "headline": [
            "GPU 0 peaked at 2.73 KiB (4.00 KiB reserved).",
            "It was at 56.0 µs.",
        ],
    }
    assert cpu["name"] == "CPU"
    assert len(found["notes"]) == 1
    assert found["notes"][0].startswith("CPU: the records give no totals.")


def test_rows_beyond_the_limit_are_pooled() -> None:
    asked = asked_of(SMALL, max_table_rows=2)
    blocks = get(asked, "/memory/blocks")
    assert (blocks["rows"]["bytes"], blocks["pooled"], blocks["pooled_bytes"]) == (
        [1024, 512],
        3,
        758,
    )
    statistics = get(asked, "/memory/statistics")
    assert statistics["rows"]["name"] == ["aten::addmm", "aten::relu", "other"]
    assert statistics["rows"]["calls"] == [1, 1, None]
    assert statistics["rows"]["self_increase_bytes"] == [1536, 256, 2]
    assert statistics["pooled"] == 2
    assert (
        sum(statistics["rows"]["self_increase_bytes"]) + statistics["outside_increase_bytes"] == 270
    )


def test_a_trace_without_records_says_what_to_record() -> None:
    asked = asked_of(events("main [aten::mm   ]"))
    found = get(asked, "/memory")
    assert (found["source"], found["devices"]) == ("", [])
    assert [item["what"] for item in found["missing"]] == ["Memory records"]
    for route in OF_A_DEVICE:
        response = asked.get(f"{route}?{WHERE}")
        assert (response.status_code, error_of(response).error.code) == (404, "not_found")


@pytest.mark.parametrize("route", OF_A_DEVICE)
def test_devices_that_are_not_there(route: str) -> None:
    response = asked_of(SMALL).get(f"{route}?{WHERE}&device=2")
    assert response.status_code == 404
    assert error_of(response).error.message


def test_windows_far_outside() -> None:
    asked = asked_of(SMALL)
    far = {"t0": (1 << 61), "t1": (1 << 61) + 1}
    assert get(asked, "/memory/curve", **far)["rows"]["allocated_bytes"] == [1270]
    assert get(asked, "/memory/blocks", **far)["rows"]["bytes"] == []
    assert get(asked, "/memory/statistics", **far)["rows"]["name"] == []
    assert get(asked, "/memory/alive", t=(1 << 62) - 1)["allocated_bytes"] == 1270
