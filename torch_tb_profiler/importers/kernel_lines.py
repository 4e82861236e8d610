"""PyProf's ``net.dict`` → ``KernelLine``: a dictionary per kernel and line, as Python or as JSON.

::

    {'kShortName': 'volta_sgemm_32x32', 'kDuration': 9000, 'layer': ['fc1'], 'trace': ['net.py:12'], 'marker': ["{'mod': 'torch', …}"],
     'seqId': [7], 'subSeqId': 0, 'altSeqId': [], 'dir': 'fprop', 'mod': ['torch'], 'op': ['mm'], 'tid': 1, 'device': 0, 'grid': (8, 1, 1), …}

Nothing in a line is evaluated: only literals of bounded size and depth are read. Source: ``print``
of ``pyprof/parse/kernel.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.importers.peeked_text import count_problem, pieces
from torch_tb_profiler.importers.sqlite.markers import Kind, literal, read_marker
from torch_tb_profiler.importers.window import Text
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.kernel_line import KernelLine

_LONGEST_LINE = 1 << 18
_LARGEST = 1 << 62
_NUMBERS = (("device", "device"), ("stream", "stream"), ("sub", "subSeqId"), ("index", "idx"))
_OWN_NUMBERS = (("flops", "flops"), ("bytes", "bytes"))
_DIRECTIONS = ("fprop", "bprop")
_NO_TEXT = ("", "na", "-")


def read_kernel_lines(stream: Text) -> tuple[list[KernelLine], DefectCounts]:
    """The kernels of a stream of text in its order, and the lines that are none as a defect.

    Raises:
        NotATrace: no line is a kernel, or there is more text than is read as a whole.
        SourceError: reading failed.
    """
    counts = DefectCounts()
    kernels: list[KernelLine] = []
    for text in _lines(stream):
        if not text.strip():
            continue
        kernel = read_line(text)
        if kernel is None:
            counts.add(d.NOT_AN_EVENT)
        else:
            kernels.append(kernel)
    count_problem(stream, counts)
    if not kernels:
        raise NotATrace(
            "No line of the text is a dictionary of a kernel.",
            "Give the file that pyprof.parse, or torch-tb-profiler pyprof --dict, wrote.",
        )
    return kernels, counts


def _lines(stream: Text) -> Iterator[bytes]:
    rest = b""
    for data in pieces(stream, "A list of kernels", None):
        *lines, rest = (rest + data).split(b"\n")
        yield from lines
    yield rest


def read_line(text: bytes) -> KernelLine | None:
    """A line; None if it is not the dictionary of a kernel."""
    if len(text) > _LONGEST_LINE:
        return None
    value = _value(text)
    if not isinstance(value, dict):
        return None
    name = next((n for key in ("kLongName", "kShortName") if (n := _text(value.get(key)))), "")
    dur = _number(value.get("kDuration"))
    if not name or dur < 0:
        return None
    own = "params" in value
    return KernelLine(
        name,
        dur,
        thread=_text(value.get("tid")),
        grid=_triple(value.get("grid")),
        block=_triple(value.get("block")),
        layer=":".join(_texts(value.get("layer"))),
        trace=_texts(value.get("trace")),
        direction=direction if (direction := _text(value.get("dir"))) in _DIRECTIONS else "",
        sequence=_several(value.get("seqId")),
        others=_several(value.get("altSeqId")),
        module=_first(value.get("mod")),
        operator=_first(value.get("op")),
        signature=_signature(_texts(value.get("marker"))),
        listed=own,
        params=_text(value.get("params")) if own else "",
        cores=_text(value.get("tc")) if own else "",
        **{key: _number(value.get(written)) for key, written in _NUMBERS},
        **{key: _number(value.get(written)) if own else -1 for key, written in _OWN_NUMBERS},
    )


def _value(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return literal(text.decode("utf-8", "replace").strip(), _LONGEST_LINE)


def _number(value: Any) -> int:
    return value if type(value) is int and 0 <= value < _LARGEST else -1


def _text(value: Any) -> str:
    """A text, or a number as text; empty for anything else and for what stands for unknown."""
    if type(value) is int:
        return str(value) if abs(value) < _LARGEST else ""
    return value if isinstance(value, str) and value not in ("", "na") else ""


def _texts(value: Any) -> tuple[str, ...]:
    listed = value if isinstance(value, (list, tuple)) else [value]
    return tuple(each for each in listed if isinstance(each, str) and each not in _NO_TEXT)


def _first(value: Any) -> str:
    return next(iter(_texts(value)), "")


def _several(value: Any) -> tuple[int, ...]:
    listed = value if isinstance(value, (list, tuple)) else [value]
    return tuple(n for each in listed if (n := _number(each)) >= 0)


def _triple(value: Any) -> str:
    numbers = _several(value)
    return ",".join(map(str, numbers)) if len(numbers) == 3 else ""


def _signature(markers: tuple[str, ...]) -> tuple[str, str, str, str]:
    """Of the outermost call with arguments, as PyProf takes it."""
    for text in markers:
        marker = read_marker(text)
        if marker.kind == Kind.CALL:
            dims, types, concrete = marker.dims, marker.types, marker.concrete
            return marker.name, dims.decode(), types.decode(), concrete.decode()
    return "", "", "", ""
