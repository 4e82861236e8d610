"""``scan.c`` as Python sees it: the text of a chunk → columns, as numpy arrays that are valid until the next chunk."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from ctypes import POINTER, byref, c_char, c_int32, c_int64, c_uint64, c_void_p, string_at
from enum import IntEnum
from typing import Any

import numpy as np

from torch_tb_profiler.native.library import library

PAD = bytes(64)
"""Follows a text that is scanned."""
MOST_BYTES = 64 << 20
"""Texts that are kept, with what finds them; beyond that numbers are given anew."""
MOST_ARGS = 64
_ODD = np.dtype([("arg", "i8"), ("at", "i8"), ("text", "i8")])
_DTYPES: dict[str, np.dtype[Any]] = {
    "phase": np.dtype("u1"),
    **dict.fromkeys(("cat", "name", "track"), np.dtype("i4")),
    **dict.fromkeys(("time", "dur", "id"), np.dtype("i8")),
    **dict.fromkeys(("args_at", "args_len", "at", "length"), np.dtype("u4")),
}


class Kind(IntEnum):
    """How an argument is written: a whole number, one of 64 bits without sign, any JSON, a number, or an id that may be a text."""

    COUNT = 0
    WIDE = 1
    RAW = 2
    FIGURE = 3
    ID = 4


class Of(IntEnum):
    """Whose a value is that Python must read, where it is no argument; see ``Columns.odd``."""

    TIME = -1
    DUR = -2
    ID = -3
    DECIMALS_OF_DUR = -4
    """A duration with more decimals than whole ns: its text."""


class Numbering(IntEnum):
    """What texts are numbered: names, categories, ids of processes and threads, and arguments, as JSON; pairs of ids."""

    NAMES = 0
    CATS = 1
    IDS = 2
    BLOBS = 3
    TRACKS = 4


class _Sparse(ctypes.Structure):
    _fields_ = (("n", c_int64), ("room", c_int64), ("row", c_void_p), ("value", c_void_p))


class _Columns(ctypes.Structure):
    _fields_ = (
        *((name, c_int64) for name in ("n", "end", "n_odd")),
        *((name, c_void_p) for name in (*_DTYPES, "odd")),
        ("arg", _Sparse * MOST_ARGS),
    )


class Columns:
    """What a chunk holds: ``n`` events in the first ``size`` bytes of it."""

    def __init__(self, found: _Columns) -> None:
        self.n: int = found.n
        self.size: int = found.end - 1
        self.odd = _array(found.odd, found.n_odd, _ODD)
        """Of which argument (its number, or ``Of``), its index in that column, and the number of its text among the blobs."""
        self._found = found

    def __getattr__(self, name: str) -> np.ndarray[Any, Any]:
        """A column of n rows: numbers of texts (-1 absent), ns (the lowest int64 absent), or positions in the text."""
        column = _array(getattr(self._found, name), self.n, _DTYPES[name])
        setattr(self, name, column)
        return column

    def argument(self, number: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """The rows that have an argument, int32, and its values, int64; of JSON and numbers: which text."""
        sparse = self._found.arg[number]
        n = sparse.n
        return _array(sparse.row, n, np.dtype("i4")), _array(sparse.value, n, np.dtype("i8"))


class Scanner:
    """Scans chunks and numbers their texts."""

    def __init__(self, arguments: Iterable[tuple[str, Kind]]) -> None:
        """``arguments``: those that become columns, by number.

        Raises:
            OSError: there is no library, or no memory.
        """
        self._lib = _declared()
        self._arguments = list(arguments)
        self.generation = 0
        """Grows when numbers are given anew."""
        self._state = self._new()

    def _new(self) -> c_void_p:
        keys = b"".join(name.encode() + b"\0" for name, _ in self._arguments)
        kinds = (c_int32 * len(self._arguments))(*(kind for _, kind in self._arguments))
        # Unforeseeable, so that nobody makes texts that collide.
        seed = int.from_bytes(os.urandom(8), "little")
        state = self._lib.scan_new(seed, keys, len(keys), kinds, len(self._arguments))
        if not state:
            raise OSError("no memory for a scanner")
        return c_void_p(state)

    def __del__(self) -> None:
        if (state := getattr(self, "_state", None)) is not None:
            self._lib.scan_free(state)

    def scan(self, text: bytes, length: int) -> Columns | None:
        """The columns of a JSON array in the first ``length`` bytes of a text, which ``PAD`` follows; None: it is not
        quite as it should be, so that Python must read it.
        """
        if self._lib.scan_size(self._state) > MOST_BYTES:
            new = self._new()
            self._lib.scan_free(self._state)
            self._state = new
            self.generation += 1
        found = self._lib.scan(self._state, text, length)
        return Columns(_Columns.from_address(found)) if found else None

    def texts(self, of: Numbering, numbers: Iterable[int]) -> list[bytes]:
        """The texts with some numbers."""
        start, ends = c_void_p(), c_void_p()
        n = self._lib.scan_texts(self._state, of, byref(start), byref(ends))
        if not n or start.value is None:
            return []
        until, base = _array(ends.value, n, np.dtype("u8")), start.value
        found = []
        for number in numbers:
            low = int(until[number - 1]) if number else 0
            found.append(string_at(base + low, int(until[number]) - low))
        return found


def _declared() -> ctypes.CDLL:
    lib = library()
    if lib is None:
        raise OSError("there is no compiled library")
    lib.scan_new.restype = lib.scan.restype = c_void_p
    lib.scan_new.argtypes = [c_uint64, ctypes.c_char_p, c_uint64, POINTER(c_int32), c_int32]
    lib.scan_free.argtypes = [c_void_p]
    lib.scan_free.restype = None
    lib.scan.argtypes = [c_void_p, ctypes.c_char_p, c_uint64]
    lib.scan_texts.argtypes = [c_void_p, ctypes.c_int, POINTER(c_void_p), POINTER(c_void_p)]
    lib.scan_texts.restype = lib.scan_size.restype = c_int64
    lib.scan_size.argtypes = [c_void_p]
    return lib


def _array(address: int | None, n: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if not n or address is None:
        return np.zeros(0, dtype)
    memory = memoryview((c_char * (n * dtype.itemsize)).from_address(address))
    found: np.ndarray[Any, Any] = np.frombuffer(memory, dtype)
    return found
