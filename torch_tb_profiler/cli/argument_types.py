"""What options of the command line hold: paths, numbers, names."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TypeVar

_Number = TypeVar("_Number", int, float)


def _number(text: str, kind: Callable[[str], _Number]) -> _Number:
    try:
        return kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


STANDARD_INPUT = "-"
LONGEST_SECONDS = 86_400


def path_or_input(text: str) -> str:
    """A path or URL, or ``-``: standard input."""
    return text if text == STANDARD_INPUT else path_or_url(text)


def path_or_url(text: str) -> str:
    """A path or URL, not empty and not standard input."""
    if "\0" in text:
        raise argparse.ArgumentTypeError("the path holds a NUL, which no path does")
    if not text.strip():
        raise argparse.ArgumentTypeError("the path is empty; . is the current folder")
    if text == STANDARD_INPUT:
        raise argparse.ArgumentTypeError(
            "standard input cannot be read: give a file (./- if that is its name)"
        )
    return text


def words(text: str) -> tuple[str, ...]:
    """Names between commas."""
    return tuple(word for part in text.split(",") if (word := part.strip()))


def numbers(text: str) -> tuple[int, ...]:
    """Whole numbers from 0 between commas."""
    return tuple(map(whole, words(text)))


def whole(text: str, lowest: int = 0) -> int:
    """A whole number from 0."""
    number = _number(text, int)
    if number < lowest:
        raise argparse.ArgumentTypeError(f"{text} is less than {lowest}")
    if number > sys.maxsize:
        raise argparse.ArgumentTypeError(f"the number is larger than {sys.maxsize}")
    return number


def positive(text: str) -> int:
    """A whole number from 1."""
    return whole(text, 1)


def seconds(text: str) -> float:
    """A time above 0, at most a day."""
    number = _number(text, float)
    if not 0 < number <= LONGEST_SECONDS:
        raise argparse.ArgumentTypeError(
            f"{text} is no number of seconds above 0, at most {LONGEST_SECONDS}"
        )
    return number


def event_number(text: str) -> int:
    """An event id, ``1234`` or ``#1234``."""
    return whole(text.removeprefix("#"))


def percent(text: str) -> float:
    """A percentage, with or without its sign."""
    number = _number(text.removesuffix("%"), float)
    if not 0 <= number < 1e6:
        raise argparse.ArgumentTypeError(f"{text} is not a percentage of 0 or more")
    return number


def port(text: str) -> int:
    """A port; 0 is any."""
    number = _number(text, int)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{number} is not a port, expected 0 to 65535")
    return number
