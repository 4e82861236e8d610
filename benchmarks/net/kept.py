"""Replies as they are kept: what says nothing of the code is replaced by its name, by the rules below.

A recording is a folder with one per subject, in which each kind of surface has a file: a line of JSON per reply,
``{"ask": …, "code": …, "json" or "text": …}``, gzipped.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

KINDS = ("routes", "commands", "tools", "tables")
"""The kinds of surface."""


class Rule(NamedTuple):
    """What is not compared: a pattern, and what stands in its place."""

    pattern: re.Pattern[str]
    name: str


RULES = (
    # The content's name holds a digest of the place and of the code that made it; so do versions of lists.
    Rule(re.compile(r'(?<="id":")[0-9a-f]{16,}(?=")'), "<id>"),
    Rule(re.compile(r"\bid=[0-9a-f]{16,}"), "id=<id>"),
    Rule(re.compile(r'(?<="version":")[^"]*(?=")'), "<version>"),
    # How long work took, and when it was done.
    Rule(re.compile(r'"(seconds|elapsed)":[\d.e-]+'), r'"\1":"<seconds>"'),
    Rule(
        re.compile(r"\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?"), "<time>"
    ),
    Rule(re.compile(r"(?<=before: )[\d.]+ (ms|s|min)\b"), "<seconds>"),
    # Of an answer for assistants, from its length.
    Rule(re.compile(r"About [\d,]+ tokens"), "About <n> tokens"),
    # Where an exception was raised: lines move.
    Rule(re.compile(r'File "[^"]*?(\w+\.py)", line \d+'), r'File "\1"'),
    Rule(re.compile(r"\b0x[0-9a-f]{6,}\b"), "<address>"),
)
"""What every reply is read by; folders and the name of the machine are added to it."""


def ruled(text: str) -> str:
    """A text as it is compared."""
    for rule in RULES:
        text = rule.pattern.sub(rule.name, text)
    return text


class Reader:
    """Applies the rules. ``places``: folders and texts of this recording with the names that stand for them."""

    def __init__(self, places: dict[str, str]) -> None:
        named = {**places, socket.gethostname(): "<machine>"}
        self._places = [(text, name) for text, name in named.items() if len(text) > 3]

    def __call__(self, text: str) -> str:
        for place, name in self._places:
            text = text.replace(place, name)
        return ruled(text)


class Reply(NamedTuple):
    """One reply. ``code``: the status of a route, the exit code of a command; ``text``: JSON where ``is_json``."""

    ask: str
    code: int
    text: str
    is_json: bool


def line(reply: Reply, read: Reader) -> str:
    """A reply as it is kept."""
    text = read(reply.text)
    key, value = ("json", text) if reply.is_json and _is_json(text) else ("text", json.dumps(text))
    return f'{{"ask": {json.dumps(read(reply.ask))}, "code": {reply.code}, "{key}": {value}}}\n'


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def file_of(recording: Path, subject: str, kind: str) -> Path:
    """Where the replies of a kind about a subject are kept."""
    return recording / subject / f"{kind}.jsonl.gz"


def keep(path: Path, replies: Iterable[Reply], read: Reader) -> int:
    """Write replies, all or none; how many."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    count = 0
    with gzip.GzipFile(part, "wb", compresslevel=1, mtime=0) as file:
        for reply in replies:
            file.write(line(reply, read).replace("\n", " ").rstrip().encode() + b"\n")
            count += 1
    os.replace(part, path)
    return count


def kept(path: Path) -> Iterator[dict[str, Any]]:
    """The replies of a file."""
    yield from map(parsed, lines(path))


def lines(path: Path) -> list[str]:
    """The replies of a file as they are written."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


def parsed(text: str) -> dict[str, Any]:
    """A reply of such a line. Rules that are newer than it hold, too."""
    reply: dict[str, Any] = json.loads(ruled(text))
    return reply
