"""Operators and kernels that compute in double precision.

Evidence: operators with a float64 argument that is no single number, where types were recorded, and kernels launched by
them; kernels of unrecorded types whose name holds ``double`` and no other floating type, or is that of a product of
doubles. On the host, operators of at least 10 µs of their own: shorter ones are mostly their call. Change:
what moves through memory takes half as long; matrix products on a device what the device's rates for
float64 and float32 say. Likely. Wrong where the program needs the digits.
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import own_time_takes, together, work_scaled
from torch_tb_profiler.analysis.findings.lines import line_of
from torch_tb_profiler.analysis.findings.operators import (
    LEAST_OWN_NS,
    calls_where,
    holds_type,
    launching,
    most_named,
    outermost,
    own_times,
)
from torch_tb_profiler.analysis.findings.rule import Candidate, Reach, Rule, RuleContext
from torch_tb_profiler.analysis.findings.rule_context import Work
from torch_tb_profiler.store.columns import Array, Ints

_DOUBLE = re.compile(r'"(?:double|c10::complex<double>)"')
_PRODUCT = re.compile(r"(?:^|_|\b)[dz](?:884)?(?:gemm|trsm|syrk)|f64(?:f64)?_?gemm|gemm\w*f64")
_NAMED = re.compile(r"\bdouble\b")
_OTHER = re.compile(r"\b(?:float|half|__half|__nv_bfloat16|\w*BFloat16|\w*Half)\b")


def _claim(context: RuleContext) -> Candidate | None:
    typed = calls_where(context, _DOUBLE.search, holds_type("double", "c10::complex<double>"))
    work, factor = _device(context, typed)
    host, own = typed, np.zeros(context.trace["spans"].n, np.int64)
    if len(typed):
        own = own_times(context)
        host = context.within(typed[(own[typed] >= LEAST_OWN_NS) & ~launching(context)[typed]])
    row = np.concatenate((work.row, host))
    if not len(row):
        return None
    start, _ = context.times(row)
    end = start + np.concatenate((work.end - work.start, own[host]))
    operator = context.facts["span_links"]["operator"][row].astype(np.int64)
    named = np.where(operator >= 0, operator, row)
    time = int((end - start).sum())
    return Candidate(
        row,
        start,
        end,
        {"operators": context.per_step(row), "double": time / len(context.steps)},
        {"largest": most_named(context, named, end - start), "entry": _entry(context, typed)},
        edit=together(own_time_takes(host, 0.5), work_scaled(work.row, factor)),
    )


def _device(context: RuleContext, typed: Ints) -> tuple[Work, Array]:
    """Kernels that compute in float64, and how many times as long they would take in float32."""
    work = context.work.take(context.work.kernel & ~context.work.communication)
    operator = context.facts["span_links"]["operator"][work.row].astype(np.int64)
    arguments = context.trace["operator_args"]
    known = np.isin(operator, arguments["span"][arguments["types"] >= 0])
    double = np.where(known, np.isin(operator, typed), context.named(work.row, _is_double))
    work = work.take(double)
    product = context.named(work.row, _PRODUCT.search)
    return work, np.where(product, _rate(context), 0.5)


def _is_double(name: str) -> bool:
    plain = _NAMED.search(name) and not _OTHER.search(name)
    return bool(plain or _PRODUCT.search(name))


def _rate(context: RuleContext) -> float:
    """Time of a product in float32 ÷ time in float64, at most 1; half where the device is unknown."""
    rates = {
        precision: max(
            (context.peaks.rate(unit, precision) or 0.0 for unit in ("matrix", "vector")),
            default=0.0,
        )
        for precision in ("fp64", "fp32")
    }
    if not all(rates.values()):
        return 0.5
    return min(rates["fp64"] / rates["fp32"], 1.0)


def _entry(context: RuleContext, typed: Ints) -> str:
    """The line where tensors become float64: of operators that got none and have such beneath them; empty
    where none was recorded.
    """
    above = np.intersect1d(context.parent[typed], context.operators)
    made = outermost(context, context.rows_named(np.setdiff1d(above, typed), _MAKES.match))
    line, _ = line_of(context.trace, context.facts, made, np.ones(len(made), np.int64))
    return line or ""


_MAKES = re.compile(r"aten::")


RULE = Rule(
    place=85,
    claim=_claim,
    title="Tensors are float64",
    action="Compute in float32",
    fact="{operators} operators per {step} in float64",
    sentence="""{operators} operators per {step} compute in float64 (double precision){at}; in float32 the {step} is {gain} ({share}) shorter.""",
    attempt="""Convert where the data enters: x.float(), torch.from_numpy(a).to(torch.float32), np.float32 for arrays of
    NumPy, whose default is float64; keep model and inputs in torch.float32.""",
    caveat="Where the program needs more than seven digits, float64 is right.",
    views=("overview", "operator", "kernel"),
    certainty="likely",
    cause="Computing in float64 takes {double} of {the_step}",
    without="In float32",
    links=(
        ("Types of tensors", links.DOCS + "tensor_attributes.html#torch-dtype"),
        ("torch.from_numpy keeps NumPy's type", links.DOCS + "generated/torch.from_numpy.html"),
    ),
    details=(
        ("largest", "Most of the time is in {largest}."),
        ("entry", "Tensors become float64 at {entry}."),
    ),
    reach=Reach(0.6, 1.3),
    numbers={
        "operators": ("Operators", "count"),
        "double": ("Time in float64", "ns"),
    },
)
