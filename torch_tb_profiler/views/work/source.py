"""Route ``/source``."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from torch_tb_profiler.analysis.facts.host_names import distinct
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.figures.source_lines import is_user_code
from torch_tb_profiler.analysis.module.ladder import line_ladder
from torch_tb_profiler.analysis.module.source_functions import (
    SourceFunction,
    functions_of,
    lines_by_function,
    standing,
)
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.python_frames import PythonFrame
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.units import format_names
from torch_tb_profiler.views.wire import Wire

MOST_FUNCTIONS, MOST_LINES, LONGEST_LINE = 8, 40, 300
Read = Callable[[str], "tuple[str, str] | None"]
"""``(file, text)`` of what a recording calls a file."""
_OFF = (
    "To see the source here, with the time of its functions, name the folders of your program:"
    " torch-tb-profiler serve --source FOLDER LOGDIR."
)
_FIRST = "A trace has the first line of each function, so the time is that of the whole function."


class ShownFunction(Wire, frozen=True, kw_only=True):
    """A function of the ladder in its file as it is now. file: within its folder; first: number of its first line; was: that of the
    recording where it is another, −1 unknown or the same; lines: at most 40, ``cut`` how many more it has; path_ns: with all
    that it calls; share: of the path.
    """

    file: str
    name: str
    first: int
    was: int
    lines: list[str]
    cut: int
    path_ns: int
    share: float


class SourcePayload(Wire, frozen=True, kw_only=True):
    """Route ``/source``. ``functions``: in the order of their files, the file with most time first; ``notes``: sentences on them."""

    functions: list[ShownFunction]
    notes: list[str]


def source_payload(
    trace: Trace, facts: Facts, insight: Insight, selection: Selection, read: Read | None
) -> SourcePayload:
    """The functions of the ladder with the most time whose source is there. ``read``: None where no folder is named."""
    if read is None:
        return SourcePayload(functions=[], notes=[_OFF])
    ladder = line_ladder(trace, facts, insight, selection)
    spans = trace["spans"]
    python = distinct(spans["name"][spans["role"] == Role.PYTHON], trace.strings)
    recorded = lines_by_function(trace.strings[number] for number in python)
    files: dict[str, tuple[str, list[str], list[SourceFunction]] | None] = {}
    shown: list[ShownFunction] = []
    unread, lost = [], []
    for text, time in _functions(ladder):
        frame = PythonFrame.of(text)
        if frame is None or not frame.is_source or len(shown) == MOST_FUNCTIONS:
            continue
        if frame.file not in files:
            found = read(frame.file)
            files[frame.file] = found and (found[0], found[1].split("\n"), functions_of(found[1]))
        file = files[frame.file]
        if file is None:
            if is_user_code(frame.file):
                unread.append(frame.short)
            continue
        name, lines, functions = file
        function = standing(frame, functions, recorded.get((frame.file, frame.function), ()))
        if function is None:
            lost.append(frame.short)
            continue
        own = lines[function.first - 1 : function.last]
        shown.append(
            ShownFunction(
                file=name,
                name=frame.function,
                first=function.first,
                was=-1 if frame.line in (function.first, function.head, None) else frame.line,
                lines=[line.rstrip()[:LONGEST_LINE] for line in own[:MOST_LINES]],
                cut=max(0, len(own) - MOST_LINES),
                path_ns=time,
                share=time / max(ladder.attributes["path_ns"], 1),
            )
        )
    order = list(dict.fromkeys(one.file for one in shown))
    shown.sort(key=lambda one: (order.index(one.file), one.first))
    return SourcePayload(functions=shown, notes=list(_notes(shown, unread, lost)))


def _functions(ladder: DisplayTable) -> list[tuple[str, int]]:
    """The frames of the ladder, the longest first; of a frame within itself only the outer time counts."""
    total: dict[str, int] = {}
    names, parent = ladder["name"], ladder["parent"].tolist()
    for row, (name, time) in enumerate(zip(names, ladder["path_ns"].tolist(), strict=True)):
        above = parent[row]
        while above >= 0 and names[above] != name:
            above = parent[above]
        if above < 0 and ladder["kind"][row] == "line":
            total[name] = total.get(name, 0) + time
    return sorted(total.items(), key=lambda item: -item[1])


def _notes(shown: list[ShownFunction], unread: list[str], lost: list[str]) -> Iterator[str]:
    if shown:
        yield _FIRST
    moved = [f"{one.name} of {one.file} was at line {one.was}" for one in shown if one.was >= 0]
    if moved:
        yield f"Found by name, as the file is another now: {format_names(moved)}."
    if lost:
        yield f"Not shown, as no function or several of this name are in the file now: {format_names(lost)}."
    if unread:
        yield f"Not in the named folders: {format_names(unread)}."
