"""Idle time for the host within ``Optimizer.step``, and its kernels of at most 10 µs; on a host
alone all of ``Optimizer.step``.

Evidence: only where a step of the optimizer starts at least 50 kernels (runs 50 operators), half of
them of at most 20 µs, and most of the kernels are not joined ones (``multi_tensor_apply``, fused), no operator is; of
optimizers that have such an implementation, on a host alone a fused one.
Change: of a pass over the parameters that gathers them and one per operator, the gathering remains, on a host alone one that
updates them, too; of its kernels of at most 10 µs one per parameter remains, longer ones, which read and write most of
the parameters, stay. Likely.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import measure
from torch_tb_profiler.analysis.findings.edits import host_takes, together, work_scaled
from torch_tb_profiler.analysis.findings.rule import Candidate, Question, Reach, RuleContext
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, Mask

MANY = 50
"""Kernels, or without a device operators, of one step of the optimizer, from which on it goes
tensor by tensor.
"""
SHORT = 20_000
"""ns; the median beyond which they are not what a fused step saves."""
BRIEF = 10_000
"""ns; kernels up to this long are mostly start and end."""
_SINGLE = regex(r"Optimizer\.step#(?:SparseAdam|LBFGS|Muon)\.step")
"""Optimizers that have neither implementation."""
_FUSED_ON_HOST = regex(r"Optimizer\.step#(?:Adam|AdamW|SGD|Adagrad)\.step")
_JOINED = regex(r".*(?:multi_tensor_apply|[Ff]used)")


def _claim(context: RuleContext) -> Candidate | None:
    region = context.within(context.updates)
    single = context.named(region, _SINGLE.match)
    if not context.has_device:
        single = ~context.named(region, _FUSED_ON_HOST.match)
    region = region[~single]
    if not len(region):
        return None
    return _on_device(context, region) if context.has_device else _on_host(context, region)


def _on_device(context: RuleContext, region: Ints) -> Candidate | None:
    spans, work = context.spans, context.work
    launched = work.take((work.launch >= 0) & work.kernel)
    own = launched.take(_inside(context, region, launched.launch))
    length = own.lengths
    joined = context.named(own.row, _JOINED.match)
    if len(own.row) < MANY * len(region) or joined.mean() > 0.5 or np.median(length) > SHORT:
        return None
    gaps = context.gaps.take(context.gaps.for_host & (context.gaps.launch >= 0))
    waits = gaps.take(_inside(context, region, gaps.launch)).during(context.when(region))
    short, passes = own.take(length <= BRIEF), _passes(context, region)
    fewer = work_scaled(short.row, 1 / max(passes, 1.0))
    return Candidate(
        waits + short,
        {
            "kernels": len(own.row) / len(region),
            "median_kernel": float(np.median(length)),
            "region": float(spans["dur"][region].mean()),
        },
        edit=together(host_takes(region, 1 / (passes + 1)), fewer),
    )


def _on_host(context: RuleContext, region: Ints) -> Candidate | None:
    operators = context.operators[_inside(context, region, context.operators)]
    length = context.spans["dur"][operators]
    fused = context.named(operators, _JOINED.match).any()
    if fused or len(operators) < MANY * len(region) or np.median(length) > SHORT:
        return None
    return Candidate(
        context.pieces(region),
        {
            "operators": len(operators) / len(region),
            "median_operator": float(np.median(length)),
            "region": float(context.spans["dur"][region].mean()),
        },
        edit=host_takes(region, 2 / (_passes(context, region) + 1)),
    )


def _passes(context: RuleContext, region: Ints) -> float:
    """How many operators are called for each parameter, at least 1."""
    outer = context.outermost(context.operators[_inside(context, region, context.operators)])
    if not len(outer):
        return 1.0
    # Most operators are called once per parameter.
    each = float(np.median(np.unique(context.spans["name"][outer], return_counts=True)[1]))
    return len(outer) / each


def _inside(context: RuleContext, region: Ints, rows: Ints) -> Mask:
    """Which host context.spans begin in a region of their thread."""
    start, track = context.spans["start"][rows], context.spans["track"][rows]
    inside = measure(context.when(region), start, start + 1) > 0
    return np.asarray(inside & np.isin(track, context.spans["track"][region]))


QUESTION = Question(__name__)
QUESTION.state("optimizer_unfused", 90, _claim, certainty="likely", reach=Reach(0.6, 1.5))
