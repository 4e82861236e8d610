"""The timeline's budgets as tables: its making, its replies, and the page that draws it, on traces
of up to ten million events.

    python benchmarks/timeline.py --traces DIR --enlarge ENLARGE.py [--copies 76]
    [--synthetic-events 10000000] [--no-page] [--write]

The enlarged trace repeats ``h100_owlv2`` along the time axis: 76 copies have ten million entries.
``--trace`` and ``--synthetic-trace`` take files that are there already. ``--write`` puts the tables
into ``benchmarks/timeline.md``. Figures of other viewers are cited there, not measured here.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.e2e.server import PLUGIN, Server

HERE = Path(__file__).resolve().parent
MARK = "<!-- table -->"
TARGET = HERE / "timeline.md"
SOURCE = "h100_owlv2"
IMPORT_SECONDS = 1800
LEVELS = "50-70"
"""The stage of ``build_timeline``, in the per cent that it reports, that makes the levels of
detail.
"""


def part(script: str, *words: str) -> dict[str, Any]:
    """One measurement in a fresh process."""
    done = subprocess.run(
        [sys.executable, str(HERE / script), *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=HERE.parent,
    )
    if done.returncode:
        raise SystemExit(f"{script} {' '.join(words)} failed:\n{done.stderr[-3000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(name: str, trace: Path, scratch: Path, page: bool) -> dict[str, Any]:
    """Everything about one trace."""
    logdir, cache = scratch / name / "logdir", scratch / name / "cache"
    (logdir / "run").mkdir(parents=True)
    cache.mkdir()
    os.symlink(
        trace.resolve(),
        logdir / "run" / ("worker0.1.pt.trace.json" + (".gz" if trace.suffix == ".gz" else "")),
    )
    words = (str(logdir), str(cache))
    row: dict[str, Any] = {
        "name": name,
        "import": part("timeline_server.py", "import", *words),
        "build": part("timeline_server.py", "build", *words),
    }
    row["wsgi"] = part("timeline_server.py", "replies", *words)
    with Server(logdir, cache) as server:
        where = place(server)
        row["http"] = part(
            "timeline_server.py",
            "http",
            f"{server.url}/data/plugin/{PLUGIN}",
            where["run"],
            where["worker"],
            where["span"],
        )
        if page:
            row["page"] = part("timeline_page.py", server.url, where["run"], str(where["span_ns"]))
    return row


def place(server: Server) -> dict[str, Any]:
    """The only trace, once its timeline is made."""
    run = server.wait(
        lambda: next(
            (r for r in server.runs() if r["workers"][0]["spans"][0]["state"] == "ready"), None
        ),
        IMPORT_SECONDS,
        "the import",
    )
    worker = run["workers"][0]
    where = {"run": run["name"], "worker": worker["name"], "span": worker["spans"][0]["name"]}

    def described() -> dict[str, Any] | None:
        answer = server.get("trace/timeline", **where)
        return answer if answer and "span_ns" in answer else None

    return {**where, "span_ns": server.wait(described, IMPORT_SECONDS, "the timeline")["span_ns"]}


def making(rows: list[dict[str, Any]]) -> str:
    """How long the timeline takes to make, once per trace, in a worker process."""
    lines = [
        (
            "| trace | entries | events on lanes | lanes | span | import | making the timeline | of"
            " it the levels of detail | write | its sidecar | peak memory |"
        ),
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        b, w = row["build"], row["wsgi"]
        levels = b["stages_s"].get("50-70", float("nan"))
        lines.append(
            f"| {row['name']} | {row['import']['entries']:,} | {b['events']:,} | {w['lanes']} |"
            f" {w['span_s']:.1f} s | {row['import']['import_s']:.1f} s | {b['build_s']:.2f} s ="
            f" {1e6 * b['build_s'] / b['events']:.2f} µs per event |"
            f" {1e6 * levels / b['events']:.3f} µs per event | {b['write_s']:.2f} s |"
            f" {b['sidecar_mb']:.0f} MB | {b['peak_mb']:.0f} MB |"
        )
    return "\n".join(lines)


def viewports(rows: list[dict[str, Any]]) -> str:
    """Replies to viewports of every level: 1600 px at random places."""
    lines = [
        (
            "| trace | rows in sight | lanes | replies | application, ms p50 / p95 / max | HTTP, ms"
            " p50 / p95 / max | gz kB p95 / max |"
        ),
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        for rows_in_sight, w in row["wsgi"]["tiles"].items():
            h = row["http"]["tiles"][rows_in_sight]
            lines.append(
                f"| {row['name']} | {rows_in_sight} | {row['wsgi']['lanes_of'][rows_in_sight]} |"
                f" {w['replies']} | {w['p50_ms']:.1f} / {w['p95_ms']:.1f} / {w['max_ms']:.1f} |"
                f" {h['p50_ms']:.1f} / {h['p95_ms']:.1f} / {h['max_ms']:.1f} |"
                f" {w['p95_bytes'] / 1e3:.0f} / {w['max_bytes'] / 1e3:.0f} |"
            )
    worst = {
        row["name"]: max(row["wsgi"]["by_level"].items(), key=lambda item: item[1]["p95_ms"])
        for row in rows
    }
    summary = "; ".join(
        f"{name}: level {level}, {s['p95_ms']:.1f} ms p95, {s['max_bytes'] / 1e3:.0f} kB"
        for name, (level, s) in worst.items()
    )
    return (
        "\n".join(lines)
        + f"\n\nThe slowest level (application, all choices of rows together): {summary}."
    )


def questions(rows: list[dict[str, Any]]) -> str:
    """What is asked by hand: first / again, ms."""
    names = list(dict.fromkeys(name for row in rows for name in row["wsgi"]["questions"]))
    lines = [
        "| question: first / again, ms; kB | " + " | ".join(row["name"] for row in rows) + " |",
        "| --- |" + " ---: |" * len(rows),
    ]
    for name in names:
        cells = [row["wsgi"]["questions"].get(name) for row in rows]
        lines.append(
            f"| {name} | "
            + " | ".join(f"{c[0]:.1f} / {c[1]:.1f}; {c[2] / 1e3:.1f}" if c else "-" for c in cells)
            + " |"
        )
    return "\n".join(lines)


def page(row: dict[str, Any]) -> str:
    """What the browser needs for one trace."""
    p = row["page"]
    lines = [
        f"{row['name']}, in TensorBoard (open after {p['opened_s']:.1f} s):",
        "",
        (
            "| keys held | frames | frame, ms p50 / p95 / max | the page's work in it, ms p50 / p95"
            " | drawing, ms p50 / p95 / max | slices drawn last |"
        ),
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for scene, s in p["scenes"].items():
        f, w, d = s["frame_ms"], s["work_ms"], s["draw_ms"]
        lines.append(
            f"| {scene} | {f['n']} | {f['p50']:.1f} / {f['p95']:.1f} / {f['max']:.1f} |"
            f" {w['p50']:.1f} / {w['p95']:.1f} | {d['p50']:.1f} / {d['p95']:.1f} / {d['max']:.1f} |"
            f" {s['last']['slices']:,} |"
        )
    m, b, r = p["memory"], p["memory_before"], p["requests"]
    lines += [
        "",
        (
            f"Memory after the drive: heap {m['heap_mb']:.0f} MB + buffers {m['buffers_mb']:.0f}"
            f" MB, the whole process {m['process_mb']:.0f} MB; before, on the Diagnosis page:"
            f" {b['heap_mb']:.0f} + {b['buffers_mb']:.0f}, {b['process_mb']:.0f} MB. The zooms"
            f" through all levels and back asked {r['requests']} times ({r['tile_requests']} for"
            f" tiles): {r['mb']:.1f} MB on the wire, {r['raw_mb']:.1f} MB of content, the largest"
            f" reply {r['largest_mb']:.2f} MB; tiles came after {r['tile_ms']['p50']:.0f} ms p50,"
            f" {r['tile_ms']['p95']:.0f} ms p95."
        ),
    ]
    return "\n".join(lines)


def traces(given: argparse.Namespace, scratch: Path) -> list[tuple[str, Path]]:
    """(name, file) of what is to be measured."""
    found: list[tuple[str, Path]] = []
    if given.trace:
        found.append((f"{SOURCE}_x{given.copies}", given.trace))
    elif given.traces:
        target = scratch / f"{SOURCE}_x{given.copies}.json.gz"
        source = next((given.traces / SOURCE).glob("*.gz"))
        subprocess.run(
            [
                sys.executable,
                str(given.enlarge),
                str(source),
                str(target),
                "--copies",
                str(given.copies),
            ],
            check=True,
            stdout=sys.stderr,
        )
        found.append((f"{SOURCE}_x{given.copies}", target))
    if given.synthetic_trace:
        found.append(("synthetic", given.synthetic_trace))
    elif given.synthetic_events:
        run, script = scratch / "synthetic", HERE.parent / "samples" / "synthesize.py"
        words = [
            "--out",
            str(run),
            "--events",
            str(given.synthetic_events),
            "--layers",
            "24",
            "--no-expected",
        ]
        subprocess.run([sys.executable, str(script), *words], check=True, stdout=sys.stderr)
        found.append((f"synthetic_{given.synthetic_events}", run / "rank0.pt.trace.json"))
    return found


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--traces", type=Path, help=f"folder with the run {SOURCE}")
    parser.add_argument("--enlarge", type=Path, help="the program that repeats a trace")
    parser.add_argument("--copies", type=int, default=76)
    parser.add_argument("--trace", type=Path, help="the enlarged trace, if it is there already")
    parser.add_argument(
        "--synthetic-events",
        type=int,
        default=0,
        help="also measure a synthetic trace of so many events",
    )
    parser.add_argument(
        "--synthetic-trace", type=Path, help="the synthetic trace, if it is there already"
    )
    parser.add_argument(
        "--scratch", type=Path, help="folder for large files; default: a temporary one"
    )
    parser.add_argument("--no-page", action="store_true", help="without the browser")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        rows = [
            measure(name, path, Path(scratch), not options.no_page)
            for name, path in traces(options, Path(scratch))
        ]
    sections = [
        making(rows),
        viewports(rows),
        questions(rows),
        *(page(row) for row in rows if "page" in row),
    ]
    text = "\n\n".join(sections)
    print(text)
    if options.write:
        before, _, rest = TARGET.read_text(encoding="utf-8").partition(MARK)
        after = rest.partition(MARK)[2]
        TARGET.write_text(f"{before}{MARK}\n{text}\n{MARK}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
