"""Many launches, kernels or collectives that each do little: what they cost is the call, the pause before or the latency.

::

    host   [a][b][c][d]   [a][b][c][d]          launch_bound: the device waits for each call
    gpu       a. b. c. d.     a. b. c. d.       idle_queue: it pauses although the next was launched
    nccl   [r][r][r][r][r][r][r][r][r][r]       small_collectives: latency, not bandwidth
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import positions_of
from torch_tb_profiler.analysis.arrays.intervals import measure
from torch_tb_profiler.analysis.facts.host_names import GRAPH_LAUNCH, distinct_names
from torch_tb_profiler.analysis.findings.gaps import SHORT_GAP, Gaps, pauses
from torch_tb_profiler.analysis.findings.rule import (
    DEVICE,
    HOST,
    Candidate,
    Claims,
    Pieces,
    Question,
    RuleContext,
)
from torch_tb_profiler.analysis.findings.workloads import beyond_least
from torch_tb_profiler.analysis.what_if.changes import read_change
from torch_tb_profiler.analysis.what_if.collectives import Merges, merges
from torch_tb_profiler.analysis.what_if.fusion import fusions
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.replay import Durations
from torch_tb_profiler.analysis.what_if.simulation import Edit
from torch_tb_profiler.hardware.fusion import title_of
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.units import format_bytes, format_ns

QUESTION = Question(__name__)
MANY = 8
"""Collectives per step that could be saved, from which on there are many."""
BUCKET = float(read_change("buckets").values["size"]) * (1 << 20)
LAUNCHES = 5
"""Gaps per step, from which on launches are many."""
WAITED = 0.98
"""Share of the kernels that end before their launch returns, from which on launches wait for them: clocks of host and device differ."""
_SERVERS = {
    "vllm/": (
        """vLLM launches decoding as device graphs unless --enforce-eager or a cudagraph_mode of NONE is given: leave these out,
        and let the captured sizes cover the batch (max_cudagraph_capture_size).""",
        "Graphs in vLLM\nhttps://docs.vllm.ai/en/latest/design/cuda_graphs.html",
    ),
    "sglang/": (
        """SGLang launches decoding as device graphs unless --disable-cuda-graph is given: leave it out, and let
        --cuda-graph-max-bs cover the batch.""",
        "Arguments of the SGLang server\nhttps://docs.sglang.ai/advanced_features/server_arguments.html",
    ),
}
"""What of a server's own options launches graphs, and its source, by what the files of its frames have in their path."""
_ASYNCHRONOUS = """Unset what makes each launch wait<nvidia> (CUDA_LAUNCH_BLOCKING)</nvidia><amd> (HIP_LAUNCH_BLOCKING, AMD_SERIALIZE_KERNEL)</amd>:
it is for finding the call that fails."""
_IN_GRAPH = """Fewer, larger kernels: torch.compile, fused operators, a larger batch. To tell the recorder's pauses from the device's,
time the graph without a profiler."""


@QUESTION.rule(58, certainty="likely", causes=(PathCause.COMMUNICATION,))
def small_collectives(context: RuleContext) -> Claims:
    """Many collectives per step that a few could be: what they cost is latency, not bandwidth.

    Formula: collectives of one step, thread, kind, group and type between which nothing needs the result of the first are
    one bucket of at most 25 MiB (``what_if/collectives.py merges``). Many: at least ``MANY`` fewer per step, of which
    latency takes most.
    Change: they are merged. The bytes move at the bandwidth of the recording, latency, calls and waits between them are
    paid once per bucket; what waits for a late rank stays. Likely.
    Wrong where a result is used at once by something that leaves no trace.
    """
    table, steps = context.insight["collectives"], max(context.facts["steps"].n, 1)
    if table.n < MANY * steps:
        return None
    found = merges(context.scene, BUCKET)
    taken = float((table["end"] - table["start"])[found.row].sum())
    # It is latency where most of their time would not be paid again.
    if found.count < MANY * steps or 2 * float(found.time.sum()) > taken:
        return None
    start, end = table["start"][found.row], table["end"][found.row]
    shown = Pieces(table["event"][found.row].astype(np.int64), start, end)
    numbers = {
        "collectives": len(found.row) / steps,
        "buckets": float(found.last.sum()) / steps,
        "each": float(np.median(shown.lengths)),
        "total": shown.total / steps,
    }
    # Where DistributedDataParallel calls them, a bucket is its own.
    ddp = context.named(context.calls, "DistributedDataParallel.forward".__eq__).any()
    words = {"like": _like(context, found), "by_hand": "" if ddp else "by hand"}
    return Candidate(shown, numbers, words, change="buckets")


def _like(context: RuleContext, found: Merges) -> str:
    """``all_reduce, half of them of 8.13 KiB and 642 µs``: most of them, and the median message and time."""
    table = context.insight["collectives"]
    kinds, count = np.unique(table["kind"][found.row], return_counts=True)
    size = table["bytes"][found.row]
    of = f"{format_bytes(float(np.median(size)))} and " if (size >= 0).all() else ""
    time = format_ns(float(np.median((table["end"] - table["start"])[found.row])))
    return f"{context.insight.strings[int(kinds[count.argmax()])]}, half of them of {of}{time}"


