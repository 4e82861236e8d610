"""Files that several ranks were merged into, beside the ranks' own files, which are the truth.

::

    rank 0   [op 1  ] [op 2  ]            ids 1, 2, 3 …; the process ids of the merged file may have labels
                {k0_1 }   {k0_2}
    rank 1      [op 1  ] [op 2  ]         the same ids again
                   {k1_1    } {k1_2}

The name of a kernel says whose it is, which nothing that is tested looks at.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.builders.loop import BASE_NS, Event, document, span

LABELS: tuple[Callable[[int, Any], Any], ...] = (
    lambda rank, pid: f"[TP{rank:02d}] {pid}",
    lambda rank, pid: f"[TP{rank // 2:02d}-PP{rank % 2:02d}] {pid}",
    lambda rank, pid: f"[DP00-TP{rank}-EP{rank}]{pid}",
    lambda rank, pid: f"rank{rank}/{pid}",
    lambda rank, pid: f"Rank {rank}: {pid}",
    lambda rank, pid: f"{pid} (rank {rank})",
    lambda rank, pid: f"{pid}@host{rank}",
    lambda rank, pid: f"r{rank}_{pid}",
    lambda rank, pid: f"{rank}:{pid}",
    lambda rank, pid: f"node{rank // 2} rank{rank % 2} {pid}",
    lambda rank, pid: f"<worker-{rank}> {pid}",
)
"""How a merger may write the rank beside a process id."""
IDS = ("equal", "apart", "interleaved", "shifted")
ORDERS = ("one after the other", "by time", "shuffled", "by process", "devices first")
CLOCKS_US = (0, 3, 40, 700, 50_000, 3_600_000_000)


@dataclass(frozen=True)
class Variant:
    """What a merged file is like.

    label: position in ``LABELS``; None: process ids stay as they are, with ``offset`` times the
        rank added.
    own_devices: each rank has a device of its own number; else all have number 0.
    clock_us: how much later each rank begins than the one before.
    lost: share of launches and of kernels that are missing.
    """

    ranks: int = 2
    steps: int = 3
    label: int | None = None
    offset: int = 0
    ids: str = "equal"
    order: str = "one after the other"
    own_devices: bool = True
    clock_us: int = 0
    alike: bool = True
    queued: bool = False
    externals: bool = True
    graphs: bool = False
    lost: float = 0.0
    seed: int = 0


def any_variant(rng: random.Random) -> Variant:
    """A variant of any kind."""
    return Variant(
        ranks=rng.choice((2, 2, 3, 4, 6)),
        steps=rng.choice((1, 2, 3, 8)),
        label=rng.choice((None, None, rng.randrange(len(LABELS)))),
        offset=rng.choice((0, 0, 1_000_000)),
        ids=rng.choice(IDS),
        order=rng.choice(ORDERS),
        own_devices=rng.random() < 0.6,
        clock_us=rng.choice(CLOCKS_US),
        alike=rng.random() < 0.6,
        queued=rng.random() < 0.3,
        externals=rng.random() < 0.7,
        graphs=rng.random() < 0.2,
        lost=rng.choice((0.0, 0.0, 0.1)),
        seed=rng.getrandbits(32),
    )


def rank_files(variant: Variant) -> list[list[Event]]:
    """The events of each rank as its own file has them."""
    return [list(_rank(variant, rank)) for rank in range(variant.ranks)]


def merged_file(variant: Variant) -> dict[str, Any]:
    """The merged file."""
    rng = random.Random(variant.seed ^ 0x5EED)
    ranks = [
        [{**event, "pid": _pid(variant, rank, event["pid"])} for event in events]
        for rank, events in enumerate(rank_files(variant))
    ]
    events = [event for rank in ranks for event in rank]
    if variant.order == "by time":
        events.sort(key=lambda event: event["ts"])
    elif variant.order == "shuffled":
        rng.shuffle(events)
    elif variant.order == "by process":
        pids = list(dict.fromkeys(event["pid"] for event in events))
        rng.shuffle(pids)
        events.sort(key=lambda event: pids.index(event["pid"]))
    elif variant.order == "devices first":
        events.sort(key=lambda event: event["cat"] != "kernel")
    return document(events, rank=0, world=variant.ranks, base_ns=BASE_NS)


def truth(variant: Variant) -> dict[str, tuple[float, bool]]:
    """Of each kernel the begin of its operator in µs, and whether its launch is recorded."""
    told = {}
    for events in rank_files(variant):
        operators = {e["name"]: e["ts"] for e in events if e["cat"] == "cpu_op"}
        launched = {e["args"]["correlation"] for e in events if e["cat"] == "cuda_runtime"}
        for event in events:
            if event["cat"] == "kernel":
                begin = operators[f"op_{event['name'].split('_')[1]}"]
                told[event["name"]] = begin, event["args"]["correlation"] in launched
    return told


def _pid(variant: Variant, rank: int, pid: int) -> Any:
    if variant.label is None:
        return pid + rank * variant.offset
    return LABELS[variant.label](rank, pid)


def _rank(variant: Variant, rank: int) -> Iterator[Event]:
    shape = random.Random(variant.seed if variant.alike else variant.seed + rank)
    jitter = random.Random(variant.seed * 31 + rank)
    # Where labels tell ranks apart their process ids may be equal: containers count from 1.
    pid = 100 if variant.label is not None and variant.seed % 2 else 100 + rank
    thread = 100 + rank
    device = rank if variant.own_devices else 0
    now = 1_000_000.0 + rank * variant.clock_us + jitter.random()
    free, number = 0.0, 0
    for step in range(variant.steps):
        begin = now
        inner = []
        for _ in range(shape.randrange(1, 4)):
            number += 1
            graph = variant.graphs and shape.random() < 0.5
            identity = _id(variant, rank, number)
            length = shape.randrange(20, 60) + jitter.random()
            ids = {"correlation": identity}
            external = {"External id": 1000 + number} if variant.externals else {}
            inner.append(span("cpu_op", f"op_{number}", pid, thread, now, length, **external))
            call = "cudaGraphLaunch" if graph else "cudaLaunchKernel"
            if jitter.random() >= variant.lost:
                inner.append(span("cuda_runtime", call, pid, thread, now + 5, 8, **ids, **external))
            wait = shape.randrange(100, 400) if variant.queued else shape.randrange(6, 20)
            free = max(free, now + 5 + wait + jitter.random())
            for part in range(3 if graph else 1):
                took = shape.randrange(5, 90) + jitter.random()
                more = {"device": device, "stream": 7, **ids, **external}
                name = f"k{rank}_{number}_{part}"
                if jitter.random() >= variant.lost:
                    inner.append(span("kernel", name, device, 7, free, took, **more))
                free += took
            now += length + shape.randrange(1, 30)
        now += 5
        yield span("user_annotation", f"ProfilerStep#{step}", pid, thread, begin, now - begin)
        yield from inner
        now += 3


def _id(variant: Variant, rank: int, number: int) -> int:
    return {
        "equal": number,
        "apart": rank * 100_000 + number,
        "interleaved": number * variant.ranks + rank + 1,
        "shifted": number + rank * (1 + variant.seed % 4),
    }[variant.ids]
