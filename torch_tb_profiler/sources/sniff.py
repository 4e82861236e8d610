"""Whether a file may be a trace, judged by its first bytes; the import has the final say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Literal

import msgspec

from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.sources import kinds
from torch_tb_profiler.sources.ascend_folder import AGAIN, is_again
from torch_tb_profiler.sources.inflate import GZIP, MOST_LAYERS, ZSTD, Inflated, inflate
from torch_tb_profiler.sources.packets import is_perfetto, is_xplane
from torch_tb_profiler.sources.places import Place, words
from torch_tb_profiler.sources.streams import open_bytes
from torch_tb_profiler.untrusted import readable

Format = Literal["pickle", "sqlite", "rocprofv3", "perfetto", "folded", "memory_timeline", "chrome"]
HEAD_BYTES = 64 << 10
_RAW_BYTES = 4 << 10
_EVENTS = regex(rb'"traceEvents"\s*:')
_PHASE = regex(rb'"ph"\s*:')
PICKLE = regex(rb"\x80[\x02-\x05]")
"""The header of a pickle of protocol 2 to 5; no text begins like that."""
MEMORY_TIMELINE = regex(rb"\s*\[\s*\[\s*-?\d")
"""A list of lists of numbers, as ``export_memory_timeline`` writes it."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SQLITE = b"SQLite format 3\0"
"""The header of every SQLite database."""
_SQLITE_TABLE = regex(rb"CUPTI_ACTIVITY_KIND_|NVTX_EVENTS|StringIds|META_DATA_EXPORT|rocpd_")
_SQLITE_LEAF, _SQLITE_KIND_OFFSET = b"\x0d", 100
_SQLITE_UTF8, _SQLITE_ENCODING_OFFSET = b"\0\0\0\1", 56
_REPORTS = (".nsys-rep", ".qdrep", ".qdstrm")
_FOLDED = regex(rb"\s*[^\s{\[\x00](?:[^\n\x00]*[^\s\x00])? \d{1,18}[ \t\r]*(?:\n|\Z)")
"""A line of folded stacks: frames, a blank, an integer."""
_FOLDED_FRAMES = 20
"""A first line that does not end within the head counts as a stack if it has this many frames."""
_KERNEL_LINE = regex(rb"""["']k(?:Short|Long)Name["']\s*:""")
"""The dictionary of a kernel, as PyProf's parser prints one per line."""
_SNAPSHOT_KEY = regex(rb"segments|device_traces|segment_type")
_KEY = regex(rb'"((?:[^"\\]|\\.){1,40})"\s*:')
_TRACE_KEYS = regex(
    rb"schemaVersion|deviceProperties|distributedInfo|displayTimeUnit|baseTimeNanoseconds|traceName"
    rb"|with_(?:stack|flops|modules)|record_shapes|profile_memory|cupti_version"
    rb"|cuda_(?:runtime|driver)_version|trace_id"
)
"""Top-level keys that Kineto writes beside ``traceEvents``."""
_ROCPROFV3 = regex(rb'\s*\{\s*"rocprofiler-sdk-tool"\s*:')
"""How ``results.json`` of rocprofv3 begins: with its one key."""
_KINDS = (
    (b"PK\x03\x04", "a ZIP archive (or what torch.save writes)"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF", "an HDF5 file"),
    (b"PAR1", "a Parquet file"),
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"\x7fELF", "a program or library"),
    (b"BZh", "compressed by bzip2, which is not supported,"),
    (b"\xfd7zXZ", "compressed by xz, which is not supported,"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"\x04\x22\x4d\x18", "compressed by LZ4, which is not supported,"),
    (GZIP, f"compressed more than {MOST_LAYERS} times"),
    (ZSTD, f"compressed more than {MOST_LAYERS} times"),
)
_TAR_OFFSET = 257
_TEXT_BYTES = 256


class Head(msgspec.Struct, frozen=True):
    """The first inflated bytes of a file; ``whole``: all of it; ``problem``: why inflating stopped."""

    text: bytes
    whole: bool
    problem: str | None


def read_head(place: Place) -> Head:
    """The first ``HEAD_BYTES`` bytes of inflated text.

    Raises:
        SourceError: the file cannot be opened or read.
    """
    file, _ = open_bytes(place)
    with file:
        state = Inflated()
        text = b""
        # In small pieces: a few compressed KiB may inflate to gigabytes, and only the beginning
        # is wanted.
        try:
            for piece in inflate(_pieces(file), state):
                text += piece[:HEAD_BYTES]
                if len(text) >= HEAD_BYTES:
                    return Head(text[:HEAD_BYTES], False, None)
        except Exception as error:  # drivers raise anything
            raise SourceError(
                f"Reading failed: {words(error)}.",
                "Try again; if it persists, check the file system.",
            ) from error
        return Head(text, True, state.problem)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while data := file.read(_RAW_BYTES):
        yield data


def rejection(place: Place) -> str | None:
    """Why the file cannot be a trace, as a sentence; None if it may be one.

    Raises:
        SourceError: the file cannot be opened or read.
    """
    head = read_head(place)
    name = place.name.lower()
    if name.endswith(_REPORTS) and not head.text.startswith(SQLITE):
        return (
            "Not a trace yet: a report of Nsight Systems. Export it: nsys export --type sqlite "
            + readable(place.name)
        )
    if is_again(place):
        return AGAIN
    reason = judge(head)
    # A profile without a plane, or whose first plane has no name, could be anything.
    by_name = kinds.of_name(place.text) if reason is not None or not head.text else None
    return by_name.sentence() if by_name is not None else reason


def format_of(head: bytes) -> Format:
    """Which format begins like this, as the import reads it; where none does, Chrome's JSON."""
    return next((known for known, begins in _FORMATS if begins(head)), "chrome")


