"""The table ``opened_frames``: Python frames that were open already when the recording began.

Of these the profiler writes the line that ran at that moment, which is the line that started the recording
and no place where time goes::

    file(line): function     main.py(80): main            the line 80 is ``prof.step()``
    what is shown            main.py: main
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.store import fact_schema
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringBuilder

_FRAME = re.compile(r"(?P<file>.+\.py)\(\d+\): (?P<function>.+)", re.DOTALL)
_PROFILER = re.compile(r"(?:^|[/\\])torch[/\\](?:autograd[/\\]profiler\.py|profiler[/\\]\w+\.py)\(")
_DEEPEST = 1000


def opened_frames(trace: Trace, enclosing: Array, strings: StringBuilder) -> Table:
    """What is shown of the names of these frames. ``enclosing``: for every row of spans the innermost host
    span around it; ``strings``: the texts to show are added to it.
    """
    spans = trace["spans"]
    frame = np.flatnonzero(spans["role"] == Role.PYTHON)
    tracks, first = np.unique(spans["track"][frame], return_index=True)
    chains = [
        _chain(trace, enclosing, frame, int(begin), int(track))
        for track, begin in zip(tracks.tolist(), first.tolist(), strict=True)
    ]
    began = _began(trace, chains)
    names = [spans["name"][chain[spans["start"][chain] < began]] for chain in chains]
    shown = {}
    for number in np.unique(np.concatenate(names)).tolist() if names else ():
        if match := _FRAME.fullmatch(trace.strings[number]):
            shown[number] = strings.intern(f"{match['file']}: {match['function']}")
    return fact_schema.OPENED_FRAMES.build(
        name=np.array(list(shown), np.int64), shown=np.array(list(shown.values()), np.int64)
    )


def _chain(trace: Trace, enclosing: Array, frame: Ints, begin: int, track: int) -> Ints:
    """The first frame of a thread, the first within it, and so on; rows of spans."""
    on = trace["spans"]["track"]
    chain = [int(frame[begin])]
    for row in frame[begin + 1 :].tolist():
        if on[row] == track:
            if enclosing[row] != chain[-1] or len(chain) >= _DEEPEST:
                break
            chain.append(row)
    return np.array(chain, np.int64)


def _began(trace: Trace, chains: list[Ints]) -> int:
    """When the recording began: what starts earlier was open then. It is when the innermost frame of the
    profiler that started it calls something, else when anything but a frame begins.
    """
    spans = trace["spans"]
    for chain in chains:
        profiler = [bool(_PROFILER.search(trace.strings[int(n)])) for n in spans["name"][chain]]
        if any(profiler):
            inner = chain[len(profiler) - profiler[::-1].index(True) :]
            return int(spans["start"][inner[0]] if len(inner) else spans["start"][chain[-1]] + 1)
    other = spans["start"][spans["role"] != Role.PYTHON]
    return int(other.min()) if len(other) else 0
