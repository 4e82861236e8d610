"""Products and convolutions in float16 on a CPU: most have no arithmetic of that type, and PyTorch then converts element
by element in loops of its own instead of calling the library of fast products.

Evidence: in a trace without device work, the outermost products, convolutions and attention of at least 10 µs that get a
float16 tensor, where types were recorded. Convolutions that the library computes (``aten::mkldnn_convolution``) are
left out: there the CPU has the type. Change: each takes as long as the same operator on the same shapes in float32 in
this trace, half as long where there is none. Likely. Wrong where the CPU computes in float16.
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, positions_of
from torch_tb_profiler.analysis.arrays.nesting import with_ancestors
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import host_takes_each
from torch_tb_profiler.analysis.findings.operators import (
    LEAST_OWN_NS,
    calls_where,
    holds_type,
    most_named,
    outermost,
)
from torch_tb_profiler.analysis.findings.rule import Candidate, Reach, Rule, RuleContext
from torch_tb_profiler.store.columns import Array, Ints

HALF = 0.5
"""Time in float32 ÷ time in float16 where the trace does not tell; without the type's arithmetic it is less."""
_TYPE = "c10::Half"
_PRODUCT = re.compile(
    r"aten::(?:mm|addmm|bmm|baddbmm|mv|addmv_?|linear|matmul|einsum|scaled_dot_product_attention"
    r"|conv\d?\w*|_slow_conv\w+|thnn_conv\w+)$"
)
_LIBRARY = re.compile(r"aten::(?:mkldnn|onednn)_")


def _claim(context: RuleContext) -> Candidate | None:
    if context.has_device:
        return None
    spans = context.trace["spans"]
    row = calls_where(context, lambda text: _TYPE in text, holds_type(_TYPE))
    row = context.rows_named(row, _PRODUCT.match)
    row = context.within(np.sort(row[spans["dur"][row] >= LEAST_OWN_NS]))
    if not len(row):
        return None
    fast = context.rows_named(context.operators, _LIBRARY.match)
    within = with_ancestors(context.parent, context.mask(fast))
    row = outermost(context, row)
    row = row[~within[row]]
    start, end = context.times(row)
    return Candidate(
        row,
        start,
        end,
        {"products": context.per_step(row), "half": int((end - start).sum()) / len(context.steps)},
        {"largest": most_named(context, row)} if len(row) else {},
        edit=host_takes_each(row, _factors(context, row)),
    )


def _factors(context: RuleContext, row: Ints) -> Array:
    """Of each product, the time that it would take in float32 ÷ now."""
    spans, arguments = context.trace["spans"], context.trace["operator_args"]
    single = calls_where(
        context, lambda text: '"float"' in text and _TYPE not in text, holds_type("float")
    )
    single = context.rows_named(single, _PRODUCT.match)
    factor = np.full(len(row), HALF)
    every = np.concatenate((row, single))
    dims = arguments["dims"][positions_of(arguments["span"], every)]
    _, group = group_rows([spans["name"][every], dims])
    same = group[len(row) :]
    for number in np.unique(same).tolist():
        there = float(np.median(spans["dur"][single[same == number]]))
        mine = group[: len(row)] == number
        factor[mine] = np.minimum(there / spans["dur"][row[mine]], 1.0)
    return factor


RULE = Rule(
    place=153,
    claim=_claim,
    title="Products in float16 on a CPU",
    action="Compute in float32 on the CPU",
    fact="{products} products per {step} in float16",
    sentence="""{products} products and convolutions per {step} compute in float16 (half precision) on the CPU{at}, {half} in
    all; most CPUs have no arithmetic of that type. In float32 the {step} is {gain} ({share}) shorter.""",
    attempt="""Keep model and inputs in float32 on a CPU, or in bfloat16 where the CPU has instructions for it: model.float(),
    torch.autocast("cpu", dtype=torch.bfloat16).""",
    caveat="""CPUs with instructions for float16 (AVX512-FP16, AMX-FP16) multiply as fast in it. float32 needs twice the
    memory.""",
    views=("overview", "operator"),
    certainty="likely",
    cause="Computing in float16 on a CPU takes {half} of {the_step}",
    without="In float32",
    links=(
        ("Autocast on a CPU", links.DOCS + "amp.html#torch.autocast"),
        ("Types of tensors", links.DOCS + "tensor_attributes.html#torch-dtype"),
    ),
    details=(("largest", "Most of the time is in {largest}."),),
    reach=Reach(0.6, 2.0),
    numbers={
        "products": ("Products in float16", "count"),
        "half": ("Their time", "ns"),
    },
)
