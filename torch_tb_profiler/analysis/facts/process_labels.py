"""Labels that a program which merges files writes beside each process id, so that ranks stay apart.

::

    [TP00] 100    [TP00] 0    [TP01] 100    [TP01] 0        labels [TP00], [TP01]
    100 (rank 0)  0 (rank 0)  101 (rank 1)  1 (rank 1)      labels (rank 0), (rank 1)
    Host 1        Device 0                                  none: the work of "Device" has no host
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from torch_tb_profiler.store.columns import Mask

_BRACKETS = r"\[[^\]]{1,80}\]|\([^)]{1,80}\)|\{[^}]{1,80}\}|<[^>]{1,80}>"
_RANK = re.compile(r"(?<![a-zA-Z])rank[-_=.: #]?\d{1,7}", re.IGNORECASE | re.ASCII)
_PLACES = re.compile(
    r"(?<![a-zA-Z])(?:d?cp|dp|ep|etp|pp|sp|tp)[-_=]?\d{1,6}"
    r"(?:[-_., ](?:d?cp|dp|ep|etp|pp|sp|tp)[-_=]?\d{1,6})*",
    re.IGNORECASE | re.ASCII,
)
_LEADING = re.compile(rf"^\s*(?:{_BRACKETS})")
_TRAILING = re.compile(rf"(?:{_BRACKETS})\s*$")
_NUMBER = re.compile(r"\d+", re.ASCII)
_EDGE = re.compile(r"^[\s\[\](){}<>:;,_/|@#.=-]+|[\s\[\](){}<>:;,_/|@#.=-]+$")
LONGEST = 200
"""Characters of a process id that a label is looked for in."""


def labels_of(
    processes: Sequence[str], host: Mask, device: Mask, *, named: bool = False
) -> list[str] | None:
    """The label of each process id, ``""`` for one without; None where labels tell no ranks apart.

    A form of label counts if each process of a host has one, there are at least two, and every one that has work of a device
    has both; of several such forms the one with most labels is taken. Where only some
    or none have work of a device, they must differ in their numbers alone.

    Args:
        processes: distinct process ids as texts.
        host, device: whether each has work of a host, and of a device.
        named: the texts are names of processes, in which any number is no label.
    """
    forms = _FORMS[:_NAMING] if named else _FORMS
    # In pure numbers nothing tells what is a label.
    if all(_NUMBER.fullmatch(text) for text in processes) or not host.any():
        return None
    told = [[form(text) if len(text) <= LONGEST else "" for text in processes] for form in forms]
    found = [labels for labels in told if _tell_apart(labels, host, device)]
    if not found:
        return None
    labels = max(found, key=lambda each: len(set(each))) if device.any() else found[0]
    return _completed(processes, labels, host)


def clean(label: str) -> str:
    """A label without brackets and separators at its ends."""
    return _EDGE.sub("", label)


def _completed(processes: Sequence[str], labels: Sequence[str], host: Mask) -> list[str]:
    """The labels, with those of processes of neither host nor device that begin or end with one."""
    known = {text for text, is_host in zip(labels, host, strict=True) if is_host and text}
    return [
        label
        if label in known
        else next((k for k in known if text.startswith(k) or text.endswith(k)), "")
        for text, label in zip(processes, labels, strict=True)
    ]


def _tell_apart(labels: Sequence[str], host: Mask, device: Mask) -> bool:
    of_host = {text for text, is_host in zip(labels, host, strict=True) if is_host}
    of_device = {text for text, is_device in zip(labels, device, strict=True) if is_device}
    if len(of_host) < 2 or not of_device <= of_host:
        return False
    if "" in of_host:
        # Odd ids beside plain ones are damaged ones, no labels.
        return False
    return of_device == of_host or len({_NUMBER.sub("#", text) for text in of_host}) == 1


def _matching(pattern: re.Pattern[str]) -> Callable[[str], str]:
    return lambda text: match[0].strip() if (match := pattern.search(text)) else ""


def _without_last_number(text: str) -> str:
    numbers = list(_NUMBER.finditer(text))
    if not numbers:
        return ""
    return f"{text[: numbers[-1].start()]}{text[numbers[-1].end() :]}".strip()


def _without_first_number(text: str) -> str:
    return _NUMBER.sub("", text, count=1).strip()


_FORMS: tuple[Callable[[str], str], ...] = (
    _matching(_PLACES),
    _matching(_RANK),
    _matching(_LEADING),
    _matching(_TRAILING),
    _without_last_number,
    _without_first_number,
)
"""From a process id to its label."""
_NAMING = 4
"""The first forms name a rank or stand in brackets."""
