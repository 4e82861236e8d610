"""``kernels.c`` as Python sees it: each function returns None where the library is absent, or an array is not as it must be."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar, cast

import numpy as np

from torch_tb_profiler.native.library import library

_Array = np.ndarray[Any, Any]
_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled_as(kernel: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """Of a function that says in numpy what a kernel does: the kernel, and the function where that returns None. The function
    stays there as ``__wrapped__``.
    """

    def of(function: _Function) -> _Function:
        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            found = kernel(*args, **kwargs)
            return function(*args, **kwargs) if found is None else found

        return cast(_Function, called)

    return of


def climb(parent: _Array, begin: _Array, wanted: _Array) -> _Array | None:
    """The rows of ``begin``, or above, that are wanted."""
    if (call := _of("climb", parent)) is None or not _masks(parent, wanted):
        return None
    at = np.array(begin, np.int64)
    fine = call(_at(parent), _at(wanted), len(parent), _at(at), len(at))
    return at.astype(begin.dtype, copy=False) if fine else None


def nearest(parent: _Array, wanted: _Array) -> _Array | None:
    """The nearest row at or above each that is wanted, int32."""
    if (call := _of("nearest", parent)) is None or not _masks(parent, wanted):
        return None
    out = np.empty(len(parent), np.int32)
    return out if call(_at(parent), _at(wanted), _at(out), len(parent)) else None


def with_ancestors(parent: _Array, wanted: _Array) -> _Array | None:
    """The rows that are wanted, and all above."""
    if (call := _of("with_ancestors", parent)) is None or not _masks(parent, wanted):
        return None
    marked = wanted.copy()
    return marked if call(_at(parent), _at(marked), len(parent)) else None


def depths(parent: _Array) -> _Array | None:
    """How many rows are above each, int64."""
    if (call := _of("depths", parent)) is None:
        return None
    out = np.empty(len(parent), np.int64)
    return out if call(_at(parent), _at(out), len(parent)) else None


def still_open(span: _Array, time: _Array, end: _Array, parent: _Array) -> _Array | None:
    """Of each row of ``span``, it or the first above that is open at its time."""
    call = _of("still_open", parent)
    if call is None or not _times(time, end) or len(time) != len(span) or len(end) != len(parent):
        return None
    out = np.array(span, np.int64)
    fine = call(_at(parent), _at(end), len(parent), _at(out), _at(time), len(out))
    return out.astype(span.dtype, copy=False) if fine else None


def segments(
    rows: _Array, start: _Array, end: _Array, parent: _Array
) -> tuple[_Array, _Array] | None:
    """``(edges, innermost)`` of the stretches of a thread whose spans are at ``rows``, int64."""
    call = _of("segments", parent)
    if call is None or not len(rows) or not _times(rows, start, end):
        return None
    if len(start) != len(parent) or len(end) != len(parent):
        return None
    begin, inner = np.empty(2 * len(rows), np.int64), np.empty(2 * len(rows), np.int64)
    args = (len(parent), _at(rows), len(rows), _at(begin), _at(inner))
    count = call(_at(parent), _at(start), _at(end), *args)
    if count < 0:
        return None
    return begin[: count + 1], inner[:count]


def nested(track: _Array, start: _Array, end: _Array) -> tuple[_Array, _Array] | None:
    """``(parent, overlapping)`` of spans, int32 and bool."""
    lib, n = _declared(), len(track)
    if lib is None or not _times(start, end) or not _flat(track) or track.dtype != np.int32:
        return None
    tracks = int(track.max(initial=-1)) + 1
    if not n == len(start) == len(end) or n >= 1 << 31 or tracks > n + (1 << 16):
        return None
    last, parent = np.full(tracks, -1, np.int32), np.empty(n, np.int32)
    overlapping = np.zeros(n, np.bool_)
    out = (_at(last), tracks, _at(parent), _at(overlapping))
    return (parent, overlapping) if lib.nested(_at(track), _at(start), _at(end), n, *out) else None


def length_before(points: Any, total: _Array, time: _Array) -> _Array | None:
    """The length of ``Intervals`` before each time; ``total`` before each interval, and in all."""
    lib, start, end = _declared(), points.start, points.end
    if lib is None or not _times(start, end, total, time):
        return None
    if len(end) != len(start) or len(total) != len(start) + 1:
        return None
    out = np.empty(len(time), np.int64)
    before = (_at(start), _at(end), _at(total), len(start))
    lib.length_before(*before, _at(time), _at(out), len(time))
    return out


_POINTER, _COUNT = ctypes.c_void_p, ctypes.c_int64
_ARGUMENTS = {
    "climb": (_POINTER, _POINTER, _COUNT, _POINTER, _COUNT),
    "nearest": (_POINTER, _POINTER, _POINTER, _COUNT),
    "with_ancestors": (_POINTER, _POINTER, _COUNT),
    "depths": (_POINTER, _POINTER, _COUNT),
    "still_open": (_POINTER, _POINTER, _COUNT, _POINTER, _POINTER, _COUNT),
    "segments": (_POINTER, _POINTER, _POINTER, _COUNT, _POINTER, _COUNT, _POINTER, _POINTER),
}


@cache
def _declared() -> ctypes.CDLL | None:
    lib = library()
    if lib is not None:
        for name, arguments in _ARGUMENTS.items():
            for bits in (32, 64):
                call = getattr(lib, f"{name}{bits}")
                call.argtypes = arguments
                call.restype = _COUNT if name == "segments" else ctypes.c_int
        lib.length_before.argtypes = [*[_POINTER] * 3, _COUNT, _POINTER, _POINTER, _COUNT]
        lib.length_before.restype = None
        lib.nested.argtypes = [*[_POINTER] * 3, _COUNT, _POINTER, _COUNT, *[_POINTER] * 2]
        lib.nested.restype = ctypes.c_int
    return lib


def _of(name: str, parent: _Array) -> Callable[..., int] | None:
    """A kernel for parents of this type."""
    lib = _declared()
    if lib is None or parent.dtype not in (np.int32, np.int64) or not _flat(parent):
        return None
    call: Callable[..., int] = getattr(lib, f"{name}{8 * parent.itemsize}")
    return call


def _flat(array: _Array) -> bool:
    return array.ndim == 1 and array.flags.c_contiguous and array.dtype.isnative


def _masks(parent: _Array, wanted: _Array) -> bool:
    return wanted.dtype == np.bool_ and _flat(wanted) and len(wanted) == len(parent)


def _times(*arrays: _Array) -> bool:
    return all(array.dtype == np.int64 and _flat(array) for array in arrays)


def _at(array: _Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address
