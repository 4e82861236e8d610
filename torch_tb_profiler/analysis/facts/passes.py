"""Passes of a model whose program marks no steps: ``generate()`` loops, denoising steps of diffusion pipelines.

::

    text encoder   transformer  transformer  transformer   decoder      outermost calls of modules
                  └── pass 0 ──┴── pass 1 ──┴── pass 2 ──┘

The outermost calls of one module on one thread are iterations if there are at least ``LEAST_PASSES`` and they cover at least
``LEAST_COVERAGE`` of the time from the first to the last of them, in a trace without training. Sequences of operators alone
mark none: layers repeat as well.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import positions_of
from torch_tb_profiler.analysis.facts.iterations import (
    LEAST_COVERAGE,
    ServerIterations,
    outermost,
)
from torch_tb_profiler.analysis.facts.json_lists import json_list
from torch_tb_profiler.analysis.facts.names import name_mask
from torch_tb_profiler.analysis.facts.workload_kind import is_training
from torch_tb_profiler.hardware.server_steps import NO_REQUESTS, UNKNOWN, Requests, ServerStep
from torch_tb_profiler.store.columns import Ints, Table
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringTable

_MODULE = "nn.Module: "
_EMBEDDING = "aten::embedding"
_NONE = np.zeros(0, np.int64)
LEAST_PASSES = 8
"""Loops over tokens or denoising steps have more; a program that happens to call a model a few times has no steps."""
NO_PASSES = ServerIterations(_NONE, _NONE, ())


def model_passes(trace: Trace) -> ServerIterations:
    """The passes of a model; where tokens are embedded one by one after the first time, that is a prompt and what follows
    it decodes.
    """
    spans = trace["spans"]
    row = np.flatnonzero(spans["role"] == Role.PYTHON)
    if not len(row):
        return NO_PASSES
    is_module = name_mask(trace.strings, spans["name"][row], lambda text: text.startswith(_MODULE))
    row = _longest(spans, row[is_module[spans["name"][row]]])
    if not len(row) or is_training(trace):
        return NO_PASSES
    return _with_tokens(trace, row)


def _longest(spans: Table, row: Ints) -> Ints:
    """The outermost calls of the module that takes most of the time on its thread; none if they do not repeat or cover enough."""
    outer = [row[spans["track"][row] == track] for track in np.unique(spans["track"][row]).tolist()]
    calls = np.concatenate([_NONE, *(outermost(spans, rows) for rows in outer)])
    if not len(calls):
        return calls
    key = np.stack((spans["track"][calls].astype(np.int64), spans["name"][calls]))
    kinds, kind = np.unique(key, axis=1, return_inverse=True)
    time = np.bincount(kind.ravel(), weights=spans["dur"][calls], minlength=kinds.shape[1])
    chosen = calls[kind.ravel() == int(np.argmax(time))]
    start, dur = spans["start"][chosen], spans["dur"][chosen]
    whole = int((start + dur).max()) - int(start.min())
    enough = len(chosen) >= LEAST_PASSES and int(dur.sum()) >= LEAST_COVERAGE * whole
    return np.asarray(chosen if enough else _NONE)


def _with_tokens(trace: Trace, row: Ints) -> ServerIterations:
    shapes = _embedded(trace, row)
    generates = any(shape and shape[1] == 1 for shape in shapes)
    meanings: dict[tuple[int, int] | None, int] = {}
    said = [meanings.setdefault(shape if generates else None, len(meanings)) for shape in shapes]
    return ServerIterations(row, np.array(said, np.int64), tuple(map(_meaning, meanings)))


def _meaning(shape: tuple[int, int] | None) -> ServerStep:
    if shape is None:
        return ServerStep("", UNKNOWN, UNKNOWN)
    requests = Requests(shape[0], shape[0] * shape[1])
    sides = (NO_REQUESTS, requests) if shape[1] == 1 else (requests, NO_REQUESTS)
    return ServerStep("", *sides)


def _embedded(trace: Trace, row: Ints) -> list[tuple[int, int] | None]:
    """Batch and tokens of the first embedding within each pass; None where no shape tells."""
    spans = trace["spans"]
    operator = np.flatnonzero(
        (spans["role"] == Role.OPERATOR) & (spans["track"] == spans["track"][row[0]])
    )
    name = spans["name"][operator]
    is_embedding = name_mask(trace.strings, name, lambda text: text == _EMBEDDING)
    operator = operator[is_embedding[name]]
    place = np.searchsorted(spans["start"][operator], spans["start"][row])
    found: list[tuple[int, int] | None] = []
    arguments = trace["operator_args"]
    argument = positions_of(arguments["span"], operator)
    for at, end in zip(
        place.tolist(), (spans["start"][row] + spans["dur"][row]).tolist(), strict=True
    ):
        inside = at < len(operator) and int(spans["start"][operator[at]]) < end
        dims = int(arguments["dims"][argument[at]]) if inside and argument[at] >= 0 else -1
        found.append(_tokens(trace.strings, dims))
    return found


def _tokens(strings: StringTable, dims: int) -> tuple[int, int] | None:
    try:
        shape = (json_list(strings[dims]) or [])[1] if dims >= 0 else []
        batch, tokens = (int(size) for size in shape)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return (batch, tokens) if 0 < batch < 2**31 and 0 < tokens < 2**31 else None
