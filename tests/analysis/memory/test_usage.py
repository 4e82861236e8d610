"""Statistics per operator and module, against a program that walks up from every record."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.memory.recorded import built, case
from tests.analysis.memory.simulated import RECORDS, Call, as_events, calls, innermost
from tests.builders.drawn import trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.memory.usage import Usage, calls_in, usage
from torch_tb_profiler.store.insight import Insight

US = 1000
Row = tuple[int, int, int, int, int, int]


def rows(found: Insight, used: Usage) -> dict[str, Row]:
    """By name: increase, allocations, bytes allocated, and the same three by itself."""
    columns = (
        used.increase,
        used.allocations,
        used.allocated,
        used.self_increase,
        used.self_allocations,
        used.self_allocated,
    )
    names = found.strings.many(used.name)
    return {name: tuple(int(column[row]) for column in columns) for row, name in enumerate(names)}  # type: ignore[misc]


MODULES = """
    main  /nn.Module: Block_0                              /
    main     /nn.Module: Linear_0   / /nn.Module: Linear_1/
    main        [aten::mm     ]         [aten::mm  ]
"""


def test_calls_are_those_of_the_window_whether_or_not_they_allocated() -> None:
    trace, facts, found = case(
        "main 14 gpu0 a +1",
        """
        main    [aten::mm     ]   [aten::mm     ]  [aten::mm   ]
        main       [aten::mm]
        """,
    )
    number = found.strings.number("aten::mm")

    def of(window: tuple[int, int] | None) -> int:
        counted = calls_in(trace, facts, found, window, "operator")
        assert counted is not None
        return int(counted[number])

    # From 8 to 23, 26 to 41, 43 to 56; the second row's is one with what is around it.
    assert of(None) == 3
    assert (
        of((0, 8 * US)),
        of((0, 8 * US + 1)),
        of((22 * US, 27 * US)),
        of((23 * US, 26 * US)),
        of((0, 99 * US)),
    ) == (0, 1, 2, 0, 3)


def test_calls_of_modules_in_a_window() -> None:
    trace, facts, found = case("main 14 gpu0 a +1", MODULES)

    def of(window: tuple[int, int] | None, name: str) -> int:
        counted = calls_in(trace, facts, found, window, "module")
        assert counted is not None
        return int(counted[found.strings.number(name)])

    assert [of(None, name) for name in ("Block_0", "Linear_0", "Linear_1")] == [1, 1, 1]
    assert [of((10 * US, 20 * US), name) for name in ("Block_0", "Linear_0", "Linear_1")] == [
        1,
        1,
        0,
    ]


def expected(
    tree: list[Call], listed: list[tuple[int, int, int, bool]], window: tuple[int, int]
) -> tuple[dict[str, Row], int, int]:
    """Usage by walking up from every record; a name is counted once on each way."""
    total: dict[str, Counter[str]] = {}
    own: dict[str, Counter[str]] = {}
    outside = outside_increase = 0
    for time, _, size, releases in listed:
        if not window[0] <= time < window[1]:
            continue
        change = Counter(
            increase=-size if releases else size,
            count=0 if releases else 1,
            bytes=0 if releases else size,
        )
        call = innermost(tree, time)
        if call is None:
            outside, outside_increase = (
                outside + change["bytes"],
                outside_increase + change["increase"],
            )
            continue
        for name in {call.name, *(c.name for c in call.around)}:
            total.setdefault(name, Counter()).update(change)
        own.setdefault(call.name, Counter()).update(change)
    keys = ("increase", "count", "bytes")
    found = {
        name: (*(sums[key] for key in keys), *(own.get(name, Counter())[key] for key in keys))
        for name, sums in total.items()
    }
    return found, outside, outside_increase  # type: ignore[return-value]


@examples(150)
@given(calls(), RECORDS, st.tuples(st.integers(0, 100), st.integers(1, 100)))
def test_sums_are_those_of_a_walk_from_every_record(
    tree: list[Call], listed: list[tuple[int, int, int, bool]], where: tuple[int, int]
) -> None:
    trace = trace_of(as_events(tree, listed))
    found = built(trace, derive(trace))
    for window in (None, (where[0] * US, (where[0] + where[1]) * US)):
        used = usage(found, 0, window, "operator")
        low, high = (0, 1000) if window is None else (where[0], where[0] + where[1])
        assert (rows(found, used), used.outside, used.outside_increase) == expected(
            tree, listed, (low, high)
        )
        changed = sum(
            -size if releases else size for time, _, size, releases in listed if low <= time < high
        )
        assert int(used.self_increase.sum()) + used.outside_increase == changed
