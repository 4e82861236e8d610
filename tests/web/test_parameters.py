"""Kinds of parameters: every form of a value, and what is said of a wrong one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from werkzeug.datastructures import MultiDict

from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.web.parameters import (
    LARGEST_EVENT,
    LARGEST_NS,
    Kind,
    Names,
    OneOf,
    Ranges,
    StepRange,
    StepsOf,
    Switch,
    Text,
    Time,
    Whole,
    Wholes,
    WindowOf,
)

LONGEST_MESSAGE = 500
WORDS = OneOf("", words=("name", "shape"))
KINDS: dict[str, Kind] = {
    "text": Text(""),
    "q": Text("", longest=8),
    "group": WORDS,
    "switch": Switch(""),
    "kinds": Names(""),
    "n": Whole("", 1, 4096),
    "event": Whole(""),
    "t": Time(""),
    "k": Wholes("", most=3, highest=140),
    "lanes": Ranges("", highest=19),
    "steps": StepsOf(""),
    "window": WindowOf(""),
}
NO_NUMBERS = (
    "",
    " ",
    "x",
    "-1",
    "1.5",
    "1e3",
    "0x10",
    "٣",
    "²",
    "1_0",
    "+1",
    " 1",
    "1 ",
    "1\n",
    "NaN",
    "inf",
    "\x00",
    "1;drop",
    "99999999999999999999",
    "9" * 5000,
    "𝟙",
    "1\x00",
    "null",
    "true",
    "[]",
    "0,,1",
    ",",
    "0-",
    "-",
    "2-1",
    "0-99999999999",
)
RIGHT: list[tuple[str, str, Any]] = [
    ("text", "", ""),
    ("text", "<script>'\"%00", "<script>'\"%00"),
    ("text", "x" * 4096, "x" * 4096),
    ("q", "x" * 8, "x" * 8),
    ("group", "shape", "shape"),
    ("switch", "0", False),
    ("switch", "1", True),
    ("kinds", "launch,fwdbwd,launch", ["launch", "fwdbwd"]),
    ("n", "1", 1),
    ("n", "4096", 4096),
    ("n", "007", 7),
    ("event", str(LARGEST_EVENT), LARGEST_EVENT),
    ("t", "0", 0),
    ("t", str(LARGEST_NS), LARGEST_NS),
    ("k", "140,0,140", [140, 0]),
    ("lanes", "0-3,7,2-4", [0, 1, 2, 3, 4, 7]),
    ("lanes", "19", [19]),
    ("lanes", ",".join(["0-2"] * 10_000), [0, 1, 2]),
    ("steps", "all", StepRange(None, None, False)),
    ("steps", "", StepRange(None, None, False)),
    ("steps", "3", StepRange(3, 3, False)),
    ("steps", "3-7", StepRange(3, 7, False)),
    ("steps", "all&skip_cold=1", StepRange(None, None, True)),
    ("steps", "3&skip_cold=0", StepRange(3, 3, False)),
    ("window", "t0=0&t1=1", (0, 1)),
    ("window", f"t0=5&t1={LARGEST_NS}", (5, LARGEST_NS)),
]
WRONG: list[tuple[str, str, str]] = [
    ("q", "x" * 9, "Parameter q has 9 characters, at most 8 are accepted."),
    ("text", "x" * 4097, "Parameter text has 4097 characters, at most 4096 are accepted."),
    ("group", "everything", "Parameter group is 'everything', expected one of name, shape."),
    ("group", "", "Parameter group is '', expected one of name, shape."),
    ("group", "Name", "expected one of name, shape."),
    ("switch", "2", "Parameter switch is '2', expected one of 0, 1."),
    ("switch", "", "expected one of 0, 1."),
    ("switch", "yes", "expected one of 0, 1."),
    ("n", "0", "Parameter n is '0', expected a whole number from 1 to 4096."),
    ("n", "4097", "expected a whole number from 1 to 4096."),
    ("event", str(LARGEST_EVENT + 1), "Parameter event is"),
    ("t", str(LARGEST_NS + 1), "Parameter t is"),
    (
        "k",
        "141",
        "Parameter k holds '141', expected whole numbers from 0 to 140 separated by commas",
    ),
    ("k", "0,141", "Parameter k holds '141'"),
    ("k", "0,1,2,3", "Parameter k holds 4 numbers, at most 3 are accepted."),
    ("k", "0," * 40_000 + "0", "Parameter k has"),
    ("lanes", "20", "Parameter lanes holds '20', expected numbers or ranges like 0-3,7 below 20."),
    ("lanes", "0-20", "Parameter lanes holds '0-20'"),
    ("lanes", "3-2", "Parameter lanes holds '3-2'"),
    ("kinds", "x" * 5000, "Parameter kinds has"),
    ("steps", "x", "Parameter steps is 'x', expected all, an index like 3, or a range like 3-7."),
    ("steps", "-1", "Parameter steps is '-1'"),
    ("steps", "1-", "Parameter steps is '1-'"),
    ("steps", "1.5", "Parameter steps is"),
    ("steps", "2-1", "Parameter steps is '2-1': the range runs backwards."),
    ("steps", "9" * 20, "Parameter steps is"),
    ("steps", "٣", "Parameter steps is"),
    ("steps", "0\x00", "Parameter steps is"),
    ("steps", "1&skip_cold=", "Parameter skip_cold is ''"),
    ("steps", "1&skip_cold=yes", "Parameter skip_cold is 'yes', expected one of 0, 1."),
    ("steps", "1&skip_cold=2", "Parameter skip_cold is '2'"),
    ("window", "t0=1", "Parameter t1 is missing."),
    ("window", "t1=1", "Parameter t0 is missing."),
    ("window", "t0=5&t1=5", "The time window from t0=5 to t1=5 is empty."),
    ("window", "t0=6&t1=5", "The time window from t0=6 to t1=5 is empty."),
    ("window", f"t0=0&t1={LARGEST_NS + 1}", "Parameter t1 is"),
    ("window", f"t0={1 << 63}&t1=1", "Parameter t0 is"),
]


def asked(name: str, value: str) -> MultiDict[str, str]:
    """A query of one parameter; what is put behind ``&`` stands for others."""
    first, *more = value.split("&") if name in ("steps", "window") else (value,)
    pairs = [] if name == "window" else [(name, first)]
    texts = [first, *more] if name == "window" else more
    return MultiDict([*pairs, *(tuple(text.split("=", 1)) for text in texts)])  # type: ignore[list-item]


def refusal(kind: Kind, query: MultiDict[str, str], name: str) -> str:
    with pytest.raises(BadRequest) as caught:
        kind.read(query, name)
    assert len(caught.value.message) < LONGEST_MESSAGE
    return caught.value.message


@pytest.mark.parametrize("name", KINDS)
def test_right_values(name: str) -> None:
    for parameter, text, value in RIGHT:
        if parameter == name:
            assert KINDS[name].read(asked(name, text), name) == value, text


@pytest.mark.parametrize("name", KINDS)
def test_wrong_values(name: str) -> None:
    for parameter, text, message in WRONG:
        if parameter == name:
            assert message in refusal(KINDS[name], asked(name, text), name), text


@pytest.mark.parametrize("name", ["n", "event", "t", "k", "lanes"])
def test_what_is_no_number(name: str) -> None:
    for text in NO_NUMBERS:
        assert f"Parameter {name} " in refusal(KINDS[name], MultiDict([(name, text)]), name), text


@pytest.mark.parametrize("name", ["t0", "t1"])
def test_what_is_no_time(name: str) -> None:
    for text in NO_NUMBERS:
        query = MultiDict([*{"t0": "0", "t1": "9", name: text}.items()])
        assert f"Parameter {name} " in refusal(KINDS["window"], query, "window"), text


@pytest.mark.parametrize("name", KINDS)
def test_what_is_not_given(name: str) -> None:
    kind, nothing = KINDS[name], MultiDict[str, str]()
    if name == "steps":
        assert kind.read(nothing, name) == StepRange(None, None, False)
        return
    assert kind.read(nothing, name, None) is None
    first = "t0" if name == "window" else name
    assert refusal(kind, nothing, name) == f"Parameter {first} is missing."


@pytest.mark.parametrize("name", KINDS)
def test_what_is_given_twice(name: str) -> None:
    for entry in KINDS[name].entries(name):
        query = MultiDict([("t0", "0"), ("t1", "9")] if name == "window" else [])
        query.setlist(entry.name, ["0", "0"])
        message = refusal(KINDS[name], query, name)
        assert message == f"Parameter {entry.name} is given 2 times, expected once."


def test_steps_of_another_side() -> None:
    query = MultiDict([("steps", "9"), ("steps2", "1"), ("skip_cold2", "1")])
    assert KINDS["steps"].read(query, "steps2") == StepRange(1, 1, True, "steps2")
    assert [entry.name for entry in KINDS["steps"].entries("steps2")] == [
        "steps2",
        "skip_cold2",
        "step_kind2",
    ]


VALUES = st.one_of(
    st.text(max_size=40), st.integers(-(1 << 65), 1 << 65).map(str), st.sampled_from(NO_NUMBERS)
)


@settings(deadline=None)
@given(name=st.sampled_from([*KINDS]), given_values=st.lists(VALUES, max_size=2), other=VALUES)
def test_every_text_is_a_value_or_refused(name: str, given_values: list[str], other: str) -> None:
    query = MultiDict[str, str]([("t1", other), ("skip_cold", "0")])
    query.setlist("t0" if name == "window" else name, given_values)
    message = "Parameter "
    try:
        KINDS[name].read(query, name)
    except BadRequest as error:
        message = error.message
    assert message.startswith(("Parameter ", "The time window "))
    assert len(message) < LONGEST_MESSAGE
