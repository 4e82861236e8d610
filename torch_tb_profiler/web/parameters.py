"""The kinds of parameters that a route can declare: how a value is read from the query, what is said
of a wrong one, and what the documentation and the page are told of it.

A kind stands in the signature of a route's function (``route.py``)::

    def kernel(opened: Opened, steps: Steps, group: Annotated[KernelGroup, OneOf("…")] = "name")
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Protocol, cast

from torch_tb_profiler.errors import BadRequest

LARGEST_NS = (1 << 62) - 1
LARGEST_EVENT = (1 << 31) - 1
REQUIRED = object()
"""Instead of a default: the parameter must be given."""
_WHOLE = re.compile(r"\d{1,19}", re.ASCII)
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)
_SHOWN = 200


class Query(Protocol):
    """What werkzeug's ``request.args`` offers."""

    def getlist(self, key: str) -> Sequence[str]: ...


@dataclass(frozen=True)
class StepRange:
    """Steps by index, both included; None: from the first, to the last. ``name``: that of the
    parameter.
    """

    first: int | None
    last: int | None
    skip_cold: bool
    name: str = "steps"


@dataclass(frozen=True)
class OfTrace:
    """A limit that depends on the trace: what the documentation says of it, and what it is for an
    opened trace and the values of the parameters before it.
    """

    text: str
    of: Callable[[Any, Mapping[str, Any]], int]


@dataclass(frozen=True)
class Entry:
    """One name of the query as the documentation and the page's types show it. ``words``: the only
    values, if there are such. ``optional``: what holds without it, where that does not depend on the
    route.
    """

    name: str
    values: str
    doc: str
    words: tuple[str, ...] = ()
    optional: str | None = None


@dataclass(frozen=True)
class Kind(ABC):
    """A kind of parameter. ``doc``: one sentence about this one."""

    doc: str

    longest = 4096
    """Characters that a value may have."""

    def read(self, query: Query, name: str, default: object = REQUIRED) -> Any:
        """The value, or the default when it is not given. An empty text is a value: events may have
        no name.

        Raises:
            BadRequest: it is missing, given twice, too long, or wrong.
        """
        value = optional_text(query, name, longest=self.longest)
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

    @property
    @abstractmethod
    def values(self) -> str:
        """What may be given, for the documentation."""

    @property
    def limit(self) -> int | OfTrace | None:
        """The largest number, or the number that none may reach."""
        return None

    @property
    def most_asked(self) -> int | None:
        """The number that the page has to know: how large or how many, or what it always asks for."""
        return None

    def limited(self, limit: int) -> Kind:
        """The same with the limit of an opened trace."""
        return self

    def of_type(self, hint: Any) -> Kind:
        """The same for the declared type of the value."""
        return self

    def asked(self, *, whole: bool) -> tuple[str, ...]:
        """The values that the page asks for and a report keeps, if it always gives one. ``whole``:
        all steps are chosen.
        """
        return ()

    def entries(self, name: str) -> list[Entry]:
        """The names of the query that it reads."""
        return [Entry(name, self.values, self.doc)]


@dataclass(frozen=True)
class Text(Kind):
    """Any text of bounded length."""

    longest: int = 4096

    @property
    def values(self) -> str:
        return "text" if self.longest >= 1 << 16 else f"text of at most {self.longest:,} characters"

    def parse(self, name: str, value: str) -> str:
        return value


@dataclass(frozen=True)
class OneOf(Kind):
    """One of the words of a ``Literal`` type. ``whole_only``: the report asks for these words only
    with all steps.
    """

    words: tuple[str, ...] = ()
    whole_only: tuple[str, ...] = ()

    @property
    def values(self) -> str:
        return ", ".join(f"`{word}`" for word in self.words)

    def of_type(self, hint: Any) -> OneOf:
        return replace(self, words=hint.__args__)

    def asked(self, *, whole: bool) -> tuple[str, ...]:
        return tuple(word for word in self.words if whole or word not in self.whole_only)

    def parse(self, name: str, value: str) -> str:
        if value in self.words:
            return value
        expected = ", ".join(self.words)
        raise BadRequest(f"Parameter {name} is {shown(value)}, expected one of {expected}.")

    def entries(self, name: str) -> list[Entry]:
        return [Entry(name, self.values, self.doc, self.words)]


