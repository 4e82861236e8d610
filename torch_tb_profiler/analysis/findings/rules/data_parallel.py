"""``torch.nn.DataParallel`` drives several devices from one process.

Formula: the trace has ``DataParallel.forward`` and at least two devices. It claims no time.
"""

from __future__ import annotations

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext, without_time


def _claim(context: RuleContext) -> Candidate | None:
    if not context.facts.summary.data_parallel or context.facts["devices"].n < 2:
        return None
    calls = context.rows_named(context.calls, "DataParallel.forward".__eq__)
    return without_time({"devices": context.facts["devices"].n}, calls)


RULE = Rule(
    place=210,
    claim=_claim,
    title="DataParallel drives several devices from one process",
    action="Use DistributedDataParallel",
    fact="{devices} devices from one process",
    sentence="""torch.nn.DataParallel drives {devices} devices from one process: it copies the model
    in every {step}, and one Python thread after another launches for them.""",
    attempt="Use DistributedDataParallel with one process per {device}.",
    caveat="A trace of one process cannot show how much it saves.",
    views=("overview", "distributed"),
    links=(("DDP instead of DataParallel", links.DOCS + "notes/cuda.html#cuda-nn-ddp-instead"),),
    numbers={"devices": ("Devices", "count")},
)
