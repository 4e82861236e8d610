"""Time in which only copies from the host run that repeat one of the same size and place (the operator or Python frame around
their launch) of the same step, the first left out; at least ten.

Change: they take no time. Likely: the data may differ.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.arrays.nesting import climb
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.copies import alone, copies_named
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext
from torch_tb_profiler.hardware.kernel_names import TO_DEVICE
from torch_tb_profiler.store.roles import Role

REPEATS = 10
"""Equal copies in one step, from which on they are repeated ones."""


def _claim(context: RuleContext) -> Candidate | None:
    copies = copies_named(context, TO_DEVICE)
    links, python = context.facts["span_links"], context.trace["spans"]["role"] == Role.PYTHON
    in_frame = climb(context.parent, copies.launch, python) >= 0
    copies = copies.take((links["operator"][copies.row] >= 0) | in_frame)
    paths = context.insight["span_paths"]
    origin = paths["path"] if paths.n == context.trace["spans"].n else links["operator"]
    size = device_arguments(context.trace, copies.row, ("bytes",))["bytes"].astype(np.int64)
    first, group = group_rows((links["step"][copies.row], size, origin[copies.row]))
    again = (np.bincount(group, minlength=len(first)) >= REPEATS)[group] & (size > 0)
    again[first] = False
    return alone(context, copies.take(again), {"bytes": int(size[again].max(initial=0))})


RULE = Rule(
    place=170,
    claim=_claim,
    title="The same data is copied to the {device} repeatedly",
    action="Copy the data to the {device} once",
    fact="{copies} copies of up to {bytes} per {step} repeat",
    sentence="""{copies} copies of up to {bytes} per {step} come from places that had copied as much
    in the same {step}; without them it is {gain} ({share}) shorter.""",
    attempt="Keep the tensor on the {device} and reuse it, or copy all at once.",
    caveat="Only sizes and places are compared: the data may differ.",
    views=("overview", "memory", "trace"),
    certainty="likely",
    cause="Copying the same data again takes {gain} of {the_step}",
    without="Without these copies",
    links=(links.PINNED,),
    numbers={"copies": ("Copies", "count"), "bytes": ("Largest copy", "bytes")},
)