@dataclass(frozen=True)
class Switch(OneOf):
    """``0`` or ``1``."""

    words: tuple[str, ...] = ("0", "1")

    def of_type(self, hint: Any) -> Switch:
        return self

    def asked(self, *, whole: bool) -> tuple[str, ...]:
        return ()

    def parse(self, name: str, value: str) -> Any:
        return super().parse(name, value) == "1"


@dataclass(frozen=True)
class Names(Kind):
    """Distinct texts separated by commas, in the order given."""

    values = "names separated by commas"

    def parse(self, name: str, value: str) -> list[str]:
        return list(dict.fromkeys(value.split(",")))


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number within bounds, both included. ``page``: what the page asks for, and the report
    keeps, instead of the default.
    """

    lowest: int
    highest: int | OfTrace
    page: int | None = None

    longest = 32

    @property
    def values(self) -> str:
        return f"{self.lowest:,} to {_limit_text(self.highest)}"

    @property
    def limit(self) -> int | OfTrace:
        return self.highest

    def asked(self, *, whole: bool) -> tuple[str, ...]:
        return () if self.page is None else (str(self.page),)

    @property
    def most_asked(self) -> int | None:
        if self.page is not None:
            return self.page
        known = isinstance(self.highest, int) and self.highest < LARGEST_EVENT
        return cast(int, self.highest) if known else None

    def limited(self, limit: int) -> Whole:
        return replace(self, highest=limit)

    def parse(self, name: str, value: str) -> int:
        if _WHOLE.fullmatch(value) and self.lowest <= int(value) <= _known(self.highest):
            return int(value)
        raise BadRequest(
            f"Parameter {name} is {shown(value)}, expected a whole number from {self.lowest} to"
            f" {self.highest}."
        )


@dataclass(frozen=True)
class Event(Whole):
    """A number of an event; whether there is such a one is not known here."""

    lowest: int = 0
    highest: int | OfTrace = LARGEST_EVENT
    values = "number of an event"


@dataclass(frozen=True)
class Time(Whole):
    """Nanoseconds after the trace's first event."""

    lowest: int = 0
    highest: int | OfTrace = LARGEST_NS
    values = "ns"


@dataclass(frozen=True)
class Wholes(Kind):
    """Distinct whole numbers from 0 on, separated by commas, in the order given: at least one and at
    most ``most``.
    """

    most: int
    highest: int | OfTrace

    longest = 1 << 16

    @property
    def values(self) -> str:
        return f"at most {self.most:,} numbers like `3,4,5`, 0 to {_limit_text(self.highest)}"

    @property
    def limit(self) -> int | OfTrace:
        return self.highest

    @property
    def most_asked(self) -> int:
        return self.most

    def limited(self, limit: int) -> Wholes:
        return replace(self, highest=limit)

    def parse(self, name: str, value: str) -> list[int]:
        parts = value.split(",")
        if len(parts) > self.most:
            raise BadRequest(
                f"Parameter {name} holds {len(parts)} numbers, at most {self.most} are accepted."
            )
        for part in parts:
            if _WHOLE.fullmatch(part) is None or int(part) > _known(self.highest):
                raise BadRequest(
                    f"Parameter {name} holds {shown(part)}, expected whole numbers from 0 to"
                    f" {self.highest} separated by commas."
                )
        return list(dict.fromkeys(int(part) for part in parts))


@dataclass(frozen=True)
class Ranges(Kind):
    """Whole numbers below ``count`` as ranges, both ends included: ``0-3,7`` → 0, 1, 2, 3, 7,
    ascending.
    """

    count: int | OfTrace

    longest = 1 << 16
    values = "numbers or ranges like `0-3,7`"

    @property
    def limit(self) -> int | OfTrace:
        return self.count

    def limited(self, limit: int) -> Ranges:
        return replace(self, count=limit)

    def parse(self, name: str, value: str) -> list[int]:
        numbers: set[int] = set()
        for part in value.split(","):
            match = _RANGE.fullmatch(part)
            first, last = (
                (int(match.group(1)), int(match.group(2) or match.group(1))) if match else (0, -1)
            )
            if last < first or last >= _known(self.count):
                raise BadRequest(
                    f"Parameter {name} holds {shown(part)}, expected numbers or ranges like 0-3,7"
                    f" below {self.count}."
                )
            numbers.update(range(first, last + 1))
        return sorted(numbers)


