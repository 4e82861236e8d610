"""Device time of operators that record a graph of their own beneath a node of the backward pass:
activation checkpointing. On a host alone, their host time.

Evidence: operators with a sequence number and no forward thread under
``autograd::engine::evaluate_function`` or the frame of a checkpoint's hook.
Change: they take no time on host and device, nor do the hooks and the Python between them: of such a node the time
until the last of them ends, such a frame whole, and the own time of all frames of ``torch/utils/checkpoint.py``. Certain.
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import calls_gone, thread_time_gone, together
from torch_tb_profiler.analysis.findings.rule import Candidate, Reach, Rule, RuleContext
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.replay import Durations
from torch_tb_profiler.analysis.what_if.simulation import Edit
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.roles import Role

_BACKWARD = re.compile(
    r"autograd::engine::evaluate_function: |torch/utils/checkpoint\.py\(\d+\): unpack_hook$"
)
_CHECKPOINT = re.compile(r"(?:.*/)?torch/utils/checkpoint\.py\(\d+\): ")


def _claim(context: RuleContext) -> Candidate | None:
    arguments = context.trace["operator_args"]
    records = (arguments["sequence"] >= 0) & (arguments["forward_thread"] <= 0)
    again = arguments["span"][records].astype(np.int64)
    calls = context.of_role(Role.OPERATOR, Role.PYTHON)
    home = context.home(context.parent[again], context.rows_named(calls, _BACKWARD.match))
    again, home = again[home >= 0], home[home >= 0]
    if not len(again):
        return None
    row = context.work.row
    operator = context.facts["span_links"]["operator"][row]
    row = row[context.home(operator, again) >= 0] if context.has_device else again
    edit = together(calls_gone(again, row), _hooks(context, again, home))
    return Candidate(row, *context.times(row), {"events": context.per_step(row)}, edit=edit)


def _hooks(context: RuleContext, again: Ints, home: Ints) -> Edit:
    """The time of the hooks: ``home`` is where each of ``again`` was computed again."""
    spans = context.trace["spans"]
    start, end = context.times(home)
    in_hook = spans["role"][home] == Role.PYTHON
    end = np.where(in_hook, end, context.times(again)[1])
    own = context.mask(context.rows_named(context.of_role(Role.PYTHON), _CHECKPOINT.match))
    stretches = thread_time_gone(spans["track"][home], start, end)

    def edit(scene: Scene, durations: Durations) -> None:
        stretches(scene, durations)
        durations.segment[np.append(own, False)[scene.graph.host.span]] = 0

    return edit


RULE = Rule(
    place=140,
    claim=_claim,
    title="The forward pass runs again in the backward pass",
    action="Checkpoint fewer activations",
    fact="parts of the forward pass run twice",
    sentence="""Activation checkpointing computes parts of the forward pass twice; without that the
    {step} is {gain} ({share}) shorter.""",
    attempt="""Checkpoint less: fewer or cheaper layers (selective checkpointing), as far as memory
    allows.""",
    caveat="It is the price of the memory saved; the Memory view shows how much is free.",
    views=("overview", "operator", "module"),
    cause="Recomputing activations takes {gain} of {the_step}",
    without="Without recomputation",
    links=(links.CHECKPOINT,),
    reach=Reach(0.65, 1.5),
    numbers={"events": ("Events computed again", "count")},
)
