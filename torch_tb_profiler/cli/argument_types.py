"""What options of the command line hold: paths, numbers, names."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

_Number = TypeVar("_Number", int, float)


def _number(text: str, kind: Callable[[str], _Number]) -> _Number:
    try:
        return kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


STANDARD_INPUT = "-"


def path_or_input(text: str) -> str:
    """A path or URL, or ``-``: standard input."""
    return text if text == STANDARD_INPUT else path_or_url(text)


def path_or_url(text: str) -> str:
    """A path or URL, not empty and not standard input."""
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
    """Whole numbers between commas."""
    return tuple(_number(word, int) for word in words(text))


def positive(text: str) -> int:
    """A whole number from 1."""
    number = _number(text, int)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def event_number(text: str) -> int:
    """An event id, ``1234`` or ``#1234``."""
    number = _number(text.removeprefix("#"), int)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is not an event id")
    return number


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
