"""Whether a file may be a trace, by its first bytes; the import decides in the end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from torch_tb_profiler.sources.inflate import Inflated, inflate
from torch_tb_profiler.sources.places import base_name, readable
from torch_tb_profiler.sources.streams import open_bytes

HEAD_BYTES = 64 << 10
_RAW_BYTES = 4 << 10
_EVENTS = re.compile(rb'"traceEvents"\s*:')
_PHASE = re.compile(rb'"ph"\s*:')
PICKLE = re.compile(rb"\x80[\x02-\x05]")
"""The header of a pickle of protocol 2 to 5; no text begins like that."""
MEMORY_TIMELINE = re.compile(rb"\s*\[\s*\[\s*-?\d")
"""A list of lists of numbers: what ``export_memory_timeline`` writes, and no trace."""
SQLITE = b"SQLite format 3\0"
"""The header of every SQLite database."""
_SQLITE_TABLE = re.compile(rb"CUPTI_ACTIVITY_KIND_|NVTX_EVENTS|StringIds|META_DATA_EXPORT")
_SQLITE_LEAF, _SQLITE_KIND_AT, _SQLITE_UTF8, _SQLITE_ENCODING_AT = 0x0D, 100, b"\0\0\0\1", 56
_REPORTS = (".nsys-rep", ".qdrep", ".qdstrm")
_FOLDED = re.compile(rb"\s*[^\s{\[\x00](?:[^\n\x00]*[^\s\x00])? \d{1,18}[ \t\r]*(?:\n|\Z)")
"""A line of folded stacks: frames, a blank, a whole number."""
_FOLDED_FRAMES = 20
"""A first line that does not end within the head is one when it has so many frames."""
_SNAPSHOT_KEY = re.compile(rb"segments|device_traces")
_KEY = re.compile(rb'"((?:[^"\\]|\\.){1,40})"\s*:')
TRACE_KEYS = frozenset(
    {
        b"schemaVersion",
        b"deviceProperties",
        b"distributedInfo",
        b"displayTimeUnit",
        b"baseTimeNanoseconds",
        b"traceName",
        b"with_stack",
        b"with_flops",
        b"with_modules",
        b"record_shapes",
        b"profile_memory",
        b"cupti_version",
        b"cuda_runtime_version",
        b"cuda_driver_version",
        b"trace_id",
    }
)
"""Top-level keys that Kineto writes beside ``traceEvents``."""


@dataclass(frozen=True)
class Head:
    """The first inflated bytes of a file. ``whole``: there are no more. ``problem``: what broke the
    inflating, or None.
    """

    text: bytes
    whole: bool
    problem: str | None


def read_head(location: str) -> Head:
    """The first ``HEAD_BYTES`` of inflated text.

    Raises:
        SourceError: the file cannot be opened or read.
    """
    file, _ = open_bytes(location)
    with file:
        state = Inflated()
        text = b""
        # Fed in small pieces: a few compressed KiB may inflate to gigabytes, and only the beginning
        # is wanted.
        for piece in inflate(_pieces(file), state):
            text += piece[:HEAD_BYTES]
            if len(text) >= HEAD_BYTES:
                return Head(text[:HEAD_BYTES], False, None)
        return Head(text, True, state.problem)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while data := file.read(_RAW_BYTES):
        yield data


def rejection(location: str) -> str | None:
    """Why the file cannot be a trace, in words; None when it may be one.

    Raises:
        SourceError: the file cannot be opened or read.
    """
    head = read_head(location)
    if base_name(location).lower().endswith(_REPORTS) and not head.text.startswith(SQLITE):
        return (
            "Not a trace yet: a report of Nsight Systems. Export it: nsys export --type sqlite "
            + readable(base_name(location))
        )
    return judge(head)


def judge(head: Head) -> str | None:
    """Why this beginning is not that of a trace; None when it may be.

    An object is taken when ``traceEvents`` or a key that Kineto writes is in its head, or when it
    goes on beyond it: header keys of any size may stand first. An array is taken when its objects
    have ``ph``, or when it is a memory timeline. A pickle is taken when a key of memory snapshots
    is in its head: other pickles abound, and are not worth reading on.
    """
    if PICKLE.match(head.text):
        return (
            None
            if _SNAPSHOT_KEY.search(head.text)
            else "Not a trace: a pickle that holds no memory snapshot (it was not read)."
        )
    if head.text.startswith(SQLITE):
        return _judge_sqlite(head)
    if is_folded(head.text):
        return None
    text = head.text.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        if head.problem:
            return f"Nothing could be inflated: {head.problem}."
        return "The file is empty." if not head.text else "The file holds only white space."
    first = text[:1]
    if first == b"{":
        return _judge_object(text, head)
    if first == b"[":
        return _judge_array(text, head)
    if text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "Not a trace: the text is UTF-16; traces are UTF-8."
    if first == b"<":
        return (
            "Not a trace: it is an HTML or XML page (a download that met a login page looks like"
            " this)."
        )
    return f"Not a trace: it begins with {_printable(text)}, not with {{ or [."


def is_folded(head: bytes) -> bool:
    """Whether a text begins like folded stacks, ``a;b;c 123`` a line: what ``export_stacks``
    writes, and samplers.
    """
    if _FOLDED.match(head):
        return True
    return (
        b"\n" not in head
        and b"\x00" not in head
        and head[:1] not in (b"{", b"[")
        and head.count(b";") >= _FOLDED_FRAMES
    )


def sqlite_bytes(head: bytes) -> int:
    """How large a database is by its header: pages of a size (1 stands for 65,536)."""
    page = int.from_bytes(head[16:18], "big")
    return (1 << 16 if page == 1 else page) * int.from_bytes(head[28:32], "big")


def _judge_sqlite(head: Head) -> str | None:
    """Databases abound (MLflow's, browsers'): the list of tables must name one of a profiler's, if
    it is within the head. One that is cut off is the
    import's to refuse."""
    text = head.text
    if _SQLITE_TABLE.search(text):
        return None
    all_listed = (
        text[_SQLITE_KIND_AT : _SQLITE_KIND_AT + 1] == bytes([_SQLITE_LEAF])
        and text[_SQLITE_ENCODING_AT:][:4] == _SQLITE_UTF8
    )
    if all_listed or (head.whole and len(text) >= sqlite_bytes(text)):
        return "Not a trace: an SQLite database without the tables of nvprof or Nsight Systems."
    return None


