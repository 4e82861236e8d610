"""Routes ``/memory/map`` and ``/memory/changes``, and what ``/memory`` says of a snapshot."""

from __future__ import annotations

import pytest
from werkzeug.test import Client

from tests.builders.snapshots import pickled
from tests.builders.splitting import FORWARD, train
from tests.importers.reading import Stream
from tests.web.served import WHERE, catalogue_of, client, error_of
from tests.web.test_memory import get
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings

SIDE_B = {"run2": "run", "worker2": "w0", "span2": "1"}


@pytest.fixture(scope="module")
def asked() -> Client:
    device, _ = train(steps=3)
    device.alloc(5000, FORWARD, stream=7, pool=(0, 1))
    device.fail(1 << 40, 5, ("/w/attention.py:88:softmax", *FORWARD))
    trace = read_trace(Stream(pickled(device.snapshot())), Settings())
    return client(catalogue_of(trace))


def test_what_the_view_says_of_a_snapshot(asked: Client) -> None:
    found = get(asked, "/memory")
    assert [device["has_map"] for device in found["devices"]] == [True]
    known = dict(zip(found["categories"], found["categories_known"], strict=True))
    assert (known["activation"], known["autograd detail"], known["unknown"]) == ("inferred", "", "")
    (failure,) = found["failures"]
    assert (failure["requested_bytes"], failure["free_bytes"]) == (1 << 40, 5)
    assert failure["unused_bytes"] == sum(failure["pieces_bytes"])
    assert failure["pieces"] == len(failure["pieces_bytes"])
    then = get(asked, "/memory/alive", t=failure["time_ns"])
    assert then["allocated_bytes"] == failure["allocated_bytes"]
    outermost = zip(then["frames"]["parent"], then["frames"]["bytes"], strict=True)
    assert sum(size for parent, size in outermost if parent < 0) == failure["allocated_bytes"]
    curve = get(asked, "/memory/curve", n=64)
    assert [sum(at) for at in zip(*curve["categories_bytes"], strict=True)] == curve["rows"][
        "allocated_bytes"
    ]


def test_the_map_adds_up_and_zooms(asked: Client) -> None:
    whole = get(asked, "/memory/map", n=512)
    cells = whole["cells"]
    assert (
        sum(cells["reserved"]) == whole["reserved_bytes"] == sum(whole["pools"]["reserved_bytes"])
    )
    assert sum(cells["allocated"]) == whole["allocated_bytes"]
    assert sum(cells["rounding"]) == whole["rounding_bytes"]
    assert whole["free_bytes"] == whole["reserved_bytes"] - whole["allocated_bytes"]
    assert len(whole["starts"]) == whole["segments"]
    half = whole["reserved_bytes"] // 2
    part = get(asked, "/memory/map", n=512, b0=half, b1=half + 1_000_000)
    assert sum(part["cells"]["reserved"]) == 1_000_000
    assert part["cell_bytes"] < whole["cell_bytes"]
    assert part["reserved_bytes"] == whole["reserved_bytes"]
    private = get(asked, "/memory/map", pool="0,%201")
    assert (private["segments"], private["blocks"]["requested_bytes"]) == (1, [5000])
    assert private["stacks"][private["blocks"]["stack"][0]].endswith("/w/train.py(12): train")
    assert get(asked, "/memory/map", stream=99)["reserved_bytes"] == 0
    beyond = get(asked, "/memory/map", b0=1 << 60)
    assert (sum(beyond["cells"]["reserved"]), beyond["blocks"]["bytes"]) == (0, [])


def test_a_trace_without_segments_says_what_has_them() -> None:
    error = error_of(client().get(f"/memory/map?{WHERE}"))
    assert error.error.code == "not_found"


@pytest.mark.parametrize("by", ["line", "stack", "category", "operator", "parent", "module"])
def test_what_grew_is_what_the_curve_grew(asked: Client, by: str) -> None:
    found = get(asked, "/memory/changes", **SIDE_B, t=0, t2=400_000, by=by)
    rows = found["rows"]
    assert sum(rows["delta_bytes"]) == found["after_bytes"] - found["before_bytes"]
    same = get(asked, "/memory/changes", **SIDE_B, t=400_000, t2=400_000, by=by)
    assert set(same["rows"]["delta_bytes"]) == {0}
