"""The budgets of importing and of the views as tables: making the insight part by part, every view,
first after a restart and again, and what is asked
without a page.

    python benchmarks/insight.py TRACE... [--peers PEERS.py] [--scratch DIR] [--write]

``--write`` puts the tables into ``benchmarks/insight.md``. With ``--peers`` they say how many times
as long each peer takes to read and analyse the trace.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import run
import timeline_server
from timeline import MARK, part

TARGET = Path(__file__).with_name("insight.md")
Where = dict[str, str]
Views = dict[str, tuple[str, Where]]
"""By name: route and parameters."""
PARTS = (
    "paths",
    "work",
    "memory",
    "communication",
    "workloads",
    "counters",
    "critical path",
    "findings",
)
COMMANDS = {
    "summary": ("-m", "torch_tb_profiler.cli.main", "summary"),
    "findings": ("-m", "torch_tb_profiler.cli.main", "findings"),
    "pyprof": ("-m", "torch_tb_profiler.cli.main", "pyprof"),
    "key_averages": (
        "-c",
        "import sys, torch_tb_profiler as t; print(t.open(sys.argv[1]).key_averages().table())",
    ),
    "key_averages, shapes": (
        "-c",
        (
            "import sys, torch_tb_profiler as t;"
            " print(t.open(sys.argv[1]).key_averages(group_by_input_shape=True).table())"
        ),
    ),
}
"""What is asked without a page, up to the text; the trace follows."""
MOST_COLD = 1_000_000
"""Entries of a trace up to which every command is run with nothing there; of larger ones, whose
import takes long, only the first.
"""
PEERS = {"upstream_0.4.3": "original", "hta_0.5.0": "HTA"}


def made(_: str, cache: str) -> dict[str, Any]:
    """Seconds of each part of building the insight in this process, and the size of its sidecar."""
    from torch_tb_profiler.analysis.insight import build_insight
    from torch_tb_profiler.store import sidecar
    from torch_tb_profiler.store.memory import keep_freed_memory

    keep_freed_memory()  # as in the worker process
    trace, facts = sidecar.read(timeline_server.trace_sidecar(cache))
    times = [time.perf_counter()]
    insight = build_insight(trace, facts, lambda done, total: times.append(time.perf_counter()))
    target = Path(cache) / "benchmark.safetensors"
    sidecar.write_derived(target, insight)
    size = target.stat().st_size
    target.unlink()
    seconds = {name: b - a for name, a, b in zip(PARTS, times, times[1:], strict=False)}
    rows = {name: insight[name].n for name in ("paths", "allocations", "collectives")}
    return {
        "parts_s": seconds,
        "build_s": times[-1] - times[0],
        "entries": trace.entries,
        "spans": trace["spans"].n,
        "sidecar_mb": size / 1e6,
        **rows,
    }


def asked(logdir: str, cache: str) -> dict[str, Any]:
    """Every view: (ms of the first answer in a fresh process whose sidecars are there, ms again,
    bytes on the wire).
    """
    from werkzeug.test import Client

    from torch_tb_profiler.web.application import Application

    catalogue, settings, where = timeline_server.opened(logdir, cache)
    client = Client(Application(catalogue, settings))

    def ask(path: str) -> tuple[int, bytes]:
        response = client.get(path, headers={"Accept-Encoding": "gzip"})
        return response.status_code, response.data

    devices = json.loads(timeline_server.ready(ask, f"/memory?{urlencode(where)}"))["devices"]
    counted = json.loads(timeline_server.ready(ask, f"/counters?{urlencode(where)}"))
    steps = len(
        json.loads(timeline_server.ready(ask, f"/steps?{urlencode(where)}"))["steps"]["step"]
    )
    views = {**of_steps(where, steps), **of_insight(where, steps), **of_memory(where, devices)}
    if counted["counters"] or counted["sampled_counters"]:
        views["counters"] = ("counters", where)
    seconds = {}
    for name, (route, query) in views.items():
        path = f"/{route}?{urlencode(query)}"
        first, size = timeline_server.clocked(ask, path)
        seconds[name] = [first, timeline_server.clocked(ask, path)[0], size]
    catalogue.close()
    return {"views": seconds}


def of_steps(where: Where, steps: int) -> Views:
    """The views that rest on the facts, and what they ask when one step is chosen."""
    views: Views = {
        "overview": ("overview", where),
        "operators": ("operator", where),
        "operators, shapes": ("operator", {**where, "group": "shape"}),
        "operators, stacks": ("operator", {**where, "group": "stack"}),
        "kernels": ("kernel", where),
        "kernels, properties": ("kernel", {**where, "group": "properties"}),
        "trace": ("trace", where),
    }
    if steps > 1:
        views |= {
            "operators, all but the first step": ("operator", {**where, "steps": f"1-{steps - 1}"}),
            "operators, one step": ("operator", {**where, "steps": "1"}),
        }
    return views


def of_insight(where: Where, steps: int) -> Views:
    """The views that rest on the insight, but those of memory and counters."""
    views: Views = {
        "findings": ("findings", where),
        "module": ("module", where),
        "flame, modules": ("module/flame", {**where, "tree": "module"}),
        "flame, lines": ("module/flame", {**where, "tree": "line"}),
        "flame as a file": ("module/flame/file", {**where, "tree": "module"}),
        "critical path": ("critical_path", where),
        "distributed": ("distributed", where),
        "efficiency": ("efficiency", where),
        "efficiency, kernels": ("efficiency", {**where, "group": "kernel"}),
    }
    if steps > 1:
        other = {f"{key}2": value for key, value in where.items()}
        sides = {**where, **other, "steps": "all", "steps2": "all", "skip_cold2": "1"}
        halves = {
            **where,
            **other,
            "steps": f"0-{steps // 2 - 1}",
            "steps2": f"{steps // 2}-{steps - 1}",
        }
        views |= {
            "module, half of the steps": ("module", {**where, "steps": f"0-{steps // 2 - 1}"}),
            "diff of all steps with all but the first": ("diff", sides),
            "diff of two halves": ("diff", halves),
            "diff as CSV": ("diff/file", sides),
        }
    return views


def of_memory(where: Where, devices: list[dict[str, Any]]) -> Views:
    """The Memory view of the first device."""
    if not devices:
        return {}
    memory = {**where, "device": str(devices[0]["key"])}
    return {
        "memory": ("memory", where),
        "memory, curve": ("memory/curve", {**memory, "n": "1600"}),
        "memory, blocks": ("memory/blocks", memory),
        "memory, statistics": ("memory/statistics", {**memory, "group": "operator"}),
        "memory, statistics of modules": ("memory/statistics", {**memory, "group": "module"}),
        "memory, alive at the peak": ("memory/alive", {**memory, "t": str(devices[0]["peak_ns"])}),
    }


def headless(trace: Path, scratch: Path, cold: bool) -> dict[str, list[float | None]]:
    """Every command: wall seconds of a fresh process without sidecars, and with them. Without
    ``cold``, only the first one starts without.

    Without ``cold`` they share their sidecars, and only the first begins with nothing.
    """
    found: dict[str, list[float | None]] = {}
    for number, (name, words) in enumerate(COMMANDS.items()):
        environment = {
            **os.environ,
            "XDG_CACHE_HOME": str(scratch / f"command{number if cold else 0}"),
        }
        took: list[float | None] = []
        for _ in range(2):
            begin = time.perf_counter()
            subprocess.run(
                [sys.executable, *words, str(trace.resolve())],
                check=True,
                stdout=subprocess.DEVNULL,
                env=environment,
            )
            took.append(time.perf_counter() - begin)
        found[name] = took if cold or not number else [None, took[1]]
    return found


def measure(trace: Path, scratch: Path, peers: Path | None) -> dict[str, Any]:
    """Everything about one trace."""
    if not trace.is_file():
        raise SystemExit(f"{trace} does not exist.")
    name = trace.name.split(".")[0] if trace.parent.name in ("", "tmp") else trace.parent.name
    logdir, cache = scratch / name / "logdir", scratch / name / "cache"
    (logdir / "run").mkdir(parents=True)
    cache.mkdir()
    os.symlink(
        trace.resolve(),
        logdir / "run" / ("worker0.1.pt.trace.json" + (".gz" if trace.suffix == ".gz" else "")),
    )
    words = (str(logdir), str(cache))
    part("timeline_server.py", "import", *words)
    row: dict[str, Any] = {
        "name": name,
        "imported": {
            **part("ours.py", "cold", str(trace.resolve())),
            **part("ours.py", "resident", str(trace.resolve())),
            "peak_mb": run.peak_mb(trace),
        },
        "made": part("insight.py", "--part", "made", *words),
    }
    part("insight.py", "--part", "asked", *words)
    row["peers"] = (
        {key: found.get("wall_s") for key, found in run.peer(peers, trace).items() if key in PEERS}
        if peers
        else {}
    )
    return {
        **row,
        "asked": part("insight.py", "--part", "asked", *words),
        "headless": headless(trace, scratch / name, row["made"]["entries"] < MOST_COLD),
    }


def tables(rows: list[dict[str, Any]]) -> str:
    """All tables as Markdown."""
    lines = [
        "| trace | entries | text | read | facts | peak memory (budget) |",
        "| --- |" + " ---: |" * 5,
    ]
    for row in rows:
        m = row["imported"]
        lines.append(
            f"| {row['name']} | {m['events']:,} | {m['inflated_mb']:.0f} MB | {m['import_s']:.2f} s"
            f" | {m['facts_s']:.2f} s | {m['peak_mb']:.0f} MB ({150 + m['inflated_mb'] / 2:.0f}) |"
        )
    lines += [
        "",
        (
            f"| trace | entries | spans | {' | '.join(PARTS)} | whole insight | µs per span | paths"
            " | blocks | collectives | sidecar | peak memory |"
        ),
        "| --- |" + " ---: |" * (10 + len(PARTS)),
    ]
    for row in rows:
        m = row["made"]
        parts = " | ".join(f"{m['parts_s'].get(name, float('nan')):.2f} s" for name in PARTS)
        lines.append(
            f"| {row['name']} | {m['entries']:,} | {m['spans']:,} | {parts} | {m['build_s']:.2f} s"
            f" | {1e6 * m['build_s'] / max(1, m['spans']):.2f} | {m['paths']:,} |"
            f" {m['allocations']:,} | {m['collectives']:,} | {m['sidecar_mb']:.1f} MB |"
            f" {m['peak_mb']:.0f} MB |"
        )
    views = list(dict.fromkeys(view for row in rows for view in row["asked"]["views"]))
    lines += [
        "",
        "| view, sidecars there: first / again, ms; kB | "
        + " | ".join(row["name"] for row in rows)
        + " |",
        "| --- |" + " ---: |" * len(rows),
    ]
    for view in views:
        cells = [row["asked"]["views"].get(view) for row in rows]
        lines.append(
            f"| {view} | "
            + " | ".join(f"{c[0]:.1f} / {c[1]:.1f}; {c[2] / 1e3:.1f}" if c else "-" for c in cells)
            + " |"
        )
    legend = "; ".join(
        [
            "nothing there / again, s",
            *(
                f"{word} takes × as long"
                for word in PEERS.values()
                if any(row["peers"] for row in rows)
            ),
        ]
    )
    lines += [
        "",
        f"| without a page, fresh processes: {legend} | "
        + " | ".join(row["name"] for row in rows)
        + " |",
        "| --- |" + " ---: |" * len(rows),
    ]
    lines += [
        f"| {name} | " + " | ".join(_wall(row, name) for row in rows) + " |" for name in COMMANDS
    ]
    return "\n".join(lines)


def _wall(row: dict[str, Any], name: str) -> str:
    first, again = row["headless"][name]
    ratios = (
        [
            f"{row['peers'][key] / first:.1f}" if first and row["peers"].get(key) else "-"
            for key in PEERS
        ]
        if row["peers"]
        else []
    )
    return "; ".join([f"{'-' if first is None else f'{first:.2f}'} / {again:.2f}", *ratios])


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--part", choices=("made", "asked"), help=argparse.SUPPRESS)
    parser.add_argument("--peers", type=Path, help="script that times other tools on a trace")
    parser.add_argument(
        "--scratch", type=Path, help="folder for large files; default: a temporary one"
    )
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.part:
        result = {"made": made, "asked": asked}[options.part](*map(str, options.traces))
        print(json.dumps(timeline_server.with_peak(result)))
        return
    run.as_installed()
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        text = tables([measure(trace, Path(scratch), options.peers) for trace in options.traces])
    print(text)
    if options.write:
        before, _, rest = TARGET.read_text(encoding="utf-8").partition(MARK)
        TARGET.write_text(
            f"{before}{MARK}\n{text}\n{MARK}{rest.partition(MARK)[2]}", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
