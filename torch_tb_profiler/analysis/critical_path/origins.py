"""Where in the program the events of a path are from."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of, picked, positions_of
from torch_tb_profiler.analysis.arrays.nesting import climb
from torch_tb_profiler.analysis.critical_path.ranks import RankTrace
from torch_tb_profiler.analysis.facts.replay_calls import captured_calls, captured_operators
from torch_tb_profiler.analysis.figures.source_lines import (
    RANKS,
    LineGroup,
    frame_ranks,
    line_ranks,
    shown_frames,
)
from torch_tb_profiler.analysis.module.path_modules import modules_of_paths
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table, unique_values
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringBuilder, StringTable


def names_of(trace: Trace, event: Ints) -> Array:
    """Name of each event; string numbers, −1 none."""
    return picked(trace["spans"]["name"], event)


def host_side(facts: Facts, event: Ints) -> Ints:
    """The launch of device work, the event itself of host work; −1 none."""
    launch = picked(facts["span_links"]["launch"], event).astype(np.int64)
    return np.where(launch >= 0, launch, event)


def operators_of(trace: Trace, facts: Facts, event: Ints) -> Array:
    """Name of the innermost operator at or around each event, of its launch; string numbers."""
    role, links = trace["spans"]["role"], facts["span_links"]
    own = picked(links["operator"], event)
    around = climb(links["parent"], host_side(facts, event), role == Role.OPERATOR)
    captured = captured_operators(trace, facts, event)
    name = picked(trace["captured_calls"]["name"], captured)
    return np.where(captured >= 0, name, names_of(trace, np.where(own >= 0, own, around)))


def modules_of(tables: Mapping[str, Table], event: Ints) -> Array:
    """The innermost module around each event, or its launch; numbers of strings of the insight, −1 none."""
    paths = tables["paths"]
    names = picked(paths["name"], modules_of_paths(paths))
    return np.asarray(names[picked(tables["span_paths"]["path"], event)])


def lines_of(
    trace: Trace,
    facts: Facts,
    tables: Mapping[str, Table],
    event: Ints,
    by: LineGroup = "own",
) -> Array:
    """The user's nearest Python frame around each event, else the nearest of a package, else of a Python file,
    as it is shown; numbers of strings of the facts, −1 none. What runs in the backward pass has the line of its forward operator
    where ``tables`` (of the insight) have ``backward_functions``.
    """
    parent = facts["span_links"]["parent"]
    line = np.full(len(event), -1, np.int64)
    python = trace["spans"]["role"] == Role.PYTHON
    if python.any():
        rank, host = frame_ranks(trace, by), host_side(facts, event)
        if (functions := tables.get("backward_functions")) and functions.n:
            host = _forward_side(parent, python, functions, host)
        for least in RANKS:
            frame = climb(parent, host, rank >= least)
            line = np.where(frame >= 0, frame, line)
    name, calls = names_of(trace, line), trace["captured_calls"]
    captured_rank = line_ranks(trace.strings, calls["name"], by)[calls["name"]]
    for least in RANKS:
        call = captured_calls(trace, facts, event, captured_rank >= least)
        name = np.where(call >= 0, picked(calls["name"], call), name)
    return shown_frames(facts, name)


def _forward_side(parent: Array, python: Mask, functions: Table, host: Ints) -> Ints:
    """Of host events in the backward pass the forward operator of the function around them, others as they are::

        main.py: main ─ loss.backward() ┬ evaluate_function: MmBackward0 ─ aten::mm                          of model.py: forward ─ aten::mm
                                        └ evaluate_function: MineBackward ─ mine.py(9): backward ─ aten::mm  of mine.py(9): backward

    ``parent``: of every row of spans; ``python``: which of them are frames; ``functions``: the table ``backward_functions``.
    """
    function = climb(parent, host, mask_of(len(parent), functions["span"]))
    forward = picked(functions["forward"], positions_of(functions["span"], function))
    own = climb(parent, host, python) > function
    return np.where((forward >= 0) & ~own, forward, host)


def origin_columns(
    rank: Ints, event: Ints, open_rank: Callable[[int], RankTrace | None]
) -> tuple[StringTable, dict[str, Ints]]:
    """Name, operator, module and source line of events, each of a rank, as numbers of strings; −1 none."""
    texts = StringBuilder()
    columns = {
        key: np.full(len(event), -1, np.int64) for key in ("name", "operator", "module", "line")
    }
    for number in unique_values(rank).tolist():
        opened = open_rank(number)
        own = np.flatnonzero(rank == number)
        for key, found in (origins(opened, event[own]) if opened else {}).items():
            columns[key][own] = texts.intern_all(found)
            columns[key][own[np.array(found, object) == ""]] = -1
    return texts.table(), columns


def origins(opened: RankTrace, event: Ints) -> dict[str, list[str]]:
    """Name, operator, module and source line of events of a rank, empty where there is none."""
    trace, facts, insight = opened.trace, opened.facts, opened.insight

    def texts(numbers: Array) -> list[str]:
        used, place = np.unique(numbers, return_inverse=True)
        distinct = facts.strings.many(used)
        return [distinct[i] for i in place.tolist()]

    return {
        "name": texts(names_of(trace, event)),
        "operator": texts(operators_of(trace, facts, event)),
        "module": list(insight.strings.many(modules_of(insight.tables, event))),
        "line": texts(lines_of(trace, facts, insight.tables, event)),
    }
