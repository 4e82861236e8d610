"""The timeline's server side on one trace; prints one JSON object.

    python benchmarks/timeline_server.py import LOGDIR CACHE      import the only trace of a logdir into the cache
    python benchmarks/timeline_server.py build LOGDIR CACHE       make its timeline in this process, stage by stage
    python benchmarks/timeline_server.py replies LOGDIR CACHE     every viewport's reply over the WSGI application
    python benchmarks/timeline_server.py http URL RUN WORKER SPAN the same over HTTP from a server
    that runs

A viewport is 1600 css px wide and lies anywhere in the trace; the page asks for the tiles of its
level that it touches in one request.
"""

from __future__ import annotations

import http.client
import itertools
import json
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

WIDTH_PX = 1600
PLACES = 12
"""Viewports of each level and choice of rows."""
PATIENCE_SECONDS = 1200.0
MOST_CELLS = 1 << 14
Ask = Callable[[str], tuple[int, bytes]]


@dataclass(frozen=True)
class Timed:
    """A reply: what it was for, how long it took, how large it was on the wire."""

    rows: str
    level: int
    ms: float
    bytes: int


def quantile(values: list[float], share: float) -> float:
    """The value that so many are not above."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def row_choices(about: dict[str, Any]) -> dict[str, list[int]]:
    """Lanes in view: the page as it opens, the 40 lanes of the largest groups, everything expanded."""
    default: list[int] = []
    for group in about["groups"]:
        lanes = range(group["lane"], group["lane"] + group["lanes"])
        default += lanes[:1] if group["kind"] == "python" else lanes
    large = sorted(about["groups"], key=lambda group: -group["events"] / group["lanes"])
    fullest = [
        lane for group in large for lane in range(group["lane"], group["lane"] + group["lanes"])
    ][:40]
    every = [
        lane
        for group in about["groups"]
        for lane in range(group["lane"], group["lane"] + group["lanes"])
    ]
    return {
        "as it opens": sorted(default),
        "40 fullest lanes": sorted(fullest),
        "all unfolded": sorted(every),
    }


def viewports(
    about: dict[str, Any], seed: int = 0
) -> Iterator[tuple[str, int, list[int], list[int]]]:
    """(choice of rows, level, tile numbers, lanes), the widest viewport of each level at random
    places.
    """
    chance = random.Random(seed)
    span = about["span_ns"]
    for rows, lanes in row_choices(about).items():
        for level in range(about["level_max"] + 1):
            tile = 1 << (level + about["tile_bits"])
            width = int(WIDTH_PX * (1 << level) * 1.99)
            for _ in range(PLACES):
                begin = chance.randrange(max(1, span - width)) if span > width else 0
                first, last = begin // tile, min(begin + width, span) // tile
                yield rows, level, list(range(first, last + 1)), lanes


def as_ranges(lanes: list[int]) -> str:
    """0, 1, 2, 5 as 0-2,5."""
    runs: list[list[int]] = []
    for lane in lanes:
        if runs and lane == runs[-1][1] + 1:
            runs[-1][1] = lane
        else:
            runs.append([lane, lane])
    return ",".join(f"{a}-{b}" if b > a else str(a) for a, b in runs)


def replies(ask: Ask, where: dict[str, str]) -> dict[str, Any]:
    """Times and sizes of all viewports, and of the other questions that the page asks."""
    about = json.loads(ready(ask, f"/trace/timeline?{urlencode(where)}"))
    parameters = {**where, "id": about["id"]}
    timed: list[Timed] = []
    for rows, level, numbers, lanes in viewports(about):
        # What the server refuses as too much at once the page asks for in several requests.
        most = max(1, MOST_CELLS // max(1, len(lanes)))
        for part in (numbers[i : i + most] for i in range(0, len(numbers), most)):
            query = {
                **parameters,
                "level": str(level),
                "k": ",".join(map(str, part)),
                "lanes": as_ranges(lanes),
            }
            timed.append(Timed(rows, level, *clocked(ask, f"/trace/tiles?{urlencode(query)}")))
    return {
        "events": about["events"],
        "span_s": about["span_ns"] / 1e9,
        "levels": about["level_max"] + 1,
        "lanes": sum(g["lanes"] for g in about["groups"]),
        "tiles": {
            rows: summary([t for t in timed if t.rows == rows]) for rows in row_choices(about)
        },
        "by_level": {
            str(level): summary([t for t in timed if t.level == level])
            for level in sorted({t.level for t in timed})
        },
        "lanes_of": {rows: len(lanes) for rows, lanes in row_choices(about).items()},
        "questions": questions(ask, parameters, about),
    }


def summary(timed: list[Timed]) -> dict[str, float]:
    """Quantiles of the times, and the largest reply."""
    times = [t.ms for t in timed]
    return {
        "replies": len(timed),
        "p50_ms": quantile(times, 0.5),
        "p95_ms": quantile(times, 0.95),
        "max_ms": max(times),
        "p95_bytes": quantile([float(t.bytes) for t in timed], 0.95),
        "max_bytes": max(t.bytes for t in timed),
    }


def questions(
    ask: Ask, trace_query: dict[str, str], about: dict[str, Any]
) -> dict[str, list[float]]:
    """What a person asks by hand → (ms the first time, ms again, bytes)."""
    span = about["span_ns"]
    whole = {**trace_query, "t0": "0", "t1": str(span)}
    second = {**trace_query, "t0": str(span // 2), "t1": str(min(span, span // 2 + 1_000_000_000))}
    kinds = ",".join(kind["kind"] for kind in about["arrow_kinds"])
    asked: dict[str, tuple[str, dict[str, str]]] = {
        "names": ("names", trace_query),
        "search, text": ("search", {**trace_query, "q": "gemm"}),
        "search, pattern": ("search", {**trace_query, "q": "gemm|elementwise.*float", "re": "1"}),
        "search in arguments": ("search", {**trace_query, "q": "1024", "args": "1"}),
        "heat of hits": ("search/heat", {**whole, "q": "gemm", "n": "1600"}),
        "next hit": (
            "search/next",
            {**trace_query, "q": "gemm", "t": str(span // 2), "dir": "next"},
        ),
        "area, 1 s": ("area", second),
        "area, whole": ("area", whole),
        "event": ("event", {**trace_query, "event": str(about["events"] // 2)}),
        "event's text": ("event/args", {**trace_query, "event": str(about["events"] // 2)}),
    }
    if kinds:
        asked["arrows, 1 s"] = ("arrows", {**second, "kinds": kinds, "cap": "2000"})
        asked["arrows, whole"] = ("arrows", {**whole, "kinds": kinds, "cap": "2000"})
    if about["counters"]:
        asked["counters, whole"] = ("counters", {**whole, "series": "0", "n": "1600"})
    queries = {}
    for name, (route, query) in asked.items():
        path = f"/trace/{route}?{urlencode(query)}"
        first, size = clocked(ask, path)
        queries[name] = [first, clocked(ask, path)[0], size]
    return queries


def clocked(ask: Ask, path: str) -> tuple[float, int]:
    """(ms, bytes on the wire)."""
    begin = time.perf_counter()
    status, data = ask(path)
    took = 1e3 * (time.perf_counter() - begin)
    if status != 200:
        raise SystemExit(f"{path} answered {status}: {data[:300]!r}")
    return took, len(data)


def ready(ask: Ask, path: str) -> bytes:
    """The body once it is no 202 any more."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        status, data = ask(path)
        if status == 200:
            from isal import isal_zlib

            return isal_zlib.decompress(data, wbits=31) if data[:2] == b"\x1f\x8b" else data
        if status != 202:
            raise SystemExit(f"{path} answered {status}: {data[:300]!r}")
    raise SystemExit("the timeline did not become ready")


