"""Compilations in steps that recur: torch.compile compiles a frame again, torch.jit traces, Triton tunes, CUDA graphs are
captured.

Evidence: the outermost calls that compile, on the threads of the host, in two steps or more, or in a later one than the
first; without steps, where one frame is compiled three times or more. Steps that are cold are left out. Sizes: the inputs
of the compiled graphs, or of the first operators in compiled regions, that differ from one run to the next.
Change: compiling takes no time. Certain. Wrong where every recorded step meets its sizes for the first time, and later ones
do not.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of
from torch_tb_profiler.analysis.compiled.compilations import COMPILERS, Compilations
from torch_tb_profiler.analysis.facts.header import json_list
from torch_tb_profiler.analysis.findings.edits import host_skips
from torch_tb_profiler.analysis.findings.rule import Candidate, Question, RuleContext
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Mask, unique_values

_REGION = regex(r"Torch-Compiled Region: ")
_FUNCTION = regex(r"CompiledFunction$")
_AGAIN = 3
"""Without steps, so many compilations of one frame are no start of a program."""
_SHOWN = 4


def _claim(context: RuleContext) -> Candidate | None:
    found = context.compilations
    own = np.isin(found.row, context.within(found.row))
    row = found.row[own]
    if not len(row) or not _recurs(context, found, own & found.core):
        return None
    compiler = found.compiler[own]
    time = context.spans["dur"][row]
    largest = int(np.bincount(compiler, weights=time).argmax())
    counted = own & found.core & (found.compiler == largest)
    steps = unique_values(context.step_of(found.row[counted]))
    names = [name for name, is_own in zip(found.name, counted, strict=True) if is_own and name]
    kind = list(COMPILERS)[largest]
    numbers = {"compilations": float(counted.sum()), "in_steps": float(len(steps))}
    ids = list(dict.fromkeys(names))
    words = {"compiler": kind, "ids": " to ".join(ids[:1] + ids[1:][-1:])}
    if kind == "torch.compile":
        words |= {"sizes": _sizes(context), "dynamo": "1"}
    else:
        words["graphs" if kind == "CUDA graphs" else "once"] = kind
    numbers["of_steps"] = float(len(context.steps))
    return Candidate(context.pieces(row), numbers, words, edit=host_skips(row))


def _recurs(context: RuleContext, found: Compilations, counted: Mask) -> bool:
    """Whether what compiles does so again and not only at first."""
    if context.is_whole:
        frames = [
            name.partition("/")[0]
            for name, own in zip(found.name, counted, strict=True)
            if own and name
        ]
        return any(frames.count(frame) >= _AGAIN for frame in set(frames))
    steps = unique_values(context.step_of(found.row[counted]))
    steps = steps[steps >= 0]
    return len(steps) > 1 or bool((steps > 0).any())


def _sizes(context: RuleContext) -> str:
    """Which input of what was compiled differs from one run to the next, and its sizes; empty unknown."""
    trace, spans = context.trace, context.spans
    arguments = trace["operator_args"]
    known = arguments["dims"] >= 0
    row, dims = arguments["span"][known].astype(np.int64), arguments["dims"][known]
    graphs = context.named(row, _FUNCTION.match)
    if not graphs.any():
        regions = context.rows_named(context.calls, _REGION.match)
        start, end = context.times(regions)
        at = np.searchsorted(spans["start"][row], start)
        inside = np.append(spans["start"][row], np.iinfo(np.int64).max)[at] < end
        graphs = mask_of(len(row), at[inside])
    by_kind: dict[tuple[str, int], list[list[object]]] = {}
    for at in np.flatnonzero(graphs).tolist():
        value = json_list(trace.strings[int(dims[at])])
        if value is not None:
            name = trace.strings[int(spans["name"][row[at]])]
            by_kind.setdefault((name, len(value)), []).append(value)
    for (name, inputs), calls in by_kind.items():
        for place in range(inputs):
            sizes = list(dict.fromkeys(str(call[place]) for call in calls))
            if len(sizes) > 1:
                shown = ", ".join(sizes[:_SHOWN]) + (" …" if len(sizes) > _SHOWN else "")
                of = "the compiled graph" if _FUNCTION.match(name) else name
                return f"input {place + 1} of {of} is {shown}"
    return ""


QUESTION = Question(__name__)
QUESTION.state("recompiles", 31, _claim)