@QUESTION.rule(100, certainty="likely", causes=(*HOST,), of_device=True)
def launch_bound(context: RuleContext) -> Claims:
    """Gaps of at most 1 ms that ended with a launch which began after the gap did, at least five of
    them per step.

    Change: launches less than 1 ms apart are one graph launch: between them the host does nothing of its
    own. Likely.
    """
    gaps = context.gaps.take(context.gaps.for_host & (context.gaps.launch >= 0))
    gaps = gaps.take(gaps.lengths <= SHORT_GAP)
    if len(gaps.start) < LAUNCHES * len(context.steps):
        return None
    work = context.work.take(context.work.kernel)
    length, steps = (
        work.lengths[context.mask(context.within(work.row))[work.row]],
        len(context.steps),
    )
    in_operators = int(measure(context.host_busy, gaps.start, gaps.end).sum()) / gaps.total
    numbers = {"gaps": len(gaps.start) / steps, "in_operators": in_operators}
    if len(length):
        numbers |= {"kernels": len(length) / steps, "median_kernel": float(np.median(length))}
    waits = Pieces(gaps.launch, gaps.start, gaps.end)
    return Candidate(
        waits, numbers, _waiting_launches(context) or _of_server(context), change="graphs"
    )


def _waiting_launches(context: RuleContext) -> dict[str, str]:
    """What is said where each launch, as of a debugging option, returns only when its kernel has ended; empty where not."""
    work = context.work.take(context.work.kernel & (context.work.launch >= 0))
    graphs = context.names.graph_launch[context.spans["name"][work.launch]]
    work = work.take(~graphs)
    called, returned = context.times(work.launch)
    inside = (work.start >= called) & (work.end <= returned)
    if not len(inside) or inside.mean() < WAITED:
        return {}
    return {"waits": "yes", "action": "Unset what makes launches wait", "attempt": _ASYNCHRONOUS}


def _of_server(context: RuleContext) -> dict[str, str]:
    """The advice for the server that ran the program; empty for other programs, and where graphs are launched already."""
    if len(context.runtime_calls(GRAPH_LAUNCH)):
        return {}
    files = {name.partition("(")[0] for name in distinct_names(context.trace, Role.PYTHON)}
    for part, (attempt, source) in _SERVERS.items():
        if any(part in file for file in files):
            return {"attempt": " ".join(attempt.split()), "source": source}
    return {}


@QUESTION.rule(120, certainty="theoretical", of_device=True)
def idle_queue(context: RuleContext) -> Claims:
    """Gaps of at most 20 µs between works of which the second had been launched when the first ended.

    Change: work begins as soon as the work before it on its stream ends. Theoretical.
    """
    gaps = context.gaps.take(pauses(context.gaps))
    if not len(gaps.start):
        return None
    launch = context.facts["span_links"]["launch"]
    of_graph = context.mask(context.rows_named(context.of_role(Role.RUNTIME), GRAPH_LAUNCH.match))
    inside = (gaps.before >= 0) & (launch[gaps.before] == gaps.launch) & of_graph[gaps.launch]
    length, steps = gaps.lengths, len(context.steps)
    within = int(length[inside].sum())
    numbers = {"gaps": len(length) / steps, "median_gap": float(np.median(length))}
    if within:
        numbers["inside"] = within / steps
    words = {"attempt": _IN_GRAPH} if 2 * within > gaps.total else {}
    return Candidate(gaps, numbers, words, edit=_without(gaps))


def _without(gaps: Gaps) -> Edit:
    """No work pauses by more than the gap before it that was found."""

    def edit(scene: Scene, durations: Durations) -> None:
        place = positions_of(scene.graph.work.row, gaps.row)
        length = gaps.lengths[place >= 0]
        place = place[place >= 0]
        lead = durations.lead[place]
        durations.lead[place] = np.minimum(lead, np.maximum(lead - length, 0))

    return edit


@QUESTION.rule(205, certainty="likely", causes=DEVICE, of_device=True)
def fusion(context: RuleContext) -> Claims:
    """Chains of memory-bound operators, one kernel each, that write and read tensors which nothing else
    needs.

    Evidence: operators that follow each other in one module, thread, stream and step, of which one reads
    what another one wrote, by shape, element type and order; kernels of torch.compile are none. Change: one kernel of each
    chain remains and is launched once; kernels of at least 5 µs add the share of their time that their remaining bytes are
    of all, shorter ones nothing; what a backward pass may read is still written. Likely.
    """
    found = fusions(context.scene)
    judged = context.mask(context.within(found.row)) & context.mask(context.work.row)
    judged = judged[found.row]
    # Of each chain one kernel's launch stays.
    chosen = np.flatnonzero(np.bincount(found.chain[judged], minlength=1) > 1)
    if not len(chosen):
        return None
    mine = np.isin(found.chain, chosen) & judged
    row, order = np.unique(found.row[mine], return_index=True)
    kept = found.kept[mine][order]
    dur = context.spans["dur"][row]
    some = context.work.take(context.mask(row)[context.work.row])
    titles: dict[tuple[str, ...], float] = {}
    gained = np.bincount(found.chain[mine][order], (1 - kept) * dur, len(found.names))
    for number in chosen.tolist():
        names = found.names[number]
        titles[names] = titles.get(names, 0) + float(gained[number])
    largest = max(titles, key=lambda names: titles[names])
    steps = len(context.steps)
    return Candidate(
        beyond_least(context, some, kept * dur),
        {
            "chains": len(chosen) / steps,
            "kernels": len(row) / steps,
            "saved": float(found.saved[chosen].sum()) / steps,
            "operators": len(largest),
        },
        {"largest": title_of(largest)},
        change="fuse-chains",
    )
