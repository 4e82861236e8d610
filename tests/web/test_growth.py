"""However large a trace is in one respect, every reply stays small: each time of names, steps and modules, every night of all."""

from __future__ import annotations

from random import Random

import pytest
from msgspec.structs import replace

from benchmarks.fuzz.check import questions
from tests.builders.drawn import trace_of
from tests.builders.grown import GROWN
from tests.views import hand_made
from tests.web.served import WrittenCatalogue, body, client
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.web.downloads import Download
from torch_tb_profiler.web.route import ROUTES

pytestmark = pytest.mark.slow
MOST_BYTES = 2 << 20
EACH_TIME = ("names", "steps", "modules")
ASKED_ONCE = ("steps", "earlier_first", "ranks")
"""What makes no reply larger."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in EACH_TIME else [pytest.mark.nightly])
        for name in GROWN
    ],
)
def test_replies_stay_small(name: str) -> None:
    make, n = GROWN[name]
    trace = trace_of(make(n))
    opened = replace(hand_made.opened(derive(trace)), trace=trace)
    asked, large = client(WrittenCatalogue(opened)), {}
    for path, query in questions(opened, Random(1)):
        if ROUTES[path].answers is Download or not query.keys().isdisjoint(ASKED_ONCE):
            continue
        response = asked.get(path, query_string=query)
        assert response.status_code in (200, 202, 400, 404, 409, 502), (path, query)
        size = len(body(response))
        if size > MOST_BYTES:
            large[path] = size
    assert large == {}
