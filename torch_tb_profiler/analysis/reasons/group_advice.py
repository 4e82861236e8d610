"""What hides the communication of a process group depends on what the group is for: data, shards, tensors, stages or experts."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by
from torch_tb_profiler.analysis.distributed.collectives import listed_groups
from torch_tb_profiler.analysis.distributed.coordinates import dimension_name
from torch_tb_profiler.analysis.findings.rule import RuleContext, words_of
from torch_tb_profiler.units import format_ns

_ADVICE = {
    "all_gather": """Gathered shards: prefetch the next layer's parameters while one computes (forward_prefetch, or
    set_modules_to_forward_prefetch), wrap larger units, keep them gathered between forward and backward
    (reshard_after_forward=False) where memory allows, gather in bfloat16 (MixedPrecision).""",
    "reduce_scatter": """Scattered gradients: wrap larger units, reduce in bfloat16, and reduce once per accumulation
    (set_requires_gradient_sync(False), or no_sync where memory allows).""",
    "broadcast": """One rank's tensors, sent to all: those that do not change in a step need no broadcast in each
    (DistributedDataParallel(broadcast_buffers=False) for buffers, SyncBatchNorm where statistics must agree); what each rank can read
    or compute itself need not be sent.""",
    "tensor": """Tensor parallel: each layer needs the result at once, so neither buckets nor accumulation help. Use sequence
    parallelism, split the product so that a part is sent while the next computes (async tensor parallelism), or fewer ranks per
    group, all on one node.""",
    "pipeline": "Stages: send a micro-batch while the next computes (isend and irecv, an interleaved schedule).",
    "expert": """Experts: compute shared experts or another micro-batch while tokens are sent, send them in a smaller type, limit
    what each expert takes (capacity), keep a token's experts on one node.""",
}
_KINDS = {
    "DP": "data",
    "DP replicate": "data",
    "expert DP": "data",
    "FSDP": "shards",
    "DP shard": "shards",
    "TP": "tensor",
    "SP": "tensor",
    "CP": "tensor",
    "expert TP": "tensor",
    "PP": "pipeline",
    "EP": "expert",
}
MOST = 4
"""Groups and kinds that are told, those that take most."""


def by_group(context: RuleContext) -> dict[str, str]:
    """``attempt``, what to try for the groups whose collectives nothing runs beside; and ``groups``, how long each kind of them
    takes so per step, where there are several groups.
    """
    table, texts = context.insight["collectives"], context.insight.strings
    row = np.flatnonzero(np.isin(table["step"], context.steps) | context.is_whole)
    if not len(row):
        return {}
    first, own = group_rows((table["group"][row], table["kind"][row]))
    time = sum_by(own, len(first), table["exposed"][row]) / max(len(context.steps), 1)
    described = {group.name: group.description for group in listed_groups(context.trace)}
    names, kinds = (
        [str(texts[n] or "") if n >= 0 else "" for n in table[key][row[first]].tolist()]
        for key in ("group", "kind")
    )
    order = [n for n in np.argsort(-time, kind="stable").tolist() if time[n] > 0] or [0]
    of_group = dict[str, list[str]]()
    for name, kind in zip(names, kinds, strict=True):
        of_group.setdefault(name, []).append(kind)
    keys = []
    for n in order[:MOST]:
        use = _kind(described.get(names[n], "") or names[n], of_group[names[n]])
        keys.append(kinds[n] if use in ("shards", "data") else use)
    data = words_of("ranks")["exposed_communication"].attempt
    advice = dict.fromkeys(_ADVICE.get(key, data) for key in keys)
    told = [
        f"{described.get(names[n], '') or names[n] or 'default'} {kinds[n]} {format_ns(float(time[n]))}"
        for n in order[:MOST]
    ]
    return {
        "attempt": " ".join(" ".join(text.split()) for text in advice),
        "groups": ", ".join(told) if len(set(names)) > 1 else "",
    }


def _kind(description: str, kinds: Iterable[str]) -> str:
    """What a group is for: as its description says, else by what it does."""
    if known := _KINDS.get(dimension_name(description), ""):
        return known
    called = set(kinds)
    if called <= {"send", "recv"}:
        return "pipeline"
    if called <= {"all_to_all", "all_to_all_v"}:
        return "expert"
    return "shards" if {"all_gather", "reduce_scatter"} <= called else "data"