def _judge_object(text: bytes, head: Head) -> str | None:
    if _EVENTS.search(text):
        return None
    keys = _KEY.findall(text)
    if not head.whole or TRACE_KEYS.intersection(keys):
        return None
    if head.problem:
        return f"Nothing of a trace is left before {head.problem}."
    listed = ", ".join(k.decode("utf-8", "replace") for k in dict.fromkeys(keys[:4]))
    return (
        f"Not a trace: a JSON object without traceEvents (its first keys: {listed})."
        if keys
        else "Not a trace: an empty JSON object."
    )


def _judge_array(text: bytes, head: Head) -> str | None:
    inside = text[1:].lstrip()
    if inside[:1] == b"]":
        return "Not a trace: an empty JSON array."
    if not inside and head.whole:
        return "Not a trace: the file ends after its first bracket."
    if MEMORY_TIMELINE.match(text):
        return None
    if inside[:1] != b"{":
        return (
            f"Not a trace: a JSON array that begins with {_printable(inside)}, not with an object."
        )
    return None if _PHASE.search(inside) else 'Not a trace: a JSON array of objects without "ph".'


def _printable(text: bytes) -> str:
    beginning = text[:16].decode("utf-8", "replace")
    return (
        repr(beginning)
        if beginning.isprintable() and "\ufffd" not in beginning[:-1]
        else f"the bytes {text[:8].hex(' ')}"
    )
