"""Call stacks of a memory snapshot as texts, once per distinct one."""

from __future__ import annotations

from typing import Any

from torch_tb_profiler.store.defects import DefectCounts, Severity, declare
from torch_tb_profiler.store.strings import NONE, StringBuilder

CUT_STACKS = declare(
    "memory_stacks_left_out",
    Severity.INFO,
    "A call stack of a memory snapshot was left out, or shortened: there is too much text in them.",
)
FRAMES, FRAME_TEXT, ALL_TEXT = 256, 1_000, 512 << 20
"""The longest stack, the longest text of one frame, and the text of all stacks that is kept."""
_FUNCTIONS = (
    "unwind::unwind",
    "CapturedTraceback::gather",
    "gather_with_cpp",
    "_start",
    "__libc_start_main",
    "PyEval_",
    "PyObject_",
    "PyFunction_",
)
_FILES = (
    "core/boxing",
    "/Register",
    "/Redispatch",
    "pythonrun.c",
    "Modules/main.c",
    "Objects/call.c",
    "Objects/methodobject.c",
    "pycore_ceval.h",
    "ceval.c",
    "cpython/abstract.h",
)


class Stacks:
    """Lists of frames → numbers of strings; a list that comes again costs one look."""

    def __init__(self, strings: StringBuilder, counts: DefectCounts) -> None:
        self._strings, self._counts = strings, counts
        self._known: dict[int, tuple[list[Any], int]] = {}
        self._texts: dict[int, tuple[dict[str, Any], str]] = {}
        self._kept = 0

    def number(self, frames: object) -> int:
        """The number of the text of a list of frames, innermost first; −1 where it says nothing."""
        if type(frames) is not list or not frames:
            return NONE
        known = self._known.get(id(frames))
        if known is None:
            # The list is kept beside its number: another one could get its id otherwise.
            known = self._known[id(frames)] = (frames, self._of(frames))
        return known[1]

    def _of(self, frames: list[Any]) -> int:
        lines = [line for line in map(self._line, frames[:FRAMES]) if line]
        text = "\n".join(lines)
        fits = self._kept + len(text) <= ALL_TEXT
        if not fits or len(frames) > FRAMES:
            self._counts.add(CUT_STACKS)
        if not text or not fits:
            return NONE
        before = len(self._strings)
        number = self._strings.intern(text)
        self._kept += len(text) * (len(self._strings) - before)
        return number

    def _line(self, frame: object) -> str:
        """``file(line): function``, as Python frames are named in traces; empty for frames of the
        machinery around every call.
        """
        if type(frame) is not dict:
            return ""
        known = self._texts.get(id(frame))
        if known is None:
            known = self._texts[id(frame)] = (frame, _line_of(frame))
        return known[1]


def _line_of(frame: dict[str, Any]) -> str:
    file, line, name = (frame.get(key) for key in ("filename", "line", "name"))
    file, name = (
        value[:FRAME_TEXT].replace("\n", " ") if type(value) is str else ""
        for value in (file, name)
    )
    if any(word in name for word in _FUNCTIONS) or any(word in file for word in _FILES):
        return ""
    if not file or file == "??":
        return name
    return (
        f"{file}({line}): {name}"
        if type(line) is int and 0 <= line < 1 << 31
        else f"{file}: {name}"
    )
