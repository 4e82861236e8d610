"""Request parameters → typed values; whatever is wrong is said with the value that came and what
was expected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from torch_tb_profiler.errors import BadRequest

LARGEST_NS = (1 << 62) - 1
_STEP = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)
_TIME = re.compile(r"\d{1,19}", re.ASCII)
_LANES = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)
_SHOWN = 200

Word = TypeVar("Word", bound=str)


class Query(Protocol):
    """What werkzeug's ``request.args`` offers."""

    def getlist(self, key: str) -> Sequence[str]: ...


@dataclass(frozen=True)
class StepRange:
    """Steps by index, both included; None: from the first, to the last."""

    first: int | None
    last: int | None
    skip_cold: bool

    @property
    def key(self) -> str:
        """Equal for equal ranges: for caches."""
        return f"{self.first}-{self.last}-{self.skip_cold}"


def text(query: Query, name: str, *, longest: int = 4096) -> str:
    """A required text.

    Raises:
        BadRequest: it is missing, given twice, or longer than ``longest``. An empty one is a value:
            events may have no name.
    """
    value = optional_text(query, name, longest=longest)
    if value is None:
        raise BadRequest(f"Parameter {name} is missing.", f"Add {name}=... to the URL.")
    return value


def optional_text(query: Query, name: str, *, longest: int = 4096) -> str | None:
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


def word(query: Query, name: str, words: Sequence[Word], default: Word) -> Word:
    """One of some words.

    Raises:
        BadRequest: the value is none of them.
    """
    value = optional_text(query, name)
    if value is None:
        return default
    for known in words:
        if value == known:
            return known
    raise BadRequest(f"Parameter {name} is {shown(value)}, expected one of {', '.join(words)}.")


def switch(query: Query, name: str) -> bool:
    """``0`` or ``1``; not given is off.

    Raises:
        BadRequest: the value is something else.
    """
    return word(query, name, ("0", "1"), "0") == "1"


def step_range(query: Query, suffix: str = "") -> StepRange:
    """``steps=all``, ``steps=3`` or ``steps=3-7`` (indices, both included), ``skip_cold=0`` or
    ``1``; ``suffix`` stands behind both names.

    Raises:
        BadRequest: a value has another form, or the range runs backwards.
    """
    name = f"steps{suffix}"
    skip_cold = switch(query, f"skip_cold{suffix}")
    value = optional_text(query, name) or "all"
    if value == "all":
        return StepRange(None, None, skip_cold)
    match = _STEP.fullmatch(value)
    if match is None:
        raise BadRequest(
            f"Parameter {name} is {shown(value)}, expected all, an index like 3, or a range like"
            " 3-7.",
            "Take the indices from /steps.",
        )
    first = int(match.group(1))
    last = int(match.group(2)) if match.group(2) else first
    if last < first:
        raise BadRequest(
            f"Parameter {name} is {shown(value)}: the range runs backwards.",
            f"Write {last}-{first}.",
        )
    return StepRange(first, last, skip_cold)


def time_window(query: Query) -> tuple[int, int] | None:
    """``t0`` and ``t1``, ns after the trace's first event; None when neither is given.

    Raises:
        BadRequest: one is missing, no integer, or the window is empty.
    """
    start, end = (_time(query, name) for name in ("t0", "t1"))
    if start is None and end is None:
        return None
    if start is None or end is None:
        raise BadRequest(
            f"Parameter {'t0' if start is None else 't1'} is missing.",
            "A time window needs both t0 and t1.",
        )
    if end <= start:
        raise BadRequest(
            f"The time window from t0={start} to t1={end} is empty.", "t1 must be larger than t0."
        )
    return start, end


def _time(query: Query, name: str) -> int | None:
    value = optional_text(query, name)
    if value is None:
        return None
    if _TIME.fullmatch(value) is None or int(value) > LARGEST_NS:
        raise BadRequest(
            f"Parameter {name} is {shown(value)}, expected nanoseconds as an integer from 0 to"
            f" {LARGEST_NS}."
        )
    return int(value)


def integer(query: Query, name: str, lowest: int, highest: int, default: int | None = None) -> int:
    """A whole number within bounds, both included; required without a default.

    Raises:
        BadRequest: it is missing, no whole number, or out of bounds.
    """
    value = optional_text(query, name)
    if value is None and default is not None:
        return default
    found = text(query, name, longest=32) if value is None else value
    if _TIME.fullmatch(found) is None or not lowest <= int(found) <= highest:
        raise BadRequest(
            f"Parameter {name} is {shown(found)}, expected a whole number from {lowest} to"
            f" {highest}."
        )
    return int(found)


def integers(query: Query, name: str, lowest: int, highest: int, most: int) -> list[int]:
    """Distinct whole numbers separated by commas, in the order given, at least one and at most
    ``most``.

    Raises:
        BadRequest: it is missing, a part is no whole number or out of bounds, or there are too
            many.
    """
    parts = text(query, name, longest=1 << 16).split(",")
    if len(parts) > most:
        raise BadRequest(
            f"Parameter {name} holds {len(parts)} numbers, at most {most} are accepted."
        )
    for part in parts:
        if _TIME.fullmatch(part) is None or not lowest <= int(part) <= highest:
            raise BadRequest(
                f"Parameter {name} holds {shown(part)}, expected whole numbers from {lowest} to"
                f" {highest} separated by commas."
            )
    return list(dict.fromkeys(int(part) for part in parts))


def ranges(query: Query, name: str, count: int) -> list[int] | None:
    """Numbers below ``count`` as ranges, both ends included: ``0-3,7`` → 0, 1, 2, 3, 7, ascending;
    None when it is not given.

    Raises:
        BadRequest: a part has another form, runs backwards, or leaves the bounds.
    """
    value = optional_text(query, name, longest=1 << 16)
    if value is None:
        return None
    found: set[int] = set()
    for part in value.split(","):
        match = _LANES.fullmatch(part)
        first, last = (
            (int(match.group(1)), int(match.group(2) or match.group(1))) if match else (0, -1)
        )
        if last < first or last >= count:
            raise BadRequest(
                f"Parameter {name} holds {shown(part)}, expected numbers or ranges like 0-3,7 below"
                f" {count}."
            )
        found.update(range(first, last + 1))
    return sorted(found)


def shown(value: str) -> str:
    """A value as it appears in a message: quoted, without control characters, cut to a bearable
    length.
    """
    return repr(value[:_SHOWN] + ("…" if len(value) > _SHOWN else ""))


def file_name(name: str) -> str:
    """A name that is harmless in a header and on every file system."""
    harmless = re.sub(r"[^A-Za-z0-9._=+-]+", "_", name, flags=re.ASCII).lstrip(".")[-150:]
    return harmless or "trace.json"


def headers_of(name: str) -> Mapping[str, str]:
    """Headers of a download under a sanitised name."""
    return {"Content-Disposition": f'attachment; filename="{file_name(name)}"'}
