"""Random calls and records, and what a program that looks at one after the other says about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.builders.allocator import records
from tests.builders.drawn import Event
from tests.builders.loop import span

NAMES = ("f", "g", "h")


@dataclass(frozen=True)
class Call:
    """An operator on one thread: times in µs, ``around``: the calls around it, innermost first."""

    name: str
    begin: int
    end: int
    around: tuple[Call, ...]


@st.composite
def calls(
    draw: st.DrawFn, begin: int = 0, end: int = 96, around: tuple[Call, ...] = ()
) -> list[Call]:
    """Operators that nest properly; two beside each other within every one, so that none is one
    with its only child.
    """
    found: list[Call] = []
    middle = draw(st.integers(begin + 1, end - 1))
    for low, high in ((begin, middle), (middle, end)):
        call = Call(draw(st.sampled_from(NAMES)), low, high, around)
        found.append(call)
        if high - low >= 12 and draw(st.booleans()):
            found += draw(calls(begin=low + 1, end=high - 1, around=(call, *around)))
    return found


RECORDS = st.lists(
    st.tuples(st.integers(0, 100), st.integers(0, 5), st.integers(1, 9), st.booleans()),
    min_size=1,
    max_size=40,
    unique_by=lambda record: record[0],
)
"""(time, address, bytes, whether it releases); times are distinct."""


def as_events(tree: list[Call], listed: list[tuple[int, int, int, bool]]) -> list[Event]:
    """The trace's entries."""
    operators: list[dict[str, Any]] = [
        span("cpu_op", c.name, 100, 1, c.begin, c.end - c.begin) for c in tree
    ]
    # Something at time 0, so that times of the trace are those written.
    first = span("user_annotation", "all", 100, 9, 0, 200)
    lines = [
        f"main {time} gpu0 {address or '-'} {-size if releases else size:+d}"
        for time, address, size, releases in sorted(listed)
    ]
    return [first, *operators, *records("\n".join(lines))]


def innermost(tree: list[Call], time: int) -> Call | None:
    """The innermost call that is open at a time."""
    return max(
        (c for c in tree if c.begin <= time < c.end), key=lambda c: len(c.around), default=None
    )
