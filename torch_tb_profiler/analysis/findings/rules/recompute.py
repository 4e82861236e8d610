"""Device time of operators that record a graph of their own beneath a node of the backward pass:
activation checkpointing. On a host alone, their host time.

Formula: operators with a sequence number and no forward thread under
``autograd::engine::evaluate_function`` or the frame of a checkpoint's hook.
Upper bound: kept activations need no second forward pass.
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import climb
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.rule import Candidate, Case, Intervals, Rule
from torch_tb_profiler.store.roles import Role

_BACKWARD = re.compile(
    r"autograd::engine::evaluate_function: |torch/utils/checkpoint\.py\(\d+\): unpack_hook$"
)


def _claim(case: Case, taken: Intervals) -> Candidate | None:
    spans, links = case.trace["spans"], case.facts["span_links"]
    arguments = case.trace["operator_args"]
    records = (arguments["sequence"] >= 0) & (arguments["forward_thread"] <= 0)
    again = arguments["span"][records].astype(np.int64)
    calls = np.flatnonzero((spans["role"] == Role.OPERATOR) | (spans["role"] == Role.PYTHON))
    backward = np.zeros(spans.n, np.bool_)
    backward[calls[case.named(calls, _BACKWARD.match)]] = True
    parent = links["parent"].astype(np.int64)
    again = again[climb(parent, parent[again], backward) >= 0] if backward.any() else again[:0]
    if not len(again):
        return None
    wanted = np.zeros(spans.n, np.bool_)
    wanted[again] = True
    row = case.work.row
    operator = links["operator"][row].astype(np.int64)
    row = row[climb(parent, operator, wanted) >= 0] if len(row) else again
    return Candidate(row, *case.times(row), {"events": case.per_step(row)})


RULE = Rule(
    place=140,
    claim=_claim,
    title="The forward pass runs again in the backward pass",
    sentence="""Activation checkpointing computes parts of the forward pass twice: up to {gain} of
    the {step} ({share}).""",
    attempt="""Checkpoint less: fewer or cheaper layers (selective checkpointing), as far as memory
    allows.""",
    caveat="It is the price of the memory saved; the Memory view shows how much is free.",
    views=("overview", "operator", "module"),
    links=(links.CHECKPOINT,),
    numbers={"events": ("Events computed again", "count")},
)
