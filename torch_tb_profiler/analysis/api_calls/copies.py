"""Copies and memsets by what they move from where to where, and how fast."""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.api_calls.launches import Launches
from torch_tb_profiler.analysis.arrays.grouping import (
    extreme_by,
    group_rows,
    largest_by,
    medians,
    picked,
    sum_by,
)
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.hardware.accelerators import find
from torch_tb_profiler.hardware.links import Link, link_of
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import DisplayTable, display_spec
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

KINDS = (
    ("HtoD", r"h(?:ost)?[\s_]*(?:to|2|->)[\s_]*d(?:ev(?:ice)?)?\b"),
    ("DtoH", r"d(?:ev(?:ice)?)?[\s_]*(?:to|2|->)[\s_]*h(?:ost)?\b"),
    ("PtoP", r"p(?:eer)?[\s_]*(?:to|2|->)[\s_]*p(?:eer)?\b"),
    ("DtoD", r"d(?:ev(?:ice)?)?[\s_]*(?:to|2|->)[\s_]*d(?:ev(?:ice)?)?\b"),
    ("HtoH", r"h(?:ost)?[\s_]*(?:to|2|->)[\s_]*h(?:ost)?\b"),
)
"""Kinds of copies and how their names begin or hold them, case ignored."""
_KINDS = tuple((kind, regex(rf"(?:^|[^a-z]|copy|cpy){pattern}", re.I)) for kind, pattern in KINDS)
SIZES = np.array([0, 1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 28])
"""Classes of size begin here, bytes."""
SIZE_NAMES = ("< 4 KiB", "< 64 KiB", "< 1 MiB", "< 16 MiB", "< 256 MiB", "≥ 256 MiB")

COPIES = display_spec("""
copies: One row per kind, host memory and size of copies and memsets, the most time first.
    kind        category   Kind         term=copy_kind width=90              HtoD, DtoH, DtoD, PtoP (between devices), HtoH, Memset; `other` where the name does
        not say.
    memory      category   Host memory  term=copy_memory optional width=110  pageable or pinned, where the name tells.
    size        category   Size         term=copy_size optional width=110    Class of the bytes of one.
    calls       count      Count        term=copy_calls unit=copies          How many.
    total_ns    time       Total        term=copy_total bar                  Sum of their durations.
    median_ns   mean time  Median       term=copy_median                     Median duration.
    max_ns      time       Max          term=copy_max                        Longest duration.
    bytes       bytes      Bytes        term=copy_bytes optional             Sum of their bytes.
    rate        B/s        Rate         term=copy_rate optional              Bytes by the time of those whose bytes are known.
    link_share  share      Of link      term=copy_link optional              Of the peak of the device's links in one direction, where the device tells it; only
        PtoP.
    event       row        -            -                                    The longest.
""")  # fmt: skip


def copy_kind(name: str) -> str:
    """``Memcpy DtoH (Device -> Pinned)`` → ``DtoH``."""
    if name.lower().startswith(("memset", "fill")):
        return "Memset"
    head = name.partition("(")[0]
    return next(
        (kind for text in (head, name) for kind, pattern in _KINDS if pattern.search(text)), "other"
    )


def host_memory(name: str) -> str | None:
    """``pageable`` or ``pinned``; None where the name does not say."""
    low = name.lower()
    return "pageable" if "pageable" in low else "pinned" if "pinned" in low else None


def copy_table(trace: Trace, facts: Facts, launches: Launches) -> DisplayTable:
    """Copies and memsets by kind, host memory and size, the most time first."""
    rows = np.flatnonzero(~launches.kernel & launches.selected)
    work, dur = launches.work[rows], launches.dur[rows]
    kinds, kind = _labels(trace, work, launches.name[rows], copy_kind)
    memories, memory = _labels(trace, work, launches.name[rows], host_memory)
    memset = trace["spans"]["role"][work] == Role.MEMSET
    kinds.append("Memset")
    kind[memset] = len(kinds) - 1
    moved = device_arguments(trace, work, ("bytes",))["bytes"]
    size = np.where(moved < 0, -1, np.searchsorted(SIZES, moved, side="right") - 1)
    # Equal texts may have several numbers: those of the first one count.
    kind = np.array([kinds.index(text) for text in kinds], np.int64)[kind]
    first, group = group_rows([kind, memory, size])
    n = len(first)
    total = sum_by(group, n, dur)
    known = moved >= 0
    sized, timed = (sum_by(group[known], n, values[known]) for values in (moved, dur))
    rate = np.where((size[first] >= 0) & (timed > 0), sized / np.maximum(timed, 1) * 1e9, np.nan)
    link = device_link(facts)
    peer = np.array([kinds[i] == "PtoP" for i in kind[first].tolist()], np.bool_)
    table = COPIES.build(
        trace.strings,
        kind=[kinds[i] for i in kind[first].tolist()],
        memory=[memories[i] for i in memory[first].tolist()],
        size=[SIZE_NAMES[i] if i >= 0 else None for i in size[first].tolist()],
        calls=np.bincount(group, minlength=n),
        total_ns=total,
        median_ns=medians(group, n, dur),
        max_ns=np.maximum(extreme_by(np.maximum, group, n, dur), 0),
        bytes=np.where(size[first] >= 0, sized, -1),
        rate=rate,
        link_share=np.where(peer, rate / link.rate(2), np.nan) if link else np.full(n, np.nan),
        event=picked(work, largest_by(group, n, dur)),
    )
    return table.take(np.argsort(-total, kind="stable"))


def _labels(trace: Trace, work: Ints, name: Ints, says: object) -> tuple[list[str | None], Array]:
    """``(labels, number)``: what ``says`` makes of each distinct name, and of each row the place in labels."""
    first, number = group_rows([name])
    labels = [says(trace.strings[i]) for i in name[first].tolist()]  # type: ignore[operator]
    place = np.array([labels.index(label) for label in labels], np.int64)
    return labels, place[number] if len(place) else np.zeros(len(work), np.int64)


def device_link(facts: Facts) -> Link | None:
    """The links of the devices of a trace, where all are of one kind and it tells."""
    devices = facts["devices"]
    known = [
        find(facts.strings[name] if name >= 0 else "", facts.summary.vendor, units, memory)
        for name, units, memory in zip(
            *(devices[key].tolist() for key in ("name", "multiprocessors", "memory")), strict=True
        )
    ]
    of_one_kind = len({one.name if one else "" for one in known}) == 1
    return link_of(known[0]) if of_one_kind and known[0] else None
