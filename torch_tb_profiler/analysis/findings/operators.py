"""What the rules know of operators: their recorded arguments, where they were called, and their own time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.arrays.nesting import climb, nearest, with_ancestors
from torch_tb_profiler.analysis.facts.names import name_mask
from torch_tb_profiler.analysis.findings.case import Case
from torch_tb_profiler.hardware.call import Call, Tensor, read_call
from torch_tb_profiler.store.columns import Ints, Mask


def own_times(case: Case) -> Ints:
    """Of each span, the time that no span beneath it takes, ns; int64 of shape (spans,)."""
    spans, parent = case.trace["spans"], case.facts["span_links"]["parent"]
    own = spans["dur"].astype(np.int64)
    inner = np.flatnonzero(parent >= 0)
    np.subtract.at(own, parent[inner], spans["dur"][inner])
    return np.maximum(own, 0)


def calls_where(
    case: Case, mentions: Callable[[str], object], says: Callable[[Call], object]
) -> Ints:
    """Rows of operators whose recorded types are a text that ``mentions`` something, and whose arguments
    satisfy ``says``; asked once per distinct arguments.
    """
    table, texts = case.trace["operator_args"], case.trace.strings
    if not table.n:
        return np.zeros(0, np.int64)
    place = np.flatnonzero(name_mask(texts, table["types"], mentions)[table["types"]])
    columns = [table[key][place] for key in ("dims", "types")]
    first, group = group_rows(columns)
    chosen = np.zeros(len(first), np.bool_)
    for number, row in enumerate(first.tolist()):
        dims, types = (texts[int(column[row])] for column in columns)
        call = read_call("", dims, types)
        chosen[number] = call is not None and bool(says(call))
    return np.asarray(table["span"][place[chosen[group]]].astype(np.int64))


def tensors(call: Call) -> Iterator[Tensor]:
    """All tensors among the arguments of a call, those in lists too."""
    for argument in call.inputs:
        if isinstance(argument, Tensor):
            yield argument
        else:
            yield from argument or ()


def beneath(case: Case, outer: Ints) -> Mask:
    """Which spans are among ``outer`` or lie within one of them, on the same thread; bool of shape
    (spans,).
    """
    wanted = np.zeros(case.trace["spans"].n, np.bool_)
    wanted[outer] = True
    return np.asarray(nearest(case.facts["span_links"]["parent"], wanted) >= 0)


def outermost(case: Case, rows: Ints) -> Ints:
    """Those of some spans that lie in no other of them."""
    parent = case.facts["span_links"]["parent"].astype(np.int64)
    wanted = np.zeros(case.trace["spans"].n, np.bool_)
    wanted[rows] = True
    return np.asarray(rows[climb(parent, parent[rows], wanted) < 0])


def launching(case: Case) -> Mask:
    """Which spans launched device work, or hold one that did; bool of shape (spans,)."""
    launches = np.zeros(case.trace["spans"].n, np.bool_)
    launches[case.work.launch[case.work.launch >= 0]] = True
    return with_ancestors(case.facts["span_links"]["parent"], launches)
