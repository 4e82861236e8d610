"""The kinds of parameters of routes: how they are read, their errors, and their documentation.

A kind stands in the signature of a route's function (``route.py``)::

    def kernel(opened: Opened, steps: Steps, group: Annotated[KernelGroup, OneOf("…")] = "name")
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Protocol

from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.patterns import regex

LARGEST_NS = (1 << 62) - 1
LARGEST_EVENT = (1 << 31) - 1
REQUIRED = object()
"""Instead of a default: the parameter must be given."""
_WHOLE = regex(r"\d{1,19}", re.ASCII)
_RANGE = regex(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)
_SHOWN = 200


class Query(Protocol):
    """What werkzeug's ``request.args`` offers."""

    def getlist(self, key: str) -> Sequence[str]: ...


@dataclass(frozen=True)
class StepRange:
    """Steps by index, both included; None: the first, the last. ``name``: the parameter's; ``kind``: of this kind alone, where
    one is named.
    """

    first: int | None
    last: int | None
    skip_cold: bool
    name: str = "steps"
    kind: str = ""


@dataclass(frozen=True)
class OfTrace:
    """A limit that depends on the trace: its text in the documentation, and its value for an opened
    trace and the values of the parameters before it.
    """

    text: str
    limit: Callable[[Any, Mapping[str, Any]], int]


@dataclass(frozen=True)
class Entry:
    """One name of the query in the documentation and the page's types. ``words``: the only values;
    ``optional``: its default on every route.
    """

    name: str
    values: str
    doc: str
    words: tuple[str, ...] = ()
    optional: str | None = None


@dataclass(frozen=True)
class Kind(ABC):
    """A kind of parameter. ``doc``: one sentence. ``longest``: characters of a value. ``words``: the
    only values. ``most``: how many. ``page``: what the page always asks for, and a report keeps.
    """

    doc: str
    lowest: int = 0
    highest: int | OfTrace = LARGEST_EVENT
    most: int | None = None
    page: int | None = None
    words: tuple[str, ...] = ()
    whole_only: tuple[str, ...] = ()
    longest: int = 4096

    values: ClassVar[str] = ""
    """Possible values, for the documentation; fields in braces."""

    def read(self, query: Query, name: str, default: object = REQUIRED) -> Any:
        """The value, or the default when it is not given; an empty text is a value.

        Raises:
            BadRequest: it is missing, given twice, too long, or wrong.
        """
        value = optional_text(query, name, self.longest)
        if value is not None:
            return self.parse(name, value)
        if default is REQUIRED:
            raise BadRequest(f"Parameter {name} is missing.", f"Add {name}=... to the URL.")
        return default

    @abstractmethod
    def parse(self, name: str, value: str) -> Any:
        """The value of a text.

        Raises:
            BadRequest: it has another form or is out of bounds.
        """

    def bounded_integer(self, value: str) -> int | None:
        """A whole number within the bounds, both included; None for other texts."""
        assert isinstance(self.highest, int), "the trace was not asked for its limit"
        inside = _WHOLE.fullmatch(value) and self.lowest <= int(value) <= self.highest
        return int(value) if inside else None

    def entries(self, name: str) -> list[Entry]:
        """The names of the query that it reads."""
        known = {key: f"{value:,}" for key, value in vars(self).items() if isinstance(value, int)}
        if isinstance(self.highest, OfTrace):
            known["highest"] = self.highest.text
        values = ", ".join(f"`{word}`" for word in self.words) or self.values.format(**known)
        return [Entry(name, values, self.doc, self.words)]

    def asked(self, *, whole: bool) -> tuple[str, ...]:
        """The values that the page asks for and a report keeps. ``whole``: all steps are selected;
        ``whole_only`` are asked for only then.
        """
        return () if self.page is None else (str(self.page),)


class Text(Kind):
    """Any text."""

    values = "text of at most {longest} characters"

    def parse(self, name: str, value: str) -> str:
        return value


class OneOf(Kind):
    """One of the words of the declared ``Literal``."""

    def parse(self, name: str, value: str) -> Any:
        if value in self.words:
            return value
        expected = ", ".join(self.words)
        raise BadRequest(f"Parameter {name} is {shown(value)}, expected one of {expected}.")

    def asked(self, *, whole: bool) -> tuple[str, ...]:
        return tuple(word for word in self.words if whole or word not in self.whole_only)


@dataclass(frozen=True)
class Switch(OneOf):
    """``0`` or ``1``."""

    words: tuple[str, ...] = ("0", "1")

    def parse(self, name: str, value: str) -> bool:
        return bool(super().parse(name, value) == "1")

    def asked(self, *, whole: bool) -> tuple[str, ...]:
        return ()


EARLIER_FIRST = Switch(
    "A is the recording that was made before the other; two of one time stay as they are."
)


class Names(Kind):
    """Distinct texts separated by commas, in the order given."""

    values = "names separated by commas"

    def parse(self, name: str, value: str) -> list[str]:
        return list(dict.fromkeys(value.split(",")))


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number within bounds, both included; without bounds the number of an event."""

    longest: int = 32
    values = "{lowest} to {highest}"

    def parse(self, name: str, value: str) -> int:
        number = self.bounded_integer(value)
        if number is None:
            raise BadRequest(
                f"Parameter {name} is {shown(value)}, expected a whole number from {self.lowest} to"
                f" {self.highest}."
            )
        return number


@dataclass(frozen=True)
class Time(Whole):
    """Nanoseconds after the trace's first event."""

    highest: int | OfTrace = LARGEST_NS
    values = "ns"


