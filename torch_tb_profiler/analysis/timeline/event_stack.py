"""The call stack of one event, by the rules of ``analysis/facts/stacks.py``, without the table of all
stacks.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.timeline.call_path import ancestors
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

MOST_FRAMES = 500


def event_stack(trace: Trace, facts: Facts, row: int) -> list[str]:
    """Frames as text, innermost first, at most ``MOST_FRAMES``; empty when none was recorded.

    Of device work it is the stack of its launch, else of its operator. For each operator from the
    inside out: its ``Call stack``, else the Python frames around it, else those of the forward
    operator that made it (``Sequence number`` and ``Fwd thread id``).
    """
    links, role = facts["span_links"], trace["spans"]["role"]
    if Role.KERNEL <= role[row] <= Role.MEMSET:
        row = (
            int(links["launch"][row]) if links["launch"][row] >= 0 else int(links["operator"][row])
        )
    path = ancestors(facts, row) if row >= 0 else []
    for place, span in enumerate(path):
        if role[span] == Role.PYTHON:
            break
        if role[span] == Role.OPERATOR:
            found = (
                _written(trace, span)
                or _frames(trace, path[place:])
                or _of_forward(trace, facts, span)
            )
            if found:
                return found[:MOST_FRAMES]
    return _frames(trace, path)


def _frames(trace: Trace, path: list[int]) -> list[str]:
    spans = trace["spans"]
    rows = [span for span in path if spans["role"][span] == Role.PYTHON][:MOST_FRAMES]
    return [trace.strings[int(spans["name"][span])] for span in rows]


def _argument(trace: Trace, span: int) -> int:
    """Row of operator_args of a span; -1 without any."""
    arguments = trace["operator_args"]
    # A number of another type would have numpy convert the column first.
    place = int(np.searchsorted(arguments["span"], arguments["span"].dtype.type(span)))
    return place if place < arguments.n and arguments["span"][place] == span else -1


def _written(trace: Trace, span: int) -> list[str]:
    place = _argument(trace, span)
    number = int(trace["operator_args"]["stack"][place]) if place >= 0 else -1
    return [part for part in trace.strings[number].strip('"').split(";") if part]


def _of_forward(trace: Trace, facts: Facts, span: int) -> list[str]:
    """Stack of the last forward operator that began with the number of a backward one; of several
    threads only where they agree.
    """
    arguments = trace["operator_args"]
    place = _argument(trace, span)
    if place < 0 or arguments["forward_thread"][place] <= 0 or arguments["sequence"][place] < 0:
        return []
    same = np.flatnonzero(
        (arguments["sequence"] == arguments["sequence"][place]) & (arguments["forward_thread"] <= 0)
    )
    makers = arguments["span"][same]
    last = {
        int(track): int(maker)
        for track, maker in zip(
            trace["spans"]["track"][makers].tolist(), makers.tolist(), strict=True
        )
    }
    stacks = {
        tuple(_written(trace, maker) or _frames(trace, ancestors(facts, maker)))
        for maker in last.values()
    }
    stacks.discard(())
    return list(stacks.pop()) if len(stacks) == 1 else []
