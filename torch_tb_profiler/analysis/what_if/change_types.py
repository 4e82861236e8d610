"""What a change is: its name, its parameters, its stage, and its text.

A change is written ``name`` or ``name:key=value,key=value``, e.g. ``scale:operator=aten::mm,factor=0.5``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import msgspec
import numpy as np

from torch_tb_profiler.analysis.critical_path.table import KINDS
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.replay import Durations
from torch_tb_profiler.analysis.what_if.stages import Stage
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.units import format_share

Values = Mapping[str, str]
Apply = Callable[[Scene, Durations, Values], None]


class Change(msgspec.Struct, frozen=True):
    """A kind of change.

    name, words: what it is called and what it does; parameters in braces. apply: does it. stage: when, among others.
    defaults: its parameters; one without a default is empty. about: what each means. of_run: it compares ranks.
    """

    name: str
    words: str
    apply: Apply
    stage: Stage
    defaults: Values = msgspec.field(default_factory=dict)
    about: Values = msgspec.field(default_factory=dict)
    of_run: bool = False


CHANGES: dict[str, Change] = {}
"""All changes by name."""


def change(
    key: str, words: str, stage: Stage, /, *, of_run: bool = False, **parameters: tuple[str, str]
) -> Callable[[Apply], Apply]:
    """Declares a change; ``parameters``: default and meaning of each."""

    def declare(apply: Apply) -> Apply:
        defaults = {name: default for name, (default, _) in parameters.items()}
        about = {name: meaning for name, (_, meaning) in parameters.items()}
        CHANGES[key] = Change(key, words, apply, stage, defaults, about, of_run)
        return apply

    return declare


class Applied(msgspec.Struct, frozen=True):
    """A change with its values."""

    change: Change
    values: Values

    def __str__(self) -> str:
        """The text that ``read_change`` reads as this change, also between others of ``read_changes``."""
        given = [
            f"{key}={_escaped(value, self.change.defaults)}"
            for key, value in self.values.items()
            if value != self.change.defaults[key] or value not in ("", "*")
        ]
        return ":".join([self.change.name, *([",".join(given)] if given else [])])

    @property
    def words(self) -> str:
        """What it does, in words."""
        selected = [f"{key} {self.values[key]}" for key in SELECTORS if self.values.get(key)]
        every = {
            f"of_{key}": "" if value == "*" else f" of {value}"
            for key, value in self.values.items()
        }
        texts = {**self.values, **every, "chosen": ", ".join(selected)}
        if "share" in texts:
            texts["share"] = format_share(float(texts["share"]))
        return self.change.words.format_map(texts)


def read_change(text: str) -> Applied:
    """A change from its text.

    Raises:
        BadRequest: there is no such change or parameter, or its value is not one.
    """
    name, _, rest = text.partition(":")
    change = CHANGES.get(name)
    if change is None:
        raise BadRequest(f"No change is called {name!r}. There are: {', '.join(CHANGES)}.")
    values = dict(change.defaults)
    # Names of kernels hold commas, too: only one before a parameter's name ends a value.
    for part in _split(rest, _before_key(change.defaults)) if rest else []:
        key, equals, value = part.partition("=")
        if not equals or key not in values:
            known = ", ".join(values) or "none"
            raise BadRequest(f"The change {name} has no parameter {key!r}. It has: {known}.")
        values[key] = _plain(value, change.defaults)
    for key in NUMBERS:
        if key in values:
            _number(name, key, values[key])
    if set(SELECTORS) & set(values) and not any(values[key] for key in SELECTORS if key in values):
        selectors = ", ".join(key for key in SELECTORS if key in values)
        raise BadRequest(f"The change {name} needs one of: {selectors}.")
    if values.get("kind") and values["kind"] not in KINDS:
        raise BadRequest(f"No kind is called {values['kind']!r}. There are: {', '.join(KINDS)}.")
    return Applied(change, values)


def read_changes(text: str) -> list[Applied]:
    """Changes from their texts, separated by semicolons.

    Raises:
        BadRequest: there is no such change, or there are more than ``MOST``.
    """
    # Names of functions hold semicolons, too: only one before a change's name ends the one before.
    texts = _split(text, _before_change()) if text else []
    if len(texts) > MOST:
        raise BadRequest(
            f"{len(texts)} changes are given, at most {MOST} are simulated together.",
            "Join some by wildcards.",
        )
    return [read_change(each) for each in texts]


MOST = 32
SELECTORS = ("kernel", "operator", "module", "line", "name", "kind")
"""Parameters that say what a change is about."""
NUMBERS = ("factor", "share", "within", "size")
"""Parameters that are numbers."""
_LARGEST = 1_000
_LARGEST_OF = {"within": 1_000_000, "size": 1_000_000}


def _before_key(defaults: Values) -> str:
    """What separates the parameters of a change: a comma and, after it, the name of one."""
    return rf",(?=(?:{'|'.join(map(re.escape, defaults)) or '$^'})=)"


def _before_change() -> str:
    # A backslash after the name may belong to the next separator.
    return rf";(?=(?:{'|'.join(map(re.escape, CHANGES))})(?:[:;\\]|$))"


# A separator after an odd number of backslashes is part of a value; one after an even number separates, and half of
# them belong to the value before. Backslashes anywhere else are plain.


def _split(text: str, separator: str) -> list[str]:
    """The parts between separators that no backslash takes the meaning of; those of the others stay."""
    parts, begin = [], 0
    for found in re.finditer(rf"(\\*){separator}", text):
        if len(found[1]) % 2 == 0:
            parts.append(text[begin : found.end() - 1])
            begin = found.end()
    return [*parts, text[begin:]]


def _escaped(value: str, defaults: Values) -> str:
    for separator in (_before_key(defaults), _before_change()):
        value = re.sub(rf"(\\*)({separator})", lambda m: m[1] * 2 + "\\" + m[2], value)
    return re.sub(r"\\+$", lambda m: m[0] * 2, value)


def _plain(value: str, defaults: Values) -> str:
    """The value that ``_escaped`` wrote."""
    # At the end a single backslash, as people write it, stands for itself.
    value = re.sub(r"\\+$", lambda m: "\\" * ((len(m[0]) + 1) // 2), value)
    for separator in (_before_change(), _before_key(defaults)):
        value = re.sub(
            rf"(\\+)({separator})", lambda m: "\\" * ((len(m[1]) - 1) // 2) + m[2], value
        )
    return value


def _number(name: str, key: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    largest = _LARGEST_OF.get(key, _LARGEST)
    if not 0 <= value <= largest or (key == "share" and not 0 < value <= 1):
        allowed = "above 0 and at most 1" if key == "share" else f"from 0 to {largest}"
        raise BadRequest(f"{key} of the change {name} is {text!r}. Give a number {allowed}.")
    return value
