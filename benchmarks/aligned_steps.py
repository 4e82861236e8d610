"""Known delays in large steps: whether Compare finds each where it is, and how long the replies take.

    python benchmarks/aligned_steps.py SOURCE.json[.gz] [--events 1000000] [--steps 2] [--delays 8] [--rounds 20] [--enlarged 10000000]

The source's events are repeated along the time axis, without its own steps, into so many steps, and a copy stands still at
drawn moments of the step that is compared. Printed are the events of a step, what was found of the delays, to the
nanosecond and in the picture, and the median and 95th percentile of the reply, each made anew
from open traces, with the processor time that it takes.

Then both recordings are aligned as a whole for the timeline: how long that takes, what part of it is the matching, and how
long the reply of a drawn window of it takes once that is kept. A reply is made of nothing but the ties and the paths, so those
are repeated until they are of so many ``--enlarged`` events, with every stretch between two ties a little longer or shorter on one
side, as in two recordings of one program, and its replies are measured, too.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from torch_tb_profiler.analysis.diff.aligned_steps import DrawnStep, align, ties

from tests.builders.delays import delayed
from tests.loading import load
from torch_tb_profiler.analysis.arrays.intervals import totals, union
from torch_tb_profiler.analysis.diff.aligned_recordings import (
    AlignedRecordings,
    RecordedSide,
    align_recordings,
)
from torch_tb_profiler.analysis.diff.step_path import GroupTimes, step_path
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.match.events import match_steps, step_events
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.views.diff.aligned import aligned_payload
from torch_tb_profiler.views.diff.axis import axis_payload
from torch_tb_profiler.views.diff.payload import Recording, compared
from torch_tb_profiler.views.wire import to_json

IDS = ("External id", "external id", "correlation", "Python id", "Python parent id")
STEP = "ProfilerStep#"
PARTS = 2560
"""Of a window: what the page asks for at 1,280 px."""


def repeated(path: Path, wanted: int, steps: int) -> list[dict[str, Any]]:
    """The events of a file so often that there are ``wanted``, in ``steps`` steps."""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    events = [
        event
        for event in orjson.loads(text)["traceEvents"]
        if event.get("ph") == "X" and not str(event.get("name")).startswith(STEP)
    ]
    begin = min(float(event["ts"]) for event in events)
    span = max(float(event["ts"]) + float(event.get("dur", 0)) for event in events) - begin + 10
    rounds = -(-wanted // (len(events) * steps))
    main = max(
        (event for event in events if event.get("cat") in ("cpu_op", "Operator")),
        key=lambda event: float(event.get("dur", 0)),
    )
    found = []
    for step in range(steps):
        at = step * rounds * span
        mark = {"ph": "X", "cat": "user_annotation", "name": f"{STEP}{step}", "args": {}}
        found.append(
            {**mark, "pid": main["pid"], "tid": main["tid"], "ts": at, "dur": rounds * span - 5}
        )
        for turn in range(rounds):
            found += _moved(events, at + turn * span + 2 - begin, (step * rounds + turn) << 24)
    return found


def _moved(events: list[dict[str, Any]], by: float, ids: int) -> Iterator[dict[str, Any]]:
    for event in events:
        args = event.get("args") or {}
        args = {
            key: value + ids if key in IDS and isinstance(value, int) else value
            for key, value in args.items()
        }
        yield {**event, "ts": round(float(event["ts"]) + by, 3), "args": args}


def main() -> None:
    """Print what was found, and how long it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    for name, value in (("events", 1_000_000), ("steps", 2), ("delays", 8), ("rounds", 20)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--enlarged", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    events = repeated(options.source, options.events, options.steps)
    first = min(event["ts"] for event in events)
    mark = next(event for event in events if event["name"] == f"{STEP}0")
    # A nanosecond off what is told in microseconds: no event begins or ends there.
    moments = mark["ts"] - first + random.random(options.delays) * mark["dur"] * 0.98
    lengths = (random.random(options.delays) * mark["dur"] * 20).astype(np.int64) + 1
    delays = sorted(
        zip((moments.astype(np.int64) * 1000 + 1).tolist(), lengths.tolist(), strict=True)
    )
    sides = []
    with tempfile.TemporaryDirectory() as folder:
        for name, listed in (("before", events), ("after", delayed(events, delays))):
            path = Path(folder) / f"{name}.json"
            path.write_bytes(orjson.dumps({"schemaVersion": 1, "traceEvents": listed}))
            opened = load(str(path), Settings())
            sides.append((opened.trace, opened.facts, build_insight(opened.trace, opened.facts)))
    told = report(sides, delays, options.rounds, options.delays)
    print(json.dumps({**told, **timeline(sides, options.rounds, options.enlarged)}, indent=1))


def report(
    sides: list[Any], delays: list[tuple[int, int]], rounds: int, count: int
) -> dict[str, Any]:
    """What was found in the step, and how long its reply takes."""
    steps = [
        DrawnStep.of(trace, step_path(facts, insight, 0, facts.summary.has_device))
        for trace, facts, insight in sides
    ]
    exact = align(steps[0], steps[1])
    assert exact.gaps is not None
    begin = int(sides[0][1]["steps"]["start"][0])
    x, _ = ties(steps[0], steps[1], exact.matched)
    expected: dict[int, int] = {}
    for moment, length in delays:
        tie = int(x[np.searchsorted(x, moment - begin, side="right")])
        expected[tie] = expected.get(tie, 0) + length
    found = dict(zip(exact.gaps.before.tolist(), exact.gaps.size.tolist(), strict=True))
    one = Selection(np.array([0]), False)
    took, cpu, size = [], [], 0
    for _ in range(rounds):
        both = compared(*((facts, insight, one) for _, facts, insight in sides))
        recordings = (Recording("a", "w", "", "a", {}), Recording("b", "w", "", "b", {}))
        start, begun = time.perf_counter(), time.process_time()
        reply = to_json(aligned_payload(both, (sides[0][0], sides[1][0]), recordings))
        took.append(time.perf_counter() - start)
        cpu.append(time.process_time() - begun)
        size = len(reply)
    return {
        "events_of_trace": sides[0][0]["spans"].n,
        "events_of_step": len(steps[0].events.host) + len(steps[0].events.device),
        "ties": len(x),
        "matched": exact.matched.share,
        "delays": count,
        "found_exactly": sum(found.get(tie) == length for tie, length in expected.items()),
        "of_places": len(expected),
        "others": len(set(found) - set(expected)),
        "reply_bytes": size,
        "median_ms": round(float(np.median(took)) * 1000),
        "p95_ms": round(float(np.quantile(took, 0.95)) * 1000),
        "median_cpu_ms": round(float(np.median(cpu)) * 1000),
    }


def timeline(sides: list[Any], rounds: int, enlarged: int) -> dict[str, Any]:
    """How long it takes to align both recordings, and to answer for windows of the axis."""
    both = [
        RecordedSide(trace, facts, insight, np.arange(facts["steps"].n))
        for trace, facts, insight in sides
    ]
    events = [step_events(side.trace, side.facts, side.steps) for side in both]
    start, begun = time.perf_counter(), time.process_time()
    match_steps(events[0], events[1])
    matching, matching_cpu = time.perf_counter() - start, time.process_time() - begun
    start, begun = time.perf_counter(), time.process_time()
    aligned = align_recordings(both[0], both[1])
    cold, cold_cpu = time.perf_counter() - start, time.process_time() - begun
    count = sides[0][0]["spans"].n
    # Every begin and end of what the paths come by: as many ties as there can be.
    edges = np.concatenate(
        [edge for points, _ in aligned.spent[0].groups for edge in (points.start, points.end)]
    )
    spans = sides[0][0]["spans"]
    edges = np.unique(
        np.concatenate((edges, spans["start"][events[0].host], spans["start"][events[0].device]))
    )
    large = repeated_alignment(aligned, edges, -(-enlarged // count))
    told: dict[str, Any] = {
        "matching_ms": round(matching * 1000),
        "matching_cpu_ms": round(matching_cpu * 1000),
        "aligned_cold_ms": round(cold * 1000),
        "aligned_cold_cpu_ms": round(cold_cpu * 1000),
    }
    for name, one in (("", aligned), ("enlarged_", large)):
        took, cpu, size = replies(one, 10 * rounds)
        told |= {
            f"{name}ties": len(one.axis),
            f"{name}stretches": sum(len(points.start) for points, _ in one.spent[0].groups),
            f"{name}window_bytes": size,
            f"{name}window_median_ms": round(float(np.median(took)) * 1000, 1),
            f"{name}window_p95_ms": round(float(np.quantile(took, 0.95)) * 1000, 1),
            f"{name}window_p95_cpu_ms": round(float(np.quantile(cpu, 0.95)) * 1000, 1),
        }
    return told


def replies(aligned: AlignedRecordings, rounds: int) -> tuple[list[float], list[float], int]:
    """Time and processor time of replies for windows of any length anywhere, and the bytes of the largest."""
    random = np.random.default_rng(1)
    recording = Recording("a", "w", "", "a", {})
    took, cpu, size = [], [], 0
    for share, place in zip(10 ** -(6 * random.random(rounds)), random.random(rounds), strict=True):
        length = max(1, int(aligned.length * share))
        begin = int((aligned.length - length) * place)
        start, begun = time.perf_counter(), time.process_time()
        window = (begin, begin + length)
        reply = to_json(axis_payload(aligned, (recording, recording), "GPU", window, PARTS))
        took.append(time.perf_counter() - start)
        cpu.append(time.process_time() - begun)
        size = max(size, len(reply))
    return took, cpu, size


def repeated_alignment(aligned: AlignedRecordings, tie: Ints, times: int) -> AlignedRecordings:
    """What a recording so many times as long with these ties would be aligned as, beside another run of it."""
    length = int(tie[-1])
    before = (tie + length * np.arange(times)[:, None]).ravel()
    random = np.random.default_rng(2)
    step = np.diff(before, prepend=0)
    after = np.cumsum(np.maximum(0, step * random.normal(1, 0.1, len(step))).astype(np.int64))
    by = length * np.arange(times)[:, None]

    def groups(side: GroupTimes) -> GroupTimes:
        found = [
            union((points.start + by).ravel(), (points.end + by).ravel())
            for points, _ in side.groups
        ]
        return GroupTimes(tuple((points, totals(points)) for points in found))

    axis = np.cumsum(np.maximum(step, np.diff(after, prepend=0)))
    spent = groups(aligned.spent[0]), groups(aligned.spent[1])
    return replace(aligned, before=before, after=after, axis=axis, spent=spent)


if __name__ == "__main__":
    main()
