"""Input shapes and types as torch_npu writes them → as Kineto does.

::

    "Input Dims": "64, 64;64, 64;"      [[64,64],[64,64],[]]
    "Input type": "float;float;Scalar"  ["float","float","Scalar"]
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from torch_tb_profiler.importers.events import ANY, DECODE_ERRORS
from torch_tb_profiler.store.columns import Array, Table
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.strings import StringBuilder

_SHAPE = re.compile(r"\s*\[?\s*(?:\d{1,18}\s*(?:,\s*\d{1,18}\s*)*,?)?\s*\]?\s*", re.ASCII)
_NUMBER = re.compile(r"\d+", re.ASCII)
_LONGEST = 1 << 16


def as_lists(trace: Trace, strings: StringBuilder) -> Table:
    """``operator_args`` with shapes and types as JSON lists; texts of another form stay."""
    table = trace["operator_args"]
    return table.replace(
        dims=_mapped(trace, table["dims"], strings, shapes=True),
        types=_mapped(trace, table["types"], strings, shapes=False),
    )


def _mapped(trace: Trace, column: Array, strings: StringBuilder, *, shapes: bool) -> Array:
    numbers, numbered = np.unique(column, return_inverse=True)
    new = [
        number if (text := _list(trace.strings[number], shapes)) is None else strings.intern(text)
        for number in numbers.tolist()
    ]
    return np.array(new, column.dtype)[numbered]


def _list(written: str, shapes: bool) -> str | None:
    if not written.startswith('"') or len(written) > _LONGEST:
        return None
    try:
        parts = str(ANY.decode(written)).split(";")
    except DECODE_ERRORS:
        return None
    if not shapes:
        return _json(f'"{_plain(part)}"' for part in parts)
    if not all(map(_SHAPE.fullmatch, parts)):
        return None
    return _json(_json(str(int(n)) for n in _NUMBER.findall(part)) for part in parts)


def _plain(part: str) -> str:
    return re.sub(r'[\x00-\x1f"\\]', "", part.strip())


def _json(parts: Iterable[str]) -> str:
    return f"[{','.join(parts)}]"
