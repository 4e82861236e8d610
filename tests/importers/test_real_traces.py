"""The public traces: every event is stored or counted, and figures equal those of plain JSON."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests import public
from tests.conftest import REAL_TRACES
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.streams import open_text
from torch_tb_profiler.store import defects as d

FILES = sorted(REAL_TRACES.glob("*/*.json*"))
SAMPLE = 97
SOUND = {
    d.UNKNOWN_CATEGORY,
    d.NO_CATEGORY,
    d.FAR_EVENT,
    d.HEADER_LOST,
    d.DUPLICATE,
    d.WRONG_TYPE,
    d.BIG_INTEGER,
}
"""Counters that a healthy trace may have: they tell of what is in it, not of what was lost in
reading.
"""


def test_all_are_there(real_traces: Path) -> None:
    assert len(FILES) >= 28


@pytest.mark.parametrize("path", public.asked(FILES))
def test_every_event_is_stored_or_counted(path: Path, real_traces: Path) -> None:
    with open_text(Place(str(path))) as stream:
        trace = read_trace(stream, Settings())
    with open_text(Place(str(path))) as stream:
        text = b"".join(iter(lambda: stream.read(1 << 24), b""))
    whole = json.loads(text, parse_float=Decimal, strict=False)
    plain: list[dict[str, Any]] = whole if isinstance(whole, list) else whole["traceEvents"]
    assert trace.entries == len(plain)
    assert set(trace.defects.as_dict()) <= SOUND
    spans = trace["spans"]
    complete = [e for e in plain if e.get("ph") in ("X", "B")]
    assert spans.n + trace.defects[d.DUPLICATE] == len(complete)
    memory = [e for e in plain if e.get("ph") in ("i", "I") and e.get("name") == "[memory]"]
    flows = [e for e in plain if e.get("ph") in ("s", "t", "f")]
    points = [e for e in plain if e.get("ph") in ("i", "I", "R", "C")]
    assert (trace["memory"].n, trace["flows"].n) == (len(memory), len(flows))
    assert trace["instants"].n + trace["memory"].n + trace.defects[d.FAR_EVENT] == len(points)
    for row in range(0, spans.n, SAMPLE):
        event = plain[int(spans["ordinal"][row])]
        args = event.get("args") or {}
        assert trace.strings[int(spans["name"][row])] == event["name"]
        assert int(spans["start"][row]) + trace.origin_ns == _ns(event["ts"])
        if event["ph"] == "X":
            assert int(spans["dur"][row]) == _ns(event["dur"])
        if event.get("cat") not in ("python_function",):
            assert int(spans["correlation"][row]) == args.get("correlation", -1)


def _ns(value: Any) -> int:
    return int((Decimal(value) * 1000).to_integral_value(rounding="ROUND_HALF_UP"))
