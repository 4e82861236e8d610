"""PyTorch splits operators among more threads than the process has cores (``intra_op_threads`` and ``usable_cores``
of the header, as ``record`` writes them): the threads of one operator wait for each other to get a core.

Evidence: operators on tensors of at least ``GRAIN`` elements, which PyTorch splits.
Change: each of them takes less by the share that the smallest split elementwise operators take beyond one element per
ns, which a single core does. Likely. Wrong where another process shares the cores: then even fewer threads are better.
"""

from __future__ import annotations

import re

import msgspec
import numpy as np

from torch_tb_profiler.analysis.facts.header import integer
from torch_tb_profiler.analysis.facts.host_names import distinct
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import own_time_takes
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext, without_time
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.roles import Role

GRAIN = 32_768
"""Elements from which on PyTorch splits an elementwise operator (``at::internal::GRAIN_SIZE``)."""
_ELEMENTWISE = re.compile(
    r"aten::(?:add|sub|mul|div|sqrt|rsqrt|exp|log|pow|abs|neg|tanh|sigmoid|relu|clamp(?:_min|_max)?|gelu|silu|lerp"
    r"|addcmul|addcdiv|where|threshold_backward|gelu_backward|silu_backward|tanh_backward)_?$"
)
_PER_ELEMENT = 1.0
"""ns that a single core needs for an element at most, memory included."""
_SIMILAR = 2
"""Operators of up to so many times the least number of elements are the smallest."""


def _claim(context: RuleContext) -> Candidate | None:
    header = context.trace.header
    threads, cores = (integer(header.get(key)) for key in ("intra_op_threads", "usable_cores"))
    if not threads or not cores or threads <= cores:
        return None
    numbers: dict[str, float] = {"threads": threads, "cores": cores}
    row, elements = _split(context)
    if not len(row):
        return without_time(numbers)
    small = context.named(row, _ELEMENTWISE.match)
    small &= elements <= _SIMILAR * elements[small].min(initial=np.iinfo(np.int64).max // _SIMILAR)
    if not small.any():
        return without_time(numbers, row)
    took = context.trace["spans"]["dur"][row[small]]
    lost = float(np.median(1 - _PER_ELEMENT * elements[small] / np.maximum(took, 1)))
    if lost <= 0:
        return without_time(numbers, row)
    return Candidate(
        row,
        *context.times(row),
        numbers | {"operators": context.per_step(row), "lost": lost},
        edit=own_time_takes(row, 1 - lost),
    )


def _split(context: RuleContext) -> tuple[Ints, Ints]:
    """The operators that PyTorch splits among threads, and the elements of the largest input of each."""
    arguments, spans = context.trace["operator_args"], context.trace["spans"]
    known = np.flatnonzero(arguments["dims"] >= 0)
    row, dims = arguments["span"][known].astype(np.int64), arguments["dims"][known]
    elements = np.zeros(len(context.trace.strings) + 1, np.int64)
    for number in distinct(dims, context.trace.strings):
        elements[number] = _elements(context.trace.strings[number])
    size = elements[dims]
    split = (size >= GRAIN) & (spans["role"][row] == Role.OPERATOR)
    return row[split], size[split]


def _elements(text: str) -> int:
    """Of the largest tensor in ``Input Dims``; 0 where there is none."""
    try:
        shapes = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return 0
    most = 0
    for shape in shapes if isinstance(shapes, list) else []:
        if isinstance(shape, list) and shape and all(isinstance(n, int) for n in shape):
            most = max(most, int(np.prod(np.array(shape, np.float64)).clip(0, 1 << 60)))
    return most


RULE = Rule(
    place=43,
    claim=_claim,
    title="PyTorch uses more threads than there are cores",
    action="Use no more threads than cores",
    fact="{threads} threads on {cores} cores",
    sentence="""PyTorch splits operators among {threads} threads, and the process may use {cores} cores:
    the threads of an operator wait for each other.""",
    attempt="""torch.set_num_threads({cores}), or OMP_NUM_THREADS={cores} in the environment; with several
    processes on the machine its cores divided among them.""",
    caveat="The saving is estimated from the smallest operators that are split.",
    views=("overview", "operator"),
    certainty="likely",
    cause="More threads than cores cost {gain} of {the_step}",
    without="With a thread per core",
    links=(
        (
            "torch.set_num_threads",
            links.DOCS + "generated/torch.set_num_threads.html",
        ),
        ("CPU threading", links.DOCS + "notes/cpu_threading_torchscript_inference.html"),
    ),
    details=(
        (
            "operators",
            """{operators} operators per {step} are split; the smallest of them spend {lost} of their time
            beyond what one core would need. Without that the {step} is {gain} ({share}) shorter.""",
        ),
    ),
    numbers={
        "threads": ("Threads", "count"),
        "cores": ("Cores", "count"),
        "operators": ("Operators that are split", "count"),
        "lost": ("Beyond what one core needs", "share"),
    },
)
