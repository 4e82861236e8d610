"""How much faster one trace is imported by two cores than by one, and what more cores would make of it.

    python benchmarks/cores.py TRACE... [--runs 3] [--write]

``one core`` is the same program bound to one core, which then inflates, decodes and sums in turn; ``two cores`` may use two. Both are
fresh processes, taken in turn; a figure is the median. Figures for more cores are no measurements: they are computed from the
measured processor times of the parts, see ``simulated``. ``--write`` puts the table into ``benchmarks/README.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from torch_tb_profiler.child_process import OWN_PROCESSES

HERE = Path(__file__).resolve().parent
MARK = "<!-- cores -->"
PARTS = ("inflate", "reader", "decoders", "assemble", "facts")
START_S = 0.02
"""Until forked decoders take part: they are there in 3 ms, but the reader decodes the first chunk itself (measured)."""


def measure(path: str, cores: int) -> dict[str, float]:
    """One import with facts in this process; seconds of wall clock and of processor time by part."""
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:cores]))
    from torch_tb_profiler.analysis.facts.derive import derive
    from torch_tb_profiler.importers import chrome_trace, decoders, read_trace
    from torch_tb_profiler.settings import Settings
    from torch_tb_profiler.sources.places import Place
    from torch_tb_profiler.sources.streams import open_text

    spent: defaultdict[str, float] = defaultdict(float)

    def timed(where: Any, name: str) -> None:
        plain = getattr(where, name)

        def call(*given: Any, **named: Any) -> Any:
            begin = time.thread_time()
            try:
                return plain(*given, **named)
            finally:
                spent[name] += time.thread_time() - begin

        setattr(where, name, call)

    timed(chrome_trace, "assemble")
    timed(decoders, "decoded")
    begin, main, all_threads = time.perf_counter(), time.thread_time(), time.process_time()
    with open_text(Place(path)) as stream:
        trace = read_trace(stream, Settings(import_processes=cores))
    read = time.thread_time() - main
    other_threads = time.process_time() - all_threads - read
    facts = time.thread_time()
    derive(trace)
    facts = time.thread_time() - facts
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "wall": time.perf_counter() - begin,
        "inflate": other_threads,
        "reader": read - spent["assemble"] - spent["decoded"],
        "assemble": spent["assemble"],
        "facts": facts,
        "decoders": spent["decoded"] + children.ru_utime + children.ru_stime,
        "events": trace.entries,
        "text_mb": int((trace["chunks"]["offset"] + trace["chunks"]["size"]).max()) / 1e6,
    }


def simulated(parts: dict[str, float], cores: int) -> float:
    """Wall seconds with so many cores, if nothing else held it back: the inflating thread, the reader and
    the decoders run side by side; sorting and facts follow on one core.

    ``max(inflate, reader, (inflate + reader + decoders) / cores) + START_S + assemble + facts``
    """
    side_by_side = parts["inflate"] + parts["reader"] + parts["decoders"]
    longest = max(parts["inflate"], parts["reader"], side_by_side / cores)
    return longest + START_S + parts["assemble"] + parts["facts"]


def apart(path: str, cores: int) -> dict[str, float]:
    """``measure`` in a fresh process."""
    done = subprocess.run(
        [sys.executable, __file__, path, "--cores", str(cores)],
        env={**os.environ, **OWN_PROCESSES},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def row_of(path: str, runs: int) -> str:
    """A line of the table."""
    taken: dict[int, list[dict[str, float]]] = {1: [], 2: []}
    for _ in range(runs):
        for cores, measured in taken.items():
            measured.append(apart(path, cores))
    one, two = (
        {key: statistics.median(run[key] for run in taken[cores]) for key in taken[cores][0]}
        for cores in taken
    )
    parts = ", ".join(f"{part} {two[part]:.2f}" for part in PARTS)
    alone = sum(one[part] for part in PARTS)
    # A small trace is decoded by the reader alone, on any number of cores.
    more = " | ".join(
        f"{simulated(two, n):.2f} s = {alone / simulated(two, n):.1f} ×" if two["decoders"] else "–"
        for n in (8, 16)
    )
    return (
        f"| {Path(path).name.partition('.')[0]} | {one['events']:,.0f} | {one['text_mb']:.0f} | {one['wall']:.2f} s |"
        f" {two['wall']:.2f} s = {one['wall'] / two['wall']:.2f} × | {parts} | {more} |"
    )


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("traces", nargs="+")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cores", type=int, help="one measurement in this process, as JSON")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.cores:
        print(json.dumps(measure(options.traces[0], options.cores)))
        return
    lines = [
        "| trace | events | text MB | one core | two cores | processor time of the parts, s | 8 cores, simulated | 16 cores, simulated |",
        "| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |",
        *(row_of(path, options.runs) for path in options.traces),
    ]
    print("\n".join(lines))
    if options.write:
        page = HERE / "README.md"
        before, _, rest = page.read_text().partition(MARK)
        _, _, after = rest.partition(MARK)
        page.write_text(before + "\n".join([MARK, *lines, MARK]) + after)


if __name__ == "__main__":
    main()
