"""Sidecar files: tables that the next start maps instead of importing the trace again.

The format is safetensors: the length of a JSON header, the header with dtype, shape and offsets of
every array, the arrays. We do not use its library because it copies every array::

    | u64 n | {"spans.start": {"dtype": "I64", "shape": [n], "data_offsets": [a, b]}, …, "__metadata__": {…}} | arrays … |

Files are written under a temporary name and renamed, so that readers see a complete file or none.

Every byte has a checksum: one of the header, facts and strings, which is verified on opening, and
one of each column that grows with the trace, verified when the column is first used::

    __metadata__: {"name": "0d4f….safetensors", "told": "…", "told_sum": "3f0a52c7", "bytes": "1048576", "about": "…",
                   "checksum": "0d4f88a1", "sums": "{\"trace.spans.start\": 1180224, …}"}

``told`` is the little that a catalogue shows of a trace. It has a checksum of its own, and the arrays' size
stands beside it, so that it can be read without the rest.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from isal import isal_zlib
from msgspec import MsgspecError

from torch_tb_profiler.errors import SidecarError
from torch_tb_profiler.store import mapped_files
from torch_tb_profiler.store.columns import Array, Table, TableSpec
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.fact_schema import FACT_TABLES
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import INSIGHT_TABLES
from torch_tb_profiler.store.model import Facts, RankIndex, SourceFile, Trace
from torch_tb_profiler.store.rank_schema import RANK_TABLES
from torch_tb_profiler.store.schema import TRACE_TABLES
from torch_tb_profiler.store.strings import NO_STRINGS, StringTable
from torch_tb_profiler.store.summary import Summary
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.store.timeline_schema import TIMELINE_TABLES
from torch_tb_profiler.untrusted import prepared

T = TypeVar("T")
D = TypeVar("D", Timeline, Insight, RankIndex)

LAYOUT = "7"
"""Changes with the tables' columns or the format of this file."""
ALIGN = 64
MAX_HEADER_BYTES = 64 << 20
CHECK_WHOLE_BYTES = 32 << 20
"""Up to this size every byte is verified on opening (some 5 ms), beyond it a column of events when it
is first used.
"""

_DTYPES = {f"{kind}{n}": f"{kind.upper()}{8 * n}" for kind in "iu" for n in (1, 2, 4, 8)}
_DTYPES |= {"f4": "F32", "f8": "F64", "b1": "BOOL"}
_LARGE = (
    "trace.",
    "facts.span_links.",
    *(f"timeline.{name}." for name in ("slices", "places", "summaries", "arrows", "samples")),
    *(
        f"insight.{name}."
        for name in (
            "span_paths",
            "path_steps",
            "work_steps",
            "memory_curve",
            "memory_nodes",
            "allocations",
            "critical_path",
            "critical_path_steps",
            "slack",
        )
    ),
)
_NO_SUM = "0" * 8
_SUM = '"checksum":"%s"'
_NUMPY = {v: k for k, v in _DTYPES.items()}
_ADVICE = "It was removed and is made again when it is next needed."


class _Told(msgspec.Struct):
    """Of the metadata what ``read_head`` needs; the rest is skipped, not decoded."""

    told: str
    told_sum: str
    bytes: str
    name: str


class _Head(msgspec.Struct):
    """Of a header the same."""

    metadata: _Told = msgspec.field(name="__metadata__")


class _Check(msgspec.Struct, frozen=True):
    """Verifies one column; ``path`` is the file, ``stated`` its CRC-32 as the header says."""

    path: str
    name: str
    column: Array
    stated: int

    def __call__(self) -> None:
        if _crc(self.column) != self.stated:
            why = f"is damaged: the checksum of {self.name} does not match"
            mapped_files.report(self.path, why)
            raise SidecarError(f"{os.path.basename(self.path)} {why}.", _ADVICE)


class _Kept(NamedTuple):
    """How what is made of a trace is kept. ``layout`` changes with the tables' columns; ``copied``: the file is not mapped."""

    room: str
    layout: str
    specs: Sequence[TableSpec]
    copied: bool = False


