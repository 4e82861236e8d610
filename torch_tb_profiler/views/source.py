"""Functions in their files as they are now, with what they take: time on the path (route ``/source``), memory that they hold (route
``/memory/source``).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Literal, TypeVar

import msgspec

from torch_tb_profiler.analysis.facts.host_names import distinct
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.figures.source_lines import is_user_code
from torch_tb_profiler.analysis.module.ladder import line_ladder
from torch_tb_profiler.analysis.module.source_functions import (
    SourceFunction,
    functions_of,
    innermost,
    lines_by_function,
    standing,
)
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.python_frames import PythonFrame
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.units import format_names
from torch_tb_profiler.views.wire import Wire

Key = TypeVar("Key", bound=Hashable)
HeatUnit = Literal["ns", "bytes"]
MOST_FUNCTIONS, MOST_LINES, LONGEST_LINE, BESIDE = 8, 40, 300, 3
MOST_FILES = 32
"""Files that are opened, those with most heat."""
Read = Callable[[str], "tuple[str, str] | None"]
"""``(file, text)`` of what a recording calls a file."""
_OFF = (
    "To see the source of these calls here, name the folders of your program:"
    " torch-tb-profiler serve --source FOLDER LOGDIR."
)
_FIRST = "A trace has the first line of each function, so the heat is that of the whole function."


class ShownFunction(Wire, frozen=True, kw_only=True):
    """A function in its file as it is now. file: within its folder; first: number of the first of its ``lines``; was: that of the
    recording where it is another, −1 unknown or the same; lines: at most 40, ``cut`` how many more follow; heat: ns or bytes, with
    all that it calls; share: of all; line_heat: of each of the lines, those around the hot ones; none where only the function is
    known.
    """

    file: str
    name: str
    first: int
    was: int
    lines: list[str]
    cut: int
    heat: int
    share: float
    line_heat: list[int]


class SourcePayload(Wire, frozen=True, kw_only=True):
    """Routes ``/source`` and ``/memory/source``. ``functions``: in the order of their files, the file with most heat first; ``unit``: of
    the heat; ``notes``: sentences on them.
    """

    functions: list[ShownFunction]
    unit: HeatUnit
    notes: list[str]


class Calls(msgspec.Struct, frozen=True):
    """Calls and what they take.

    Attributes:
        name: as a profiler writes it.
        parent: its place, −1 outermost; parents come first.
        heat: ns or bytes, with all beneath.
        recorded: the first lines of the functions of each name (``lines_by_function``).
        exact: whether the line of each is the one that it had reached, as in a snapshot, not the first of its function.
    """

    name: Sequence[str]
    parent: Sequence[int]
    heat: Sequence[int]
    recorded: dict[tuple[str, str], list[int]] = {}
    exact: bool = False

    def sums(self, keys: Sequence[Key | None]) -> dict[Key, int]:
        """The heat of each key, the largest first. Of a call within another of its key only the outer one counts."""
        total: dict[Key, int] = {}
        for row, key in enumerate(keys):
            above = self.parent[row]
            while above >= 0 and keys[above] != key:
                above = self.parent[above]
            if above < 0 and key is not None:
                total[key] = total.get(key, 0) + self.heat[row]
        return dict(sorted(total.items(), key=lambda item: -item[1]))


class _File(msgspec.Struct, frozen=True):
    name: str
    lines: list[str]
    functions: list[SourceFunction]


def path_source(
    trace: Trace, facts: Facts, insight: Insight, selection: Selection, read: Read | None
) -> SourcePayload:
    """The functions of the line ladder with the most time. ``read``: None where no folder is named."""
    ladder = line_ladder(trace, facts, insight, selection)
    parent, time = (ladder[key].tolist() for key in ("parent", "path_ns"))
    calls = Calls(ladder["name"], parent, time, recorded_lines(trace))
    return source_payload(calls, ladder.attributes["path_ns"], "ns", read)


def recorded_lines(trace: Trace) -> dict[tuple[str, str], list[int]]:
    """The first lines of the functions of a trace, by file and name."""
    spans = trace["spans"]
    python = distinct(spans["name"][spans["role"] == Role.PYTHON], trace.strings)
    return lines_by_function(trace.strings[number] for number in python)


def source_payload(calls: Calls, whole: int, unit: HeatUnit, read: Read | None) -> SourcePayload:
    """The functions of calls with the most heat whose source is there. ``whole``: all heat; ``read``: None where no folder is named."""
    by_name, exact = calls.sums(calls.name), calls.exact
    frames = {
        name: frame for name in by_name if (frame := PythonFrame.of(name)) and frame.is_source
    }
    if read is None or not frames:
        return SourcePayload(functions=[], unit=unit, notes=[_OFF] if frames else [])
    files: dict[str, _File | None] = {}
    found: dict[str, tuple[str, SourceFunction]] = {}
    unread, lost = [], []
    for name, frame in frames.items():
        if frame.file not in files:
            text = read(frame.file) if len(files) < MOST_FILES else None
            files[frame.file] = _opened(text, exact)
        file = files[frame.file]
        if file is None:
            if is_user_code(frame.file):
                unread.append(frame.short)
            continue
        begun = None if exact else calls.recorded.get((frame.file, frame.function), [])
        function = standing(frame, file.functions, begun)
        if function is None:
            lost.append(frame.short)
        else:
            found[name] = file.name, function
    by_file = {file.name: file for file in files.values() if file}
    shown = []
    for key, heat in [*calls.sums([*map(found.get, calls.name)]).items()][:MOST_FUNCTIONS]:
        own = {frames[name]: by_name[name] for name, at in found.items() if at == key}
        shown.append(_shown(by_file[key[0]], key[1], own, exact, heat, whole))
    order = list(dict.fromkeys(one.file for one in shown))
    shown.sort(key=lambda one: (order.index(one.file), one.first))
    return SourcePayload(functions=shown, unit=unit, notes=list(_notes(shown, unread, lost, exact)))


def _opened(found: tuple[str, str] | None, exact: bool) -> _File | None:
    if found is None:
        return None
    lines, functions = found[1].split("\n"), functions_of(found[1])
    # A trace tells of a module's own code only that it begins at line 1.
    module = [SourceFunction(1, 1, len(lines), "<module>")] if exact else []
    return _File(found[0], lines, [*module, *functions])


def _shown(
    file: _File,
    function: SourceFunction,
    own: dict[PythonFrame, int],
    exact: bool,
    heat: int,
    whole: int,
) -> ShownFunction:
    """``own``: the frames in the function, the hottest first, and what each of them takes."""
    first, frame = function.first, next(iter(own))
    at = {
        one.line: part
        for one, part in own.items()
        if exact and one.line and innermost(one.line, file.functions) == function
    }
    stands = bool(at) if exact else frame.line in (function.first, function.head, None)
    last = function.last
    if at:
        # The lines that are hot, and some around them.
        first, last = max(first, min(at) - BESIDE), min(last, max(at) + BESIDE)
        if last - first >= MOST_LINES:
            first = max(first, next(iter(at)) - MOST_LINES // 2)
    lines = file.lines[first - 1 : last][:MOST_LINES]
    return ShownFunction(
        file=file.name,
        name=function.name,
        first=first,
        was=-1 if stands or frame.line is None else frame.line,
        lines=[line.rstrip()[:LONGEST_LINE] for line in lines],
        cut=function.last - first + 1 - len(lines),
        heat=heat,
        share=heat / max(whole, 1),
        line_heat=[at.get(first + row, 0) for row in range(len(lines))] if at else [],
    )


def _notes(
    shown: list[ShownFunction], unread: list[str], lost: list[str], exact: bool
) -> Iterator[str]:
    if shown and not exact:
        yield _FIRST
    moved = [f"{one.name} of {one.file} was at line {one.was}" for one in shown if one.was >= 0]
    if moved:
        yield f"Found by name, as the file is another now: {format_names(moved)}."
    if lost:
        yield f"Not shown, as no function or several of this name are in the file now: {format_names(lost)}."
    if unread:
        yield f"Not in the named folders: {format_names(unread)}."
