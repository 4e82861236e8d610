"""What is mutated: windows of the samples, drawn and listed traces, and odd structures."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from tests.builders import pairs
from tests.web import test_strange_values, timeline_asked

Event = dict[str, Any]
Header = dict[str, Any]
Base = tuple[Header, list[Event]]
SAMPLES = Path(__file__).parents[2] / "samples"
MOST_EVENTS = 160
"""Of a window; small traces are many cases per second, and most faults need few events."""


@cache
def _sample(path: Path) -> Base:
    trace = json.loads(gzip.decompress(path.read_bytes()))
    listed = trace.pop("traceEvents")
    return trace, listed


@cache
def _sample_files() -> list[Path]:
    """One file of each sample."""
    folders = sorted({path.parent for path in SAMPLES.glob("*/*.json.gz")})
    return [min(folder.glob("*.json.gz")) for folder in folders]


def window(random: Random) -> Base:
    """Neighbouring events of a sample, with all metadata, and often with a step around them."""
    header, listed = _sample(random.choice(_sample_files()))
    begin = random.randrange(len(listed))
    chosen = listed[begin : begin + random.randrange(2, MOST_EVENTS)]
    chosen += [e for e in listed if e.get("ph") == "M"]
    if random.random() < 0.7:
        steps = [e for e in listed if str(e.get("name")).startswith("ProfilerStep#")]
        chosen += random.sample(steps, min(len(steps), 3))
    return json.loads(json.dumps(header)), [json.loads(json.dumps(e)) for e in chosen]


def strange(random: Random) -> Base:
    """One event of every kind, a few times over."""
    listed = []
    for turn in range(random.randrange(1, 5)):
        for event in test_strange_values.events():
            listed.append({**event, "ts": event["ts"] + 200 * turn})
    return json.loads(json.dumps(test_strange_values.HEADER)), listed


def drawn(random: Random) -> Base:
    """The trace that answers something to every question of the timeline."""
    return {"schemaVersion": 1}, json.loads(json.dumps(timeline_asked.listed()))


def job(random: Random) -> Base:
    """Steps of a data-parallel job with kernels, copies and collectives."""
    change = random.choice(list(pairs.CHANGES.values()))
    listed = pairs.recording(change, random.randrange(1000), random.randrange(1, 4), 0.1)
    info = {"backend": "nccl", "rank": 0, "world_size": 2}
    return {"schemaVersion": 1, "distributedInfo": info}, listed


def legacy(random: Random) -> Base:
    """As ``torch.autograd.profiler`` wrote them: no categories, the process tells."""
    listed: list[Event] = []
    for number in range(random.randrange(1, 30)):
        begin = 10 * number
        name = random.choice(["aten::mm", "aten::add", "Memcpy HtoD"])
        host = {"ph": "X", "pid": "CPU functions", "tid": random.randrange(2)}
        listed.append({**host, "name": name, "ts": begin, "dur": 5, "args": {}})
        device = {"ph": "X", "pid": "CUDA functions", "tid": random.choice([0, 1, "x"])}
        listed.append({**device, "name": name, "ts": begin + 3, "dur": 4, "args": {}})
        for phase, tid, at in (("s", 0, begin), ("f", 0, begin + 3)):
            arrow = {"ph": phase, "cat": "cpu_to_cuda", "id": number, "name": "cpu_to_cuda"}
            listed.append({**arrow, "pid": "CPU functions", "tid": tid, "ts": at, "args": {}})
    return {}, listed


def odd(random: Random) -> Base:
    """One of the structures that once cost a whole trace, or could."""
    return {"schemaVersion": 1}, random.choice(_ODD)(random)


def _span(number: int, **changed: Any) -> Event:
    event = {"ph": "X", "cat": "cpu_op", "name": f"op{number}", "pid": 1, "tid": 2}
    return {**event, "ts": 100 + 10 * number, "dur": 5, "args": {}, **changed}


def _flows_alone(random: Random) -> list[Event]:
    return [
        _span(n, ph=random.choice("stf"), cat=random.choice(["ac2g", "fwdbwd"]), id=n // 2)
        for n in range(random.randrange(1, 40))
    ]


def _two_types_of_one_device(random: Random) -> list[Event]:
    return [_span(0)] + [
        _span(
            n,
            ph="i",
            cat="cpu_instant_event",
            name="[memory]",
            args={
                "Device Type": random.randrange(3),
                "Device Id": random.choice([-1, 0, 0, 1]),
                "Addr": random.randrange(1, 9),
                "Bytes": random.choice([-64, 64, 64, 128]),
                "Total Allocated": 64 * n,
                "Total Reserved": 128 * n,
            },
        )
        for n in range(random.randrange(1, 60))
    ]


def _extreme_times(random: Random) -> list[Event]:
    far = [0, 1, 10**6, 10**12, 2_999_999_999_999_000, -2_999_999_999_999_000, 1 << 52]
    return [
        _span(
            n,
            ts=random.choice(far),
            dur=random.choice(far),
            cat=random.choice(["cpu_op", "kernel", "user_annotation", "cuda_runtime"]),
            tid=random.randrange(3),
            args={"correlation": random.randrange(3)},
        )
        for n in range(random.randrange(1, 20))
    ]


def _many_devices(random: Random) -> list[Event]:
    return [
        _span(n, cat="kernel", pid=n, tid=7, args={"device": n, "stream": 7, "correlation": n})
        for n in range(random.randrange(1, 200))
    ]


def _many_threads(random: Random) -> list[Event]:
    return [_span(n, tid=n, ts=100) for n in range(random.randrange(1, 300))]


def _deep(random: Random) -> list[Event]:
    depth = random.randrange(1, 250)
    category = random.choice(["cpu_op", "python_function", "kernel"])
    return [_span(n, ts=n, dur=2 * (depth - n), cat=category) for n in range(depth)]


def _all_at_once(random: Random) -> list[Event]:
    categories = ["cpu_op", "kernel", "python_function", "user_annotation", "cuda_runtime"]
    return [
        _span(n % 5, ts=100, dur=random.choice([0, 0, 5]), cat=random.choice(categories))
        for n in range(random.randrange(1, 60))
    ]


def _begins_and_ends(random: Random) -> list[Event]:
    return [
        _span(n, ph=random.choice("BBEEX"), tid=random.randrange(2), ts=random.randrange(60))
        for n in range(random.randrange(1, 60))
    ]


def _steps(random: Random) -> list[Event]:
    names = [f"ProfilerStep#{random.choice([n, n, 0, -1, 10**20])}" for n in range(40)]
    return [
        _span(
            n,
            name=names[n % 40],
            cat="user_annotation",
            ts=random.randrange(100),
            dur=random.randrange(40),
            tid=random.randrange(2),
        )
        for n in range(random.randrange(1, 60))
    ]


def _counters(random: Random) -> list[Event]:
    return [
        _span(n, ph="C", name=f"c{n % 3}", args={f"s{n % 4}": random.choice([0, 1e300, -5, n])})
        for n in range(random.randrange(1, 60))
    ]


def _nothing(random: Random) -> list[Event]:
    return []


def _points_alone(random: Random) -> list[Event]:
    return [_span(n, ph=random.choice("iIRC")) for n in range(random.randrange(1, 20))]


_ODD: tuple[Callable[[Random], list[Event]], ...] = (
    _flows_alone,
    _two_types_of_one_device,
    _extreme_times,
    _many_devices,
    _many_threads,
    _deep,
    _all_at_once,
    _begins_and_ends,
    _steps,
    _counters,
    _nothing,
    _points_alone,
)
BASES: tuple[Callable[[Random], Base], ...] = (
    window,
    window,
    strange,
    drawn,
    job,
    legacy,
    odd,
    odd,
)
