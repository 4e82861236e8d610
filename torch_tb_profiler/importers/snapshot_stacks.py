"""Call stacks of a memory snapshot as texts, one per distinct stack."""

from __future__ import annotations

from typing import Any

from torch_tb_profiler.store.defects import DefectCounts, Severity, declare
from torch_tb_profiler.store.strings import NONE, StringBuilder

CUT_STACKS = declare(
    "memory_stacks_left_out",
    Severity.INFO,
    "A call stack of a memory snapshot was dropped or shortened: it has too much text.",
)
FRAMES, FRAME_TEXT, ALL_TEXT = 256, 1_000, 512 << 20
"""The longest stack, the longest text of a frame, and the total text that is kept."""
_FUNCTION_WORDS = (
    "unwind::unwind CapturedTraceback::gather gather_with_cpp _start __libc_start_main PyEval_"
    " PyObject_ PyFunction_"
)
_FUNCTIONS = _FUNCTION_WORDS.split()
_FILE_WORDS = (
    "core/boxing /Register /Redispatch pythonrun.c Modules/main.c Objects/call.c"
    " Objects/methodobject.c pycore_ceval.h ceval.c cpython/abstract.h"
)
_FILES = _FILE_WORDS.split()


class Stacks:
    """Lists of frames → string numbers; a list seen before costs one lookup."""

    def __init__(self, strings: StringBuilder, counts: DefectCounts) -> None:
        self._strings, self._counts = strings, counts
        self._known: dict[int, tuple[list[Any], int]] = {}
        self._texts: dict[int, tuple[dict[str, Any], str]] = {}
        self._kept = 0

    def number(self, frames: object) -> int:
        """The string number of a list of frames, innermost first; −1 if it has none worth showing."""
        if type(frames) is not list or not frames:
            return NONE
        known = self._known.get(id(frames))
        if known is None:
            # The list is stored beside its number, so that no other can get its id.
            known = self._known[id(frames)] = (frames, self._intern(frames))
        return known[1]

    def _intern(self, frames: list[Any]) -> int:
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
        """``file(line): function``, as in traces; empty for the machinery around every call."""
        if type(frame) is not dict:
            return ""
        known = self._texts.get(id(frame))
        if known is None:
            known = self._texts[id(frame)] = (frame, _line_of(frame))
        return known[1]


def _line_of(frame: dict[str, Any]) -> str:
    # What is hidden: ``_frame_filter`` of ``torch/cuda/_memory_viz.py``.
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