def judge(head: Head) -> str | None:
    """Why no trace begins like this, as a sentence; None if one may.

    An object is accepted if its head holds ``traceEvents`` or another key of Kineto's, or if it is
    longer than the head, because header keys of any size may come first, unless its keys are those of
    another kind of file. An array is accepted if its objects have ``ph`` or if it is a memory timeline,
    a pickle if its head holds a key of memory snapshots.
    """
    known = format_of(head.text)
    if known == "pickle":
        return _judge_pickle(head)
    if known == "sqlite":
        return _judge_sqlite(head)
    if is_xplane(head.text):
        return kinds.XPLANE.sentence()
    if known in _JUDGED_BY_BEGIN:
        return None
    if is_kernel_lines(head.text):
        return (
            "Not a trace: a list of kernels without times, as PyProf's parser writes it;"
            " torch-tb-profiler pyprof FILE prints it."
        )
    text = head.text.removeprefix(BYTE_ORDER_MARK).lstrip()
    if not text:
        if head.problem:
            return f"Nothing could be inflated: {head.problem}."
        return "The file is empty." if not head.text else "The file holds only whitespace."
    if (kind := kinds.of_text(text)) is not None:
        return kind.sentence()
    first = text[:1]
    if first == b"{":
        return _judge_object(text, head)
    if first == b"[":
        return _judge_array(text, head)
    if text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "Not a trace: the text is UTF-16; traces are UTF-8."
    return f"Not a trace: it is {_kind(head.text)} and does not begin with {{ or [."


def is_rocprofv3(head: bytes) -> bool:
    """Whether a text begins like ``results.json`` of AMD's rocprofv3."""
    return _ROCPROFV3.match(head.removeprefix(BYTE_ORDER_MARK)) is not None


def is_folded(head: bytes) -> bool:
    """Whether a text begins like folded stacks, ``a;b;c 123`` a line (``export_stacks``, samplers)."""
    head = head.removeprefix(BYTE_ORDER_MARK)
    if _FOLDED.match(head):
        return True
    return (
        b"\n" not in head
        and b"\x00" not in head
        and head[:1] not in (b"{", b"[")
        and head.count(b";") >= _FOLDED_FRAMES
    )


def is_kernel_lines(head: bytes) -> bool:
    """Whether a text begins like PyProf's ``net.dict``: a dictionary of a kernel per line."""
    head = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if head[:1] != b"{":
        return False
    line = head.partition(b"\n")[0]
    return _KERNEL_LINE.search(line) is not None and _EVENTS.search(line) is None


_FORMATS: tuple[tuple[Format, Callable[[bytes], object]], ...] = (
    ("pickle", PICKLE.match),
    ("sqlite", lambda head: head.startswith(SQLITE)),
    ("rocprofv3", is_rocprofv3),
    ("perfetto", is_perfetto),
    ("folded", is_folded),
    ("memory_timeline", MEMORY_TIMELINE.match),
)
"""The first one that fits counts: what looks like folded stacks may be much else."""
_JUDGED_BY_BEGIN = ("rocprofv3", "perfetto", "folded")
"""Formats of which nothing but the begin is asked."""


def sqlite_bytes(head: bytes) -> int:
    """Size of a database in bytes as its header states it; a page size of 1 stands for 65,536."""
    page = int.from_bytes(head[16:18], "big")
    return (1 << 16 if page == 1 else page) * int.from_bytes(head[28:32], "big")


def _judge_sqlite(head: Head) -> str | None:
    """Databases abound (MLflow's, browsers'): accept one if its table list names a profiler's
    table, or does not fit into the head. A truncated one is left to the importer.
    """
    text = head.text
    if _SQLITE_TABLE.search(text):
        return None
    all_listed = (
        text[_SQLITE_KIND_OFFSET:][:1] == _SQLITE_LEAF
        and text[_SQLITE_ENCODING_OFFSET:][:4] == _SQLITE_UTF8
    )
    if all_listed or (head.whole and len(text) >= sqlite_bytes(text)):
        return "Not a trace: an SQLite database without the tables of nvprof, Nsight Systems or rocprofv3."
    return None


def _judge_pickle(head: Head) -> str | None:
    if (kind := kinds.of_pickle(head.text)) is not None:
        return kind.sentence()
    if _SNAPSHOT_KEY.search(head.text):
        return None
    return "Not a trace: a pickle that holds no memory snapshot (it was not loaded)."


def _judge_object(text: bytes, head: Head) -> str | None:
    if _EVENTS.search(text):
        return None
    keys = _KEY.findall(text)
    if any(map(_TRACE_KEYS.fullmatch, keys)):
        return None
    if (kind := kinds.of_json(text)) is not None:
        return kind.sentence()
    if not head.whole:
        return None
    if head.problem:
        return f"No trace events could be read before {head.problem}."
    return (
        "Not a trace: a JSON object without traceEvents."
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
        return "Not a trace: a JSON array that does not begin with an object."
    if _PHASE.search(inside):
        return None
    if (kind := kinds.of_json(text)) is not None:
        return kind.sentence()
    return 'Not a trace: a JSON array of objects without "ph".'


def _kind(text: bytes) -> str:
    """What a file is, in words. Never its own bytes: a link may lead to a file that those who see
    the page may not read.
    """
    for magic, kind in _KINDS:
        if text.startswith(magic):
            return kind
    if text[_TAR_OFFSET:].startswith(b"ustar"):
        return "a tar archive"
    beginning = text[:_TEXT_BYTES].decode("utf-8", "replace")
    is_text = all(c.isprintable() or c in "\t\r\n\ufffd" for c in beginning)
    return "another kind of text" if is_text and "\ufffd" not in beginning[:-1] else "binary data"