@dataclass(frozen=True)
class Wholes(Kind):
    """One to ``most`` distinct whole numbers separated by commas, in the order given."""

    longest: int = 1 << 16
    values = "at most {most} numbers like `3,4,5`, 0 to {highest}"

    def parse(self, name: str, value: str) -> list[int]:
        parts = value.split(",")
        if self.most is not None and len(parts) > self.most:
            raise BadRequest(
                f"Parameter {name} holds {len(parts)} numbers, at most {self.most} are accepted."
            )
        numbers = {part: self.bounded_integer(part) for part in parts}
        for part, number in numbers.items():
            if number is None:
                raise BadRequest(
                    f"Parameter {name} holds {shown(part)}, expected whole numbers from"
                    f" {self.lowest} to {self.highest} separated by commas."
                )
        return list(dict.fromkeys(number for number in numbers.values() if number is not None))


@dataclass(frozen=True)
class Ranges(Kind):
    """Whole numbers as ranges, both ends included: ``0-3,7`` → 0, 1, 2, 3, 7, ascending."""

    longest: int = 1 << 16
    values = "numbers or ranges like `0-3,7`, 0 to {highest}"

    def parse(self, name: str, value: str) -> list[int]:
        assert isinstance(self.highest, int), "the trace was not asked for its limit"
        numbers: set[int] = set()
        for part in value.split(","):
            first, last = _ends(part) or (0, -1)
            if last < first or last > self.highest:
                raise BadRequest(
                    f"Parameter {name} holds {shown(part)}, expected numbers or ranges like 0-3,7"
                    f" below {self.highest + 1}."
                )
            numbers.update(range(first, last + 1))
        return sorted(numbers)


class StepsOf(Kind):
    """``steps=all``, ``3`` or ``3-7``, with ``skip_cold`` and ``step_kind`` (``steps2`` with ``skip_cold2`` and ``step_kind2``)."""

    values = "`all`, `3`, `3-7`"

    def read(self, query: Query, name: str, default: object = REQUIRED) -> StepRange:
        skip_cold = _SKIP_COLD.read(query, name.replace("steps", "skip_cold"), False)
        kind = _STEP_KIND.read(query, name.replace("steps", "step_kind"), "")
        value = optional_text(query, name) or "all"
        first, last = (None, None) if value == "all" else self.parse(name, value)
        return StepRange(first, last, skip_cold, name, kind)

    def parse(self, name: str, value: str) -> tuple[int, int]:
        ends = _ends(value)
        if ends is None:
            raise BadRequest(
                f"Parameter {name} is {shown(value)}, expected all, an index like 3, or a range"
                " like 3-7.",
                "Take the indices from /steps.",
            )
        if ends[1] < ends[0]:
            raise BadRequest(
                f"Parameter {name} is {shown(value)}: the range runs backwards.",
                f"Write {ends[1]}-{ends[0]}.",
            )
        return ends

    def entries(self, name: str) -> list[Entry]:
        cold = _SKIP_COLD.entries(name.replace("steps", "skip_cold"))
        kind = _STEP_KIND.entries(name.replace("steps", "step_kind"))
        all_three = zip(
            (*super().entries(name), *cold, *kind), ("`all`", "`0`", "all"), strict=True
        )
        return [replace(entry, optional=default) for entry, default in all_three]


class WindowOf(Time):
    """``t0`` and ``t1``, ns after the trace's first event: both, or with a default neither."""

    def read(self, query: Query, name: str, default: object = REQUIRED) -> Any:
        given = {part: optional_text(query, part) for part in ("t0", "t1")}
        if not any(value is not None for value in given.values()) and default is not REQUIRED:
            return default
        for part, value in given.items():
            if value is None:
                raise BadRequest(
                    f"Parameter {part} is missing.", "A time window needs both t0 and t1."
                )
        begin, end = (self.parse(part, value or "") for part, value in given.items())
        if end <= begin:
            raise BadRequest(
                f"The time window from t0={begin} to t1={end} is empty.",
                "t1 must be larger than t0.",
            )
        return begin, end

    def parse(self, name: str, value: str) -> int:
        time = self.bounded_integer(value)
        if time is None:
            raise BadRequest(
                f"Parameter {name} is {shown(value)}, expected nanoseconds as an integer from 0 to"
                f" {LARGEST_NS}."
            )
        return time

    def entries(self, name: str) -> list[Entry]:
        return [Entry("t0", "ns", self.doc), Entry("t1", "ns", "The end of it, not included.")]


_SKIP_COLD = Switch("Leave out the steps marked cold.")
_STEP_KIND = Text("Of these only steps of one kind, by its name in `/overview`.", longest=64)
STEPS = StepsOf(
    "Steps by their `step` in `/steps`, both ends included. What lies outside every step counts"
    " only where the trace marks no steps."
)
Steps = Annotated[StepRange, STEPS]
Window = Annotated[tuple[int, int], WindowOf("The begin of the window of time.")]


def optional_text(query: Query, name: str, longest: int = 4096) -> str | None:
    """A text, None when it is not given.

    Raises:
        BadRequest: it is given twice or longer than ``longest``.
    """
    values = query.getlist(name)
    if not values:
        return None
    if len(values) > 1:
        raise BadRequest(
            f"Parameter {name} is given {len(values)} times, expected once.", "Leave one."
        )
    if len(values[0]) > longest:
        raise BadRequest(
            f"Parameter {name} has {len(values[0])} characters, at most {longest} are accepted."
        )
    return values[0]


def shown(value: str) -> str:
    """A value in a message: quoted, escaped, cut."""
    return repr(value[:_SHOWN] + ("…" if len(value) > _SHOWN else ""))


def _ends(text: str) -> tuple[int, int] | None:
    """Both ends of ``3`` or ``3-7``."""
    match = _RANGE.fullmatch(text)
    return (int(match.group(1)), int(match.group(2) or match.group(1))) if match else None
