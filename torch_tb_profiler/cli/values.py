"""What the command line's options accept; what they do not accept raises ``ArgumentTypeError``."""

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


def a_path(text: str) -> str:
    """A path or URL that is not empty."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the path is empty; . is the current folder")
    if text == "-":
        raise argparse.ArgumentTypeError(
            "standard input cannot be read: give a file (./- if that is its name)"
        )
    return text


def words(text: str) -> tuple[str, ...]:
    """Words between commas."""
    return tuple(word for part in text.split(",") if (word := part.strip()))


def positive(text: str) -> int:
    """A whole number of at least 1."""
    number = _number(text, int)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def event_number(text: str) -> int:
    """The number of an event, with or without ``#``."""
    number = _number(text.removeprefix("#"), int)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is not an event id")
    return number


def percentage(text: str) -> float:
    """A share in per cent, with or without the sign."""
    number = _number(text.removesuffix("%"), float)
    if not 0 <= number < 1e6:
        raise argparse.ArgumentTypeError(f"{text} is not a percentage of 0 or more")
    return number


def port(text: str) -> int:
    """A port; 0 is any free one."""
    number = _number(text, int)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{number} is not a port, expected 0 to 65535")
    return number