_SKIP_COLD = Switch("Leave out the steps marked cold.")


@dataclass(frozen=True)
class StepsOf(Kind):
    """``steps=all``, ``steps=3`` or ``steps=3-7`` with ``skip_cold``; what stands behind the name
    ``steps`` stands behind both.
    """

    values = "`all`, `3`, `3-7`"

    def read(self, query: Query, name: str, default: object = REQUIRED) -> StepRange:
        skip_cold = _SKIP_COLD.read(query, name.replace("steps", "skip_cold"), False)
        value = optional_text(query, name) or "all"
        first, last = (None, None) if value == "all" else self.parse(name, value)
        return StepRange(first, last, skip_cold, name)

    def parse(self, name: str, value: str) -> tuple[int, int]:
        match = _RANGE.fullmatch(value)
        if match is None:
            raise BadRequest(
                f"Parameter {name} is {shown(value)}, expected all, an index like 3, or a range"
                " like 3-7.",
                "Take the indices from /steps.",
            )
        first, last = int(match.group(1)), int(match.group(2) or match.group(1))
        if last < first:
            raise BadRequest(
                f"Parameter {name} is {shown(value)}: the range runs backwards.",
                f"Write {last}-{first}.",
            )
        return first, last

    def entries(self, name: str) -> list[Entry]:
        cold = _SKIP_COLD.entries(name.replace("steps", "skip_cold"))
        both = zip((*super().entries(name), *cold), ("`all`", "`0`"), strict=True)
        return [replace(entry, optional=default) for entry, default in both]


@dataclass(frozen=True)
class WindowOf(Kind):
    """``t0`` and ``t1``, ns after the trace's first event: both, or with a default neither."""

    values = "ns"

    def read(self, query: Query, name: str, default: object = REQUIRED) -> Any:
        start, end = (optional_text(query, part) for part in ("t0", "t1"))
        if start is None and end is None:
            if default is not REQUIRED:
                return default
            raise BadRequest("Parameter t0 is missing.", "Add t0=... and t1=... to the URL.")
        if start is None or end is None:
            raise BadRequest(
                f"Parameter {'t0' if start is None else 't1'} is missing.",
                "A time window needs both t0 and t1.",
            )
        begin, finish = self.parse("t0", start), self.parse("t1", end)
        if finish <= begin:
            raise BadRequest(
                f"The time window from t0={begin} to t1={finish} is empty.",
                "t1 must be larger than t0.",
            )
        return begin, finish

    def parse(self, name: str, value: str) -> int:
        if _WHOLE.fullmatch(value) is None or int(value) > LARGEST_NS:
            raise BadRequest(
                f"Parameter {name} is {shown(value)}, expected nanoseconds as an integer from 0 to"
                f" {LARGEST_NS}."
            )
        return int(value)

    def entries(self, name: str) -> list[Entry]:
        return [
            Entry("t0", "ns", self.doc),
            Entry("t1", "ns", "The end of it, which is not part of it."),
        ]


STEPS = StepsOf(
    "Steps by their `index` in `/steps`, both ends included. `all` without `skip_cold` also counts"
    " what lies outside every step."
)
Steps = Annotated[StepRange, STEPS]
Window = Annotated[tuple[int, int], WindowOf("The begin of the window of time.")]


def optional_text(query: Query, name: str, *, longest: int = Kind.longest) -> str | None:
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
    """A value as it appears in a message: quoted, without control characters, cut to a bearable
    length.
    """
    return repr(value[:_SHOWN] + ("…" if len(value) > _SHOWN else ""))


def _known(limit: int | OfTrace) -> int:
    assert isinstance(limit, int), "the trace was not asked for its limit"
    return limit


def _limit_text(limit: int | OfTrace) -> str:
    return f"{limit:,}" if isinstance(limit, int) else limit.text