_KEPT: dict[type, _Kept] = {
    Timeline: _Kept("timeline", "timeline 3", TIMELINE_TABLES),
    Insight: _Kept("insight", "insight 4", INSIGHT_TABLES),
    RankIndex: _Kept("ranks", "ranks 1", RANK_TABLES, copied=True),
}


class _Arrays(dict[str, Array]):
    """The arrays of a file. ``checks``: those to be verified before their first use."""

    checks: dict[str, _Check]


def write(path: str | os.PathLike[str], trace: Trace, facts: Facts) -> None:
    """Write a trace and its facts to one sidecar.

    Raises:
        OSError: the folder is not writable.
    """
    arrays = {
        **_arrays_of_texts(facts.strings),
        **_arrays_of("trace", trace.tables),
        **_arrays_of("facts", facts.tables),
    }
    told = {
        "layout": LAYOUT,
        "entries": trace.entries,
        "origin_ns": trace.origin_ns,
        "base_ns": trace.base_ns,
        "trace_defects": trace.defects.as_dict(),
        "source": msgspec.to_builtins(trace.source) if trace.source else None,
        "summary": msgspec.to_builtins(facts.summary),
        "defects": facts.defects.as_dict(),
    }
    about = {"header": trace.header, "texts": len(trace.strings)}
    _write_file(Path(path), arrays, told, about)


def write_derived(path: str | os.PathLike[str], made: Timeline | Insight | RankIndex) -> None:
    """Write what was made of a trace.

    Raises:
        OSError: the folder is not writable.
    """
    kept, fields = _KEPT[type(made)], msgspec.structs.asdict(made)
    arrays = _arrays_of_texts(fields["strings"]) if "strings" in fields else {}
    about = {"about": fields["about"]} if "about" in fields else {}
    arrays |= _arrays_of(kept.room, made.tables)
    _write_file(Path(path), arrays, {"layout": kept.layout}, about)


def _arrays_of_texts(strings: StringTable) -> dict[str, Array]:
    return {"strings.offsets": strings.offsets, "strings.blob": strings.blob}


def _texts_of(arrays: dict[str, Array]) -> StringTable:
    return StringTable(arrays["strings.offsets"], arrays["strings.blob"])


def _arrays_of(room: str, tables: dict[str, Table]) -> dict[str, Array]:
    return {
        f"{room}.{name}.{column}": table[column]
        for name, table in tables.items()
        for column in table
    }


