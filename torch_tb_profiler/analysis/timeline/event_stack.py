"""The call stack of one event, by the rules of ``facts/stacks.py`` but without the table of stacks."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import position_of
from torch_tb_profiler.analysis.facts.replay_calls import captured_frames
from torch_tb_profiler.analysis.timeline.call_path import ancestors
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

MOST_FRAMES = 500


def event_stack(trace: Trace, facts: Facts, row: int) -> list[str]:
    """Frames as text, innermost first, at most ``MOST_FRAMES``; empty if none were recorded.

    For device work that of its launch, else of its operator. For each operator from the inside out:
    its ``Call stack``, else the Python frames around it, else the stack of its forward operator
    (``Sequence number`` and ``Fwd thread id``).
    """
    links, role = facts["span_links"], trace["spans"]["role"]
    if facts["replayed_work"].n and (captured := captured_frames(trace, facts, row)):
        launch = int(links["launch"][row])
        return [*captured, *_frames(trace, ancestors(facts, launch))][:MOST_FRAMES]
    if Role.KERNEL <= role[row] <= Role.MEMSET:
        launch = int(links["launch"][row])
        row = launch if launch >= 0 else int(links["operator"][row])
    path = ancestors(facts, row) if row >= 0 else []
    for index, span in enumerate(path):
        if role[span] == Role.PYTHON:
            break
        if role[span] == Role.OPERATOR:
            stack = _written(trace, span) or _frames(trace, path[index:])
            if stack := stack or _of_forward(trace, facts, span):
                return stack[:MOST_FRAMES]
    return _frames(trace, path)


def _frames(trace: Trace, path: list[int]) -> list[str]:
    spans = trace["spans"]
    rows = [span for span in path if spans["role"][span] == Role.PYTHON][:MOST_FRAMES]
    return [trace.strings[int(spans["name"][span])] for span in rows]


def _written(trace: Trace, span: int) -> list[str]:
    row = position_of(trace["operator_args"]["span"], span)
    number = int(trace["operator_args"]["stack"][row]) if row >= 0 else -1
    return [part for part in trace.strings[number].strip('"').split(";") if part]


def _of_forward(trace: Trace, facts: Facts, span: int) -> list[str]:
    """The stack of a backward operator's forward, if all candidate threads agree."""
    arguments = trace["operator_args"]
    row = position_of(trace["operator_args"]["span"], span)
    if row < 0 or arguments["forward_thread"][row] <= 0 or arguments["sequence"][row] < 0:
        return []
    same = np.flatnonzero(
        (arguments["sequence"] == arguments["sequence"][row]) & (arguments["forward_thread"] <= 0)
    )
    makers = arguments["span"][same]
    last = dict(zip(trace["spans"]["track"][makers].tolist(), makers.tolist(), strict=True))
    stacks = {
        tuple(_written(trace, maker) or _frames(trace, ancestors(facts, maker)))
        for maker in last.values()
    }
    stacks.discard(())
    return list(stacks.pop()) if len(stacks) == 1 else []
