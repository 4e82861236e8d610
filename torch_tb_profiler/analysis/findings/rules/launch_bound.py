"""Gaps of at most 1 ms that ended with a launch which began after the gap did, at least five of
them per step.

Change: launches less than 1 ms apart are one graph launch: between them the host does nothing of its
own. Likely.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import measure
from torch_tb_profiler.analysis.facts.host_names import GRAPH_LAUNCH, distinct_names
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.gaps import SHORT_GAP
from torch_tb_profiler.analysis.findings.rule import HOST, Candidate, Rule, RuleContext
from torch_tb_profiler.store.roles import Role

LAUNCHES = 5
"""Gaps per step, from which on launches are many."""
_SERVERS = {
    "vllm/": (
        """vLLM launches decoding as CUDA graphs unless --enforce-eager or a cudagraph_mode of NONE is given: leave these out,
        and let the captured sizes cover the batch (max_cudagraph_capture_size).""",
        "CUDA graphs in vLLM\nhttps://docs.vllm.ai/en/latest/design/cuda_graphs.html",
    ),
    "sglang/": (
        """SGLang launches decoding as CUDA graphs unless --disable-cuda-graph is given: leave it out, and let
        --cuda-graph-max-bs cover the batch.""",
        "Arguments of the SGLang server\nhttps://docs.sglang.ai/advanced_features/server_arguments.html",
    ),
}
"""What of a server's own options launches graphs, and its source, by what the files of its frames have in their path."""


def _claim(context: RuleContext) -> Candidate | None:
    gaps = context.gaps.take(context.gaps.for_host & (context.gaps.launch >= 0))
    gaps = gaps.take(gaps.end - gaps.start <= SHORT_GAP)
    if len(gaps.start) < LAUNCHES * len(context.steps):
        return None
    work = context.work.take(context.work.kernel)
    length = (work.end - work.start)[np.isin(work.row, context.within(work.row))]
    return Candidate(
        gaps.launch,
        gaps.start,
        gaps.end,
        {
            "gaps": len(gaps.start) / len(context.steps),
            **(
                {
                    "kernels": len(length) / len(context.steps),
                    "median_kernel": float(np.median(length)),
                }
                if len(length)
                else {}
            ),
            "in_operators": int(measure(context.host_busy, gaps.start, gaps.end).sum())
            / gaps.length,
        },
        _of_server(context),
        change="graphs",
    )


def _of_server(context: RuleContext) -> dict[str, str]:
    """The advice for the server that ran the program; empty for other programs, and where graphs are launched already."""
    if len(context.runtime_calls(GRAPH_LAUNCH)):
        return {}
    files = {name.partition("(")[0] for name in distinct_names(context.trace, Role.PYTHON)}
    for part, (attempt, source) in _SERVERS.items():
        if any(part in file for file in files):
            return {"attempt": " ".join(attempt.split()), "source": source}
    return {}


RULE = Rule(
    place=100,
    claim=_claim,
    title="The host launches too slowly for the {device}",
    action="Launch fewer, larger kernels",
    fact="the {device} runs out of work {gaps} times per {step}",
    sentence="""The {device} runs out of work {gaps} times per {step} and waits for the next launch;
    with few, early launches the {step} is {gain} ({share}) shorter.""",
    attempt="""Launch fewer, larger kernels: torch.compile, device graphs, a larger batch, fused
    operators and optimizers. Keep Python work out of the loop.""",
    caveat="""Recording slows the host: with_stack, record_shapes and profile_memory most. A larger
    batch may change convergence.""",
    views=("overview", "operator", "kernel", "trace"),
    certainty="likely",
    cause="Launch overhead costs {gain} of {the_step}",
    causes=(*HOST,),
    without="As graph launches",
    links=(links.COMPILE, ("CUDA graphs", links.DOCS + "notes/cuda.html#cuda-graphs")),
    details=(("kernels", "Half of its {kernels} kernels last {median_kernel} or less."),),
    numbers={
        "gaps": ("Gaps", "count"),
        "kernels": ("Kernels", "count"),
        "median_kernel": ("Median kernel", "ns"),
        "in_operators": ("Share of the gaps within operators and runtime calls", "share"),
    },
)
