"""Many collectives per step that a few could be: what they cost is latency, not bandwidth.

Formula: collectives of one step, thread, kind, group and type between which nothing needs the result of the first are
one bucket of at most 25 MiB (``what_if/collectives.py merges``). Many: at least ``MANY`` fewer per step, of which
latency takes most.
Change: they are merged. The bytes move at the bandwidth of the recording, latency, calls and waits between them are
paid once per bucket; what waits for a late rank stays. Likely.
Wrong where a result is used at once by something that leaves no trace.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext
from torch_tb_profiler.analysis.what_if.changes import read_change
from torch_tb_profiler.analysis.what_if.collectives import Merges, merges
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.units import format_bytes, format_ns

MANY = 8
"""Collectives per step that could be saved, from which on there are many."""
BUCKET = float(read_change("buckets").values["size"]) * (1 << 20)


def _claim(context: RuleContext) -> Candidate | None:
    table, steps = context.insight["collectives"], max(context.facts["steps"].n, 1)
    if table.n < MANY * steps:
        return None
    found = merges(context.scene, BUCKET)
    if found.count < MANY * steps or not _is_latency(context, found):
        return None
    row = table["event"][found.row].astype(np.int64)
    start, end = table["start"][found.row], table["end"][found.row]
    return Candidate(
        row,
        start,
        end,
        {
            "collectives": len(found.row) / steps,
            "buckets": float(found.last.sum()) / steps,
            "each": float(np.median(end - start)),
            "total": int((end - start).sum()) / steps,
        },
        {"like": _like(context, found), "by_hand": "" if _of_ddp(context) else "by hand"},
        change="buckets",
    )


def _like(context: RuleContext, found: Merges) -> str:
    """``all_reduce, half of them of 8.13 KiB and 642 µs``: most of them, and the median message and time."""
    table = context.insight["collectives"]
    kinds, count = np.unique(table["kind"][found.row], return_counts=True)
    size = table["bytes"][found.row]
    of = f"{format_bytes(float(np.median(size)))} and " if (size >= 0).all() else ""
    time = format_ns(float(np.median((table["end"] - table["start"])[found.row])))
    return f"{context.insight.strings[int(kinds[count.argmax()])]}, half of them of {of}{time}"


def _is_latency(context: RuleContext, found: Merges) -> bool:
    """Whether most of their time would not be paid again."""
    table = context.insight["collectives"]
    taken = float((table["end"] - table["start"])[found.row].sum())
    return 2 * float(found.time.sum()) <= taken


def _of_ddp(context: RuleContext) -> bool:
    """Whether DistributedDataParallel calls them: then a bucket is its own."""
    return bool(context.named(context.calls, "DistributedDataParallel.forward".__eq__).any())


RULE = Rule(
    place=58,
    claim=_claim,
    title="Many small collectives where few would do",
    action="Merge small collectives into buckets",
    fact="{collectives} per {step} could be {buckets}",
    sentence="""{collectives} collectives per {step} could be {buckets}: merged into buckets, they leave the {step} {gain}
    ({share}) shorter.""",
    attempt="""Merge them. With DistributedDataParallel: bucket_cap_mb=25 (the default) or more. Averaging by hand,
    one all_reduce per parameter: wrap the model in DistributedDataParallel, which also sends each bucket while the
    backward pass goes on, or flatten the gradients into one tensor, or call them within
    torch.distributed._coalescing_manager. With FSDP: wrap larger units.""",
    caveat="""A collective also lasts while it waits for the slowest rank, and that stays: look at the Distributed view
    first.""",
    views=("overview", "distributed", "trace"),
    certainty="likely",
    cause="Latency of many small collectives costs {gain} of {the_step}",
    causes=(PathCause.COMMUNICATION,),
    without="Merged into buckets",
    links=(
        (
            "bucket_cap_mb of DistributedDataParallel",
            links.DOCS + "generated/torch.nn.parallel.DistributedDataParallel.html",
        ),
        ("DistributedDataParallel", links.DOCS + "notes/ddp.html"),
    ),
    details=(
        ("like", "They are {like} or less: latency, not bandwidth."),
        ("by_hand", "They are called one by one, {by_hand}."),
    ),
    numbers={
        "collectives": ("Collectives", "count"),
        "buckets": ("Left as buckets", "count"),
        "each": ("Median time", "ns"),
        "total": ("Their time", "ns"),
    },
)
