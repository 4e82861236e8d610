"""Options may stand anywhere among the other arguments of a command."""

from __future__ import annotations

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.cli.main import _parser

CALLS = {
    "ask": (["why 7"], [["--json"], ["--steps", "0-1"]]),
    "sql": (["SELECT 1"], [["--csv"], ["--limit", "3"]]),
    "mcp": ([], [["--port", "7"]]),
    "summary": ([], [["--json"], ["--worker", "rank0"]]),
}


@given(st.sampled_from(sorted(CALLS)), st.data())
def test_the_order_of_options_and_words_is_free(name: str, data: st.DataObject) -> None:
    words, options = CALLS[name]
    positional = [".", *words]
    at = [data.draw(st.integers(0, len(positional))) for _ in options]
    mixed = [name]
    for place in range(len(positional) + 1):
        for option, where in zip(options, at, strict=True):
            mixed += option if where == place else []
        mixed += positional[place : place + 1]
    plain = [name, *positional, *chain.from_iterable(options)]
    first, second = (vars(_parser(given).parse_args(given)) for given in (plain, mixed))
    assert {**first, "run": 0, "refuse": 0} == {**second, "run": 0, "refuse": 0}
