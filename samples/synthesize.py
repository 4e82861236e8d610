"""Make up a run of R ranks: Kineto traces of any size from a model of a training job, with the
exact figures that follow from the model.

    python samples/synthesize.py --out samples/synthetic_ddp8 --ranks 8 --steps 6 --gzip
    python samples/synthesize.py --out /tmp/large --events 10000000 --layers 24 --no-expected

Writes ``<out>/rank<r>.pt.trace.json[.gz]`` and beside it ``rank<r>.expected.json``: integer ns in
the shape of ``torch-tb-profiler summary
--json`` (steps with their categories, operators, kernels, attribution, number of events). The same
arguments give the same bytes. With ``--no-expected`` the events of one step are held at a time,
whatever the size of the trace; the figures need all.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, cast

from synthesis.process import USUAL, Assumptions
from synthesis.text import NOTE
from synthesis.training import FIRST_STEP, ODD_STEP, Job


def synthesize(
    out: Path,
    ranks: int = 1,
    steps: int = 0,
    events: int = 0,
    seed: int = 0,
    layers: int = 2,
    packed: bool = False,
    expected: bool = True,
    assumptions: Assumptions = USUAL,
) -> list[Path]:
    """Write a run of ``steps`` steps or, if that is 0, of as many as it takes to get ``events``
    entries into each trace; returns the traces. With other ``assumptions`` every random number stays
    what it was, so that two runs differ by them alone.
    """
    out.mkdir(parents=True, exist_ok=True)
    paths = [out / f"rank{rank}.pt.trace.json{'.gz' if packed else ''}" for rank in range(ranks)]
    with ExitStack() as stack:
        streams = [stack.enter_context(_open(path, packed)) for path in paths]
        job = Job(
            cast("Sequence[BinaryIO]", streams),
            [path.name for path in paths],
            seed,
            layers,
            expected,
            assumptions,
        )
        while job.next_step - FIRST_STEP < steps or (
            not steps and job.processes[0].text.count < events
        ):
            job.step()
        job.close()
    if expected:
        for rank in range(ranks):
            _write_figures(out / f"rank{rank}.expected.json", _figures(job, rank, seed))
    return paths


class _Packed(gzip.GzipFile):
    """A gzip file whose bytes depend on its content only: no name and no time in its header."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        super().__init__(filename="", mode="wb", fileobj=self._file, compresslevel=6, mtime=0)

    def close(self) -> None:
        super().close()
        self._file.close()


def _open(path: Path, packed: bool) -> Any:
    return _Packed(path) if packed else path.open("wb", buffering=1 << 20)


def _figures(job: Job, rank: int, seed: int) -> dict[str, Any]:
    process = job.processes[rank]
    assert process.ledger is not None
    story = {
        "seed": seed,
        "clock_skew_ns": job.skews[rank],
        "cold_step": f"ProfilerStep#{FIRST_STEP}",
        "odd_step": f"ProfilerStep#{ODD_STEP}" if job.next_step > ODD_STEP else None,
        "odd_rank": job.stalled,
        "straggler_rank": job.straggler if len(job.processes) > 1 else None,
    }
    return {
        "synthetic": True,
        "note": NOTE,
        "worker": f"rank{rank}",
        "story": story,
        "events": {"total": process.text.count},
        **process.ledger.figures(),
    }


def _write_figures(path: Path, figures: dict[str, Any]) -> None:
    lines = []
    for key, value in figures.items():
        if isinstance(value, list):
            rows = ",\n".join(f"  {json.dumps(row)}" for row in value)
            lines.append(f'"{key}": [\n{rows}\n]')
        else:
            lines.append(f'"{key}": {json.dumps(value)}')
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="run folder")
    parser.add_argument("--ranks", type=int, default=1)
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--steps", type=int, default=0, help="steps of the run")
    size.add_argument(
        "--events",
        type=int,
        default=0,
        help="at least so many entries of traceEvents in each trace",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--layers", type=int, default=2, help="layers of the model: about 260 events each per step"
    )
    parser.add_argument("--gzip", action="store_true")
    parser.add_argument("--no-expected", action="store_true", help="write the traces only")
    args = parser.parse_args()
    for path in synthesize(
        args.out,
        args.ranks,
        args.steps,
        args.events,
        args.seed,
        args.layers,
        args.gzip,
        not args.no_expected,
    ):
        print(f"{path}  {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