def over_wsgi(logdir: str, cache: str) -> dict[str, Any]:
    """The replies of the application without a network."""
    from werkzeug.test import Client

    from torch_tb_profiler.web.application import Application

    catalogue, settings, where = opened(logdir, cache)
    client = Client(Application(catalogue, settings))

    def ask(path: str) -> tuple[int, bytes]:
        response = client.get(path, headers={"Accept-Encoding": "gzip"})
        return response.status_code, response.data

    measured = replies(ask, where)
    catalogue.close()
    return measured


def over_http(url: str, run: str, worker: str, span: str) -> dict[str, Any]:
    """The replies of a server that runs, over one connection."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(
        parts.hostname or "", parts.port, timeout=PATIENCE_SECONDS
    )

    def ask(path: str) -> tuple[int, bytes]:
        connection.request("GET", parts.path + path, headers={"Accept-Encoding": "gzip"})
        response = connection.getresponse()
        return response.status, response.read()

    return replies(ask, {"run": run, "worker": worker, "span": span})


def opened(logdir: str, cache: str) -> tuple[Any, Any, dict[str, str]]:
    """(catalogue, settings, the only trace's place) once it is imported."""
    from torch_tb_profiler.runs.catalogue import catalogue_of
    from torch_tb_profiler.settings import Settings

    settings = Settings(cache_dir=cache, settle_seconds=0.0, scan_seconds=0.2)
    catalogue = catalogue_of(logdir, settings)
    catalogue.start()
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        for run in catalogue.snapshot().runs:
            worker = run.workers[0]
            if worker.spans[0].state.value == "ready":
                return (
                    catalogue,
                    settings,
                    {"run": run.name, "worker": worker.name, "span": worker.spans[0].name},
                )
            if worker.spans[0].state.value == "failed":
                raise SystemExit(worker.spans[0].message)
        time.sleep(0.02)
    raise SystemExit("the trace did not become ready")


def imported(logdir: str, cache: str) -> dict[str, Any]:
    """Seconds until the trace is there."""
    begin = time.perf_counter()
    catalogue, _, where = opened(logdir, cache)
    found = catalogue.open(**where)
    catalogue.close()
    return {"import_s": time.perf_counter() - begin, "entries": found.trace.entries, "where": where}


def trace_sidecar(cache: str) -> Path:
    """The newest sidecar of a trace itself in a cache."""
    return max(
        (p for p in Path(cache).rglob("*.safetensors") if p.name.count(".") == 1),
        key=lambda p: p.stat().st_mtime,
    )


def with_peak(result: dict[str, Any]) -> dict[str, Any]:
    """The result and this process' peak memory."""
    return {**result, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def built(_: str, cache: str) -> dict[str, Any]:
    """Seconds of each stage of building the timeline, as it reports them."""
    from torch_tb_profiler.analysis.timeline.build import build_timeline
    from torch_tb_profiler.store import sidecar
    from torch_tb_profiler.store.memory import keep_freed_memory

    keep_freed_memory()  # as in the worker process
    path = trace_sidecar(cache)
    trace, facts = sidecar.read(path)
    at: list[tuple[int, float]] = [(0, time.perf_counter())]
    timeline = build_timeline(
        trace, facts, lambda done, total: at.append((100 * done // total, time.perf_counter()))
    )
    end = time.perf_counter()
    target = Path(cache) / "benchmark.safetensors"
    sidecar.write_derived(target, timeline)
    written = time.perf_counter() - end
    size = target.stat().st_size
    target.unlink()
    stages = {f"{before}-{after}": b - a for (before, a), (after, b) in itertools.pairwise(at)}
    return {
        "build_s": end - at[0][1],
        "stages_s": stages,
        "write_s": written,
        "events": timeline["slices"].n,
        "summaries": timeline["summaries"].n,
        "sidecar_mb": size / 1e6,
        "trace_sidecar_mb": path.stat().st_size / 1e6,
    }


def main(what: str, *words: str) -> None:
    """Run one measurement and print it."""
    measures: dict[str, Callable[..., dict[str, Any]]] = {
        "import": imported,
        "build": built,
        "replies": over_wsgi,
        "http": over_http,
    }
    print(json.dumps(with_peak(measures[what](*words))))


if __name__ == "__main__":
    main(*sys.argv[1:])
