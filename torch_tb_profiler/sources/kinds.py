"""Files of other tools that lie beside traces: what they are, by their first bytes, and what opens them.

::

    0a 2e 08 02 12 0d "/device:TPU:0" …            XPlane         the name of a plane where Perfetto has a message
    80 02 7d … "version" … "pg_config" …           pickle         read as a list of texts, never loaded
    {"schema": "1.1.1", "nodes": [{"ctrl_deps":     JSON           by its keys, and those of the objects within

``kinds.txt`` has a row for each. Nothing of a file is repeated: a link may lead to one that those who
see the page may not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.data_rows import Row, rows_beside
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.units import format_rate


class Kind(msgspec.Struct, frozen=True):
    """A kind of file: what it is, with an article, and what opens it or what to do, as a clause."""

    what: str
    instead: str = ""

    def sentence(self) -> str:
        """Why no trace is read from it, and where to go with it."""
        return f"Not a trace: {'; '.join(filter(None, (self.what, self.instead)))}."


class _Json(msgspec.Struct, frozen=True):
    """A kind of JSON and the sets of keys that tell it: one is enough. ``a.b`` is a key ``b`` of an object, or of the objects of
    a list, at the key ``a``; ``*.b`` is one at any depth.
    """

    kind: Kind
    keys: tuple[frozenset[str], ...] = msgspec.field(default=())


XPLANE = Kind("an XPlane profile of XLA", "XProf, TensorBoard's profile plugin, opens it")
_OF_XLA = Kind("a table of XLA's profiler", "XProf, TensorBoard's profile plugin, opens it")
_XLA_FOLDER = regex(r"(?:^|/)plugins/profile/[^/]+/[^/]+\.pb$")
_OF_TORCH_NPU = Kind("what torch_npu notes beside its trace (trace_view.json)")
_ASCEND_FOLDER = regex(
    r"_ascend_pt/(?:profiler_(?:info|metadata)[^/]*|ASCEND_PROFILER_OUTPUT/(?!trace_view)[^/]+)\.(?:json|db)$"
)
_OF_NSIGHT_COMPUTE = Kind("a report of Nsight Compute", "ncu-ui opens it")
FLIGHT_RECORDER = Kind("a Flight Recorder dump of one rank's collectives", "torchfrtrace opens it")


def _kinds(word: str) -> Iterator[tuple[Row, Kind]]:
    """The rows of ``kinds.txt`` that have a key, and the kind that each tells."""
    for row in rows_beside(__file__):
        if word in row:
            yield row, Kind(row[word][0], "".join(row.get("instead", ())))


_OBJECTS, _ARRAYS = (
    [
        _Json(kind, tuple(frozenset(keys.split()) for keys in row["keys"]))
        for row, kind in _kinds(word)
    ]
    for word in ("object", "array")
)
_TEXTS = [(regex(row["begins"][0].encode()), kind) for row, kind in _kinds("text")]
_FLIGHT_RECORDER_KEYS = frozenset(
    [
        "version",
        "nccl_version",
        "comm_lib_version",
        "pg_config",
        "pg_status",
        "entries",
        "nccl_comm_state",
        "hccl_comm_state",
        "xccl_comm_state",
    ]
)
"""One of them comes first, whatever the order."""
_FLIGHT_RECORDER_WORDS = frozenset(
    ("pg_config", "pg_status", "record_id", "collective_seq_id", "profiling_name")
)
_TOKEN = regex(rb'"((?:[^"\\]|\\.)*)"(\s*:)?|[\[\]{}]', re.DOTALL)
_DEEPEST = 3
"""Keys of a path."""
_LONGEST_KEY = 60


def of_name(path: str) -> Kind | None:
    """The kind of a file whose content need not tell; ``path``: with the folders above it."""
    if path.lower().endswith((".xplane.pb", ".xplane.pb.gz")):
        return XPLANE
    if _XLA_FOLDER.search(path):
        return _OF_XLA
    if path.lower().endswith(".ncu-rep"):
        return _OF_NSIGHT_COMPUTE
    return _OF_TORCH_NPU if _ASCEND_FOLDER.search(path) else None


def of_json(text: bytes) -> Kind | None:
    """The kind of an object or a list of objects, of which the first bytes are there."""
    rows = _ARRAYS if text[:1] == b"[" else _OBJECTS
    keys = key_paths(text)
    return next((row.kind for row in rows if any(told <= keys for told in row.keys)), None)


def of_text(text: bytes) -> Kind | None:
    """The kind of a text that is no JSON, or of bytes that begin like it; of what they say, only a size is repeated."""
    for pattern, kind in _TEXTS:
        if (match := pattern.match(text)) is not None:
            size = match.groupdict().get("size")
            return (
                replace(kind, what=kind.what.format(format_rate(int(size), "B"))) if size else kind
            )
    return None


def of_pickle(head: bytes) -> Kind | None:
    """The kind of a pickle, by the texts in its first bytes; nothing is built of it."""
    texts = list(_pickled_texts(head))
    if texts and texts[0] in _FLIGHT_RECORDER_KEYS and _FLIGHT_RECORDER_WORDS & set(texts):
        return FLIGHT_RECORDER
    return None


def _pickled_texts(head: bytes) -> Iterator[str]:
    # Few files are pickles.
    import pickletools

    try:
        for _, argument, _ in pickletools.genops(head):
            if isinstance(argument, str):
                yield argument
    except Exception:  # where the head ends, and whatever damage raises
        return


def key_paths(text: bytes) -> set[str]:
    """The keys of JSON text as paths (see ``_Json``), as far as it goes; of other text it gives some, too."""
    found: set[str] = set()
    within: list[tuple[str, ...]] = []
    at: tuple[str, ...] = ()
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in (b"{", b"["):
            within.append(at)
        elif mark in (b"}", b"]"):
            if within:
                within.pop()
            at = within[-1] if within else ()
        elif token[2] and within and len(token[1]) < _LONGEST_KEY:
            key = token[1].decode("utf-8", "replace")
            at = within[-1]
            found.add(f"*.{key}")
            if len(at) < _DEEPEST:
                at = (*at, key)
                found.add(".".join(at))
    return found
