"""The insight's budgets as tables: making it part by part, and every view that rests on it, first after a restart and again.

    python benchmarks/insight.py TRACE... [--scratch DIR] [--write]

``--write`` puts the tables into ``benchmarks/insight.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import timeline_server
from timeline import MARK, part

TARGET = Path(__file__).with_name("insight.md")
PARTS = ("paths", "work", "memory", "communication", "workloads", "counters", "findings")


def made(_: str, cache: str) -> dict[str, Any]:
    """Seconds of each part of making the insight in this process, and the size of its sidecar."""
    from torch_tb_profiler.analysis.insight import build_insight
    from torch_tb_profiler.store import sidecar
    from torch_tb_profiler.store.memory import keep_freed_memory

    keep_freed_memory()  # as in the worker process
    trace, facts = sidecar.read(timeline_server.trace_sidecar(cache))
    at = [time.perf_counter()]
    insight = build_insight(trace, facts, lambda done, total: at.append(time.perf_counter()))
    target = Path(cache) / "benchmark.safetensors"
    sidecar.write_insight(target, insight)
    size = target.stat().st_size
    target.unlink()
    seconds = {name: b - a for name, a, b in zip(PARTS, at, at[1:], strict=False)}
    rows = {name: insight[name].n for name in ("paths", "allocations", "collectives")}
    return {"parts_s": seconds, "build_s": at[-1] - at[0], "entries": trace.entries, "spans": trace["spans"].n, "sidecar_mb": size / 1e6, **rows}


def asked(logdir: str, cache: str) -> dict[str, Any]:
    """Every view: (ms of the first answer in a fresh process whose sidecars are there, ms again, bytes on the wire)."""
    from werkzeug.test import Client

    from torch_tb_profiler.web.application import Application

    catalogue, settings, where = timeline_server.opened(logdir, cache)
    client = Client(Application(catalogue, settings))

    def ask(path: str) -> tuple[int, bytes]:
        response = client.get(path, headers={"Accept-Encoding": "gzip"})
        return response.status_code, response.data

    other = {f"{key}2": value for key, value in where.items()}
    devices = json.loads(timeline_server.ready(ask, f"/memory?{urlencode(where)}"))["devices"]
    views: dict[str, tuple[str, dict[str, str]]] = {
        "findings": ("findings", where), "module": ("module", where), "flame, modules": ("module/flame", {**where, "tree": "module"}),
        "flame, lines": ("module/flame", {**where, "tree": "line"}), "distributed": ("distributed", where), "efficiency": ("efficiency", where),
        "efficiency, kernels": ("efficiency", {**where, "group": "kernel"}),
    }
    if len(json.loads(timeline_server.ready(ask, f"/steps?{urlencode(where)}"))["steps"]) > 1:
        views["diff of all steps with all but the first"] = ("diff", {**where, **other, "steps": "all", "steps2": "all", "skip_cold2": "1"})
    if devices:
        memory = {**where, "device": str(devices[0]["key"])}
        views |= {
            "memory": ("memory", where), "memory, curve": ("memory/curve", {**memory, "n": "1600"}), "memory, blocks": ("memory/blocks", memory),
            "memory, statistics": ("memory/statistics", {**memory, "group": "operator"}),
            "memory, alive at the peak": ("memory/alive", {**memory, "t": str(devices[0]["peak_ns"])}),
        }
    found = {}
    for name, (route, query) in views.items():
        path = f"/{route}?{urlencode(query)}"
        first, size = timeline_server.clocked(ask, path)
        found[name] = [first, timeline_server.clocked(ask, path)[0], size]
    catalogue.close()
    return {"views": found}


def measure(trace: Path, scratch: Path) -> dict[str, Any]:
    """Everything about one trace."""
    if not trace.is_file():
        raise SystemExit(f"{trace} does not exist.")
    name = trace.name.split(".")[0] if trace.parent.name in ("", "tmp") else trace.parent.name
    logdir, cache = scratch / name / "logdir", scratch / name / "cache"
    (logdir / "run").mkdir(parents=True)
    cache.mkdir()
    os.symlink(trace.resolve(), logdir / "run" / ("worker0.1.pt.trace.json" + (".gz" if trace.suffix == ".gz" else "")))
    words = (str(logdir), str(cache))
    part("timeline_server.py", "import", *words)
    row = {"name": name, "made": part("insight.py", "--part", "made", *words)}
    part("insight.py", "--part", "asked", *words)
    return {**row, "asked": part("insight.py", "--part", "asked", *words)}


def tables(rows: list[dict[str, Any]]) -> str:
    """Both tables as Markdown."""
    lines = [
        f"| trace | entries | spans | {' | '.join(PARTS)} | whole insight | µs per span | paths | blocks | collectives | sidecar | peak memory |",
        "| --- |" + " ---: |" * (10 + len(PARTS)),
    ]
    for row in rows:
        m = row["made"]
        parts = " | ".join(f"{m['parts_s'].get(name, float('nan')):.2f} s" for name in PARTS)
        lines.append(
            f"| {row['name']} | {m['entries']:,} | {m['spans']:,} | {parts} | {m['build_s']:.2f} s | {1e6 * m['build_s'] / max(1, m['spans']):.2f} "
            f"| {m['paths']:,} | {m['allocations']:,} | {m['collectives']:,} | {m['sidecar_mb']:.1f} MB | {m['peak_mb']:.0f} MB |"
        )
    views = list(dict.fromkeys(view for row in rows for view in row["asked"]["views"]))
    lines += ["", "| view, sidecars there: first / again, ms; kB | " + " | ".join(row["name"] for row in rows) + " |", "| --- |" + " ---: |" * len(rows)]
    for view in views:
        cells = [row["asked"]["views"].get(view) for row in rows]
        lines.append(f"| {view} | " + " | ".join(f"{c[0]:.1f} / {c[1]:.1f}; {c[2] / 1e3:.1f}" if c else "-" for c in cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--part", choices=("made", "asked"), help=argparse.SUPPRESS)
    parser.add_argument("--scratch", type=Path, help="folder for large files; default: a temporary one")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if given.part:
        result = {"made": made, "asked": asked}[given.part](*map(str, given.traces))
        print(json.dumps(timeline_server.with_peak(result)))
        return
    with tempfile.TemporaryDirectory(dir=given.scratch) as scratch:
        text = tables([measure(trace, Path(scratch)) for trace in given.traces])
    print(text)
    if given.write:
        before, _, rest = TARGET.read_text(encoding="utf-8").partition(MARK)
        TARGET.write_text(f"{before}{MARK}\n{text}\n{MARK}{rest.partition(MARK)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
