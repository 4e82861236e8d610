"""``python -m benchmarks.fuzz --cases 100000 --seed 1``: mutate, import, ask; a fault ends nothing and is
told with the number that makes it again (``--first NUMBER --cases 1``).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks.fuzz.check import check
from benchmarks.fuzz.mutate import case

BLOCK = 50
"""Cases of a task."""


@dataclass
class Tally:
    """What a number of cases came to; seconds are those of the processor."""

    cases: int = 0
    traces: int = 0
    entries: int = 0
    viewed: int = 0
    seconds: float = 0.0
    slowest: tuple[float, int] = (0.0, -1)
    replies: Counter[int] = field(default_factory=Counter)
    faults: list[tuple[int, str]] = field(default_factory=list)

    def absorb(self, other: Tally) -> None:
        """Add those of another."""
        self.cases += other.cases
        self.traces += other.traces
        self.entries += other.entries
        self.viewed += other.viewed
        self.seconds += other.seconds
        self.slowest = max(self.slowest, other.slowest)
        self.replies += other.replies
        self.faults += other.faults

    def __str__(self) -> str:
        replies = ", ".join(f"{status}: {n:,}" for status, n in sorted(self.replies.items()))
        return (
            f"{self.cases:,} cases, {self.traces:,} traces, {self.entries:,} entries,"
            f" {self.viewed:,} with all views ({replies or 'no replies'}), {self.seconds:,.0f} s"
            f" of processor time, slowest case {self.slowest[1]} in {self.slowest[0]:.1f} s,"
            f" {len(self.faults):,} faults"
        )


def run_block(first: int, seed: int, until: int, view_every: int) -> Tally:
    """Check the cases of a block."""
    warnings.simplefilter("error")
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, min(first + BLOCK, until)):
            begin = time.process_time()
            views = view_every > 0 and number % view_every == 0
            try:
                checked = check(case(seed, number), Path(folder), views)
                tally.traces += checked.is_trace
                tally.entries += checked.entries
                tally.viewed += views and checked.is_trace
                tally.replies.update(checked.replies)
            except Exception:
                tally.faults.append((number, traceback.format_exc(limit=-6)))
            seconds = time.process_time() - begin
            tally.cases += 1
            tally.seconds += seconds
            tally.slowest = max(tally.slowest, (seconds, number))
    return tally


def run(options: argparse.Namespace) -> Tally:
    """Check all cases, or those that fit into the time."""
    whole, begin = Tally(), time.monotonic()
    until = options.first + options.cases
    one = partial(run_block, seed=options.seed, until=until, view_every=options.view_every)
    firsts = range(options.first, until, BLOCK)
    told = begin
    for tally in _in_processes(one, firsts, options.processes):
        whole.absorb(tally)
        for number, trouble in tally.faults:
            print(f"case {number} of seed {options.seed}:\n{trouble}", flush=True)
        now = time.monotonic()
        if now - told > options.tell_seconds:
            told = now
            print(whole, flush=True)
        if options.minutes and now - begin > 60 * options.minutes:
            break
    return whole


def _in_processes(one: partial[Tally], firsts: Sequence[int], processes: int) -> Iterator[Tally]:
    if processes <= 1:
        yield from map(one, firsts)
        return
    with ProcessPoolExecutor(processes) as pool:
        # A few at a time, so that ending early leaves little behind.
        for at in range(0, len(firsts), 4 * processes):
            yield from pool.map(one, firsts[at : at + 4 * processes])


def main() -> int:
    """The command; 1 after a fault."""
    parser = argparse.ArgumentParser("python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument(
        "--view-every",
        type=int,
        default=20,
        help="every so manieth case is asked every view and table; 0: none",
    )
    parser.add_argument("--minutes", type=float, default=0.0, help="stop then; 0: at the end")
    parser.add_argument("--tell-seconds", type=float, default=30.0, help="pause between reports")
    tally = run(parser.parse_args())
    print(tally)
    return int(bool(tally.faults))


if __name__ == "__main__":
    sys.exit(main())