def _write_file(
    target: Path, arrays: dict[str, Array], told: dict[str, Any], about: dict[str, Any]
) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(told, default=str)
    metadata = {
        "name": target.name,
        "told": text,
        "told_sum": _text_sum(text),
        "bytes": str(sum(array.nbytes for array in arrays.values())),
        "about": json.dumps(about, default=str),
        "checksum": _NO_SUM,
    }
    for again in (True, False):
        handle, temporary = tempfile.mkstemp(".part", f"{target.name}.", target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                _write_arrays(file, arrays, metadata)
            _put(temporary, target)
            return
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            # Whoever tidies up after another process that was killed may take this file for that one's.
            if not (again and isinstance(error, FileNotFoundError)):
                raise


def _put(part: str, target: Path) -> None:
    try:
        os.replace(part, target)
    except IsADirectoryError:
        target.rmdir()
        os.replace(part, target)


def _write_arrays(file: Any, arrays: dict[str, Array], metadata: dict[str, str]) -> None:
    ordered = sorted(arrays.items(), key=lambda x: -x[1].dtype.itemsize)
    contiguous = {name: np.ascontiguousarray(array) for name, array in ordered}
    sums = {name: _crc(array) for name, array in contiguous.items() if name.startswith(_LARGE)}
    header: dict[str, Any] = {"__metadata__": {**metadata, "sums": json.dumps(sums)}}
    offset = 0
    for name, array in contiguous.items():
        header[name] = {
            "dtype": _DTYPES[array.dtype.str[1:]],
            "shape": [len(array)],
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % ALIGN)
    length = len(text).to_bytes(8, "little")
    checksum = _checksum_of_facts(length + text, contiguous)
    file.write(length + text.replace((_SUM % _NO_SUM).encode(), (_SUM % checksum).encode(), 1))
    for array in contiguous.values():
        file.write(_bytes(array))


def _bytes(array: Array) -> Any:
    return array.data.cast("B") if len(array) else b""


def _crc(array: Array) -> int:
    # Some 15 GB/s where the bytes are in memory.
    total: int = isal_zlib.crc32(_bytes(array))
    return total


def _checksum_of_facts(header: bytes, arrays: Mapping[str, Array]) -> str:
    """CRC-32 of header, facts and strings, which are small, as eight hex digits."""
    total = isal_zlib.crc32(header)
    for name, array in arrays.items():
        if not name.startswith(_LARGE):
            total = isal_zlib.crc32(_bytes(array), total)
    return f"{total:08x}"


def _verify(
    path: str, data: mmap.mmap | bytes, size: int, metadata: dict[str, str], arrays: _Arrays
) -> None:
    """Raise ValueError if header, facts or strings changed, or anything in a small file; fill in
    ``arrays.checks`` for the rest.
    """
    if 8 + size + sum(array.nbytes for array in arrays.values()) != len(data):
        raise ValueError("the file is truncated or has grown")
    stated = metadata["checksum"]
    header = data[: 8 + size].replace((_SUM % stated).encode(), (_SUM % _NO_SUM).encode(), 1)
    if _checksum_of_facts(header, arrays) != stated:
        raise ValueError("its checksum does not match")
    sums = msgspec.json.decode(metadata["sums"], type=dict[str, int])
    large = {name: array for name, array in arrays.items() if name.startswith(_LARGE)}
    arrays.checks = {name: _Check(path, name, large[name], sums[name]) for name in large}
    # Windows removes no file that is mapped: damage has to be found before that.
    if len(data) <= CHECK_WHOLE_BYTES or os.name == "nt":
        if any(_crc(array) != sums[name] for name, array in large.items()):
            raise ValueError("its checksum does not match")
        arrays.checks = {}


def read(path: str | os.PathLike[str]) -> tuple[Trace, Facts]:
    """Map a sidecar; pages are read on access.

    Raises:
        SidecarError: the file is missing, damaged, truncated or of another layout.
    """
    return _read_file(path, LAYOUT, _rebuild)


def read_head(path: str | os.PathLike[str]) -> tuple[Trace, Facts]:
    """Map a sidecar without header, tables and strings, of which nothing is verified, decoded or mapped.

    Raises:
        SidecarError: as ``read``.
    """
    with _usable(path), open(path, "rb", buffering=0) as file:
        total = os.fstat(file.fileno()).st_size
        size = _header_size(file.read(8), total)
        metadata = msgspec.json.decode(file.read(size), type=prepared(_Head)).metadata
        _expect_name(path, metadata.name)
        if 8 + size + int(metadata.bytes) != total:
            raise ValueError("the file is truncated or has grown")
        if _text_sum(metadata.told) != metadata.told_sum:
            raise ValueError("its checksum does not match")
        about = _told(metadata.told, LAYOUT) | {"header": {}}
        return _rebuild(None, about)


def read_derived(path: str | os.PathLike[str], kind: type[D]) -> D:
    """Map what ``write_derived`` wrote of a type; of a rank index nothing of the file stays open or mapped.

    Raises:
        SidecarError: as ``read``.
    """
    kept = _KEPT[kind]

    def rebuild(arrays: _Arrays, about: dict[str, Any]) -> D:
        fields: dict[str, Any] = {key: about[key] for key in ("about",) if key in about}
        if "strings.blob" in arrays:
            fields["strings"] = _texts_of(arrays)
        return kind(tables=_tables_of(kept.room, kept.specs, arrays), **fields)

    return _read_file(path, kept.layout, rebuild, copied=kept.copied)


def _read_file(
    path: str | os.PathLike[str],
    layout: str,
    rebuild: Callable[[_Arrays, dict[str, Any]], T],
    *,
    copied: bool = False,
) -> T:
    data: mmap.mmap | bytes
    with _usable(path), mapped_files.expect_readable():
        with open(path, "rb") as file:
            data = file.read() if copied else mapped_files.contents(file, os.fspath(path))
        size = _header_size(data[:8], len(data))
        header = msgspec.json.decode(data[8 : 8 + size])
        metadata = header.pop("__metadata__")
        _expect_name(path, metadata["name"])
        about = _told(metadata["told"], layout) | msgspec.json.decode(metadata["about"])
        arrays = _Arrays({name: _mapped(data, 8 + size, entry) for name, entry in header.items()})
        _verify(os.fspath(path), data, size, metadata, arrays)
        return rebuild(arrays, about)


@contextlib.contextmanager
def _usable(path: str | os.PathLike[str]) -> Iterator[None]:
    """Whatever is wrong with a file as a SidecarError."""
    try:
        yield
    except (
        *(OSError, ValueError, LookupError, TypeError, AttributeError),
        *(MsgspecError, RecursionError),
    ) as error:
        raise SidecarError(
            f"{os.path.basename(path)} cannot be used: {error}",
            "Import the trace again to rebuild it.",
        ) from error


def _expect_name(path: str | os.PathLike[str], name: str) -> None:
    # Files that changed places hold what is true of other traces.
    if os.path.basename(path) != name:
        raise ValueError(f"it was written as {name}")


def _header_size(start: bytes, total: int) -> int:
    size = int.from_bytes(start, "little")
    if not 0 < size <= min(MAX_HEADER_BYTES, total - 8):
        raise ValueError("the header length is wrong")
    return size


def _told(text: str, layout: str) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.json.decode(text)
    if told["layout"] != layout:
        raise ValueError(f"its layout is {told['layout']}, expected {layout}")
    return told


def _text_sum(text: str) -> str:
    return f"{isal_zlib.crc32(text.encode()):08x}"


def _mapped(data: mmap.mmap | bytes, base: int, entry: dict[str, Any]) -> Array:
    start, end = entry["data_offsets"]
    (count,) = entry["shape"]
    dtype = np.dtype(_NUMPY[entry["dtype"]])
    if base + end > len(data) or end - start != count * dtype.itemsize or start < 0 or count < 0:
        raise ValueError("the file is truncated")
    return np.frombuffer(data, dtype, count, base + start)


def _tables_of(room: str, specs: Sequence[TableSpec], arrays: _Arrays) -> dict[str, Table]:
    tables = {}
    for spec in specs:
        columns = {c.name: arrays[f"{room}.{spec.name}.{c.name}"] for c in spec.columns}
        for c in spec.columns:
            dtype = columns[c.name].dtype
            if dtype != np.dtype(c.dtype):
                raise ValueError(f"{spec.name}.{c.name} is {dtype}, expected {c.dtype}")
        names = {c.name: f"{room}.{spec.name}.{c.name}" for c in spec.columns}
        checks = {name: arrays.checks[key] for name, key in names.items() if key in arrays.checks}
        tables[spec.name] = Table(spec, columns, checks)
    return tables


def _rebuild(arrays: _Arrays | None, about: dict[str, Any]) -> tuple[Trace, Facts]:
    if arrays is None:
        strings, known, tables, fact_tables = NO_STRINGS, NO_STRINGS, {}, {}
    else:
        strings = _texts_of(arrays)
        known = StringTable(strings.offsets[: about["texts"] + 1], strings.blob)
        tables = _tables_of("trace", TRACE_TABLES, arrays)
        fact_tables = _tables_of("facts", FACT_TABLES, arrays)
    trace = Trace(
        known,
        tables,
        about["header"],
        DefectCounts(about["trace_defects"]),
        about["entries"],
        about["origin_ns"],
        about["base_ns"],
        SourceFile(**about["source"]) if about["source"] else None,
    )
    summary = msgspec.convert(about["summary"], prepared(Summary))
    return trace, Facts(strings, fact_tables, summary, DefectCounts(about["defects"]))
