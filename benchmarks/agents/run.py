"""Does an assistant find what is wrong? Fifty runs with planted causes, a scripted agent, three budgets.

    python benchmarks/agents/run.py [--only WORD]... [--budgets 500,2000,8000] [--write]

The agent (``agent.py``) has the tools of the MCP server and nothing else; what it is told is compared with
what was planted (``cases.py``). Needs the extra ``mcp``. ``--write`` puts the tables into ``README.md``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
from agent import FOLLOWED, Opened, Report, Told, investigate
from cases import Case, Planted, cases, write
from causes import Cause
from inside import in_this_process, rule_of
from mcp.client.client import Client

from torch_tb_profiler.cli.agents import server as serving
from torch_tb_profiler.sources.places import Place

TARGET = Path(__file__).with_name("README.md")
MARK = "<!-- table -->"
BUDGETS = (500, 2000, 8000)
NEAR = 0.006
"""How far a printed time of three digits may be from what was planted."""
LEAST = 1_500
"""In ns, for short times."""


@dataclass(frozen=True)
class Verdict:
    """Of a cause: where its finding stands (0: not there), whether the first event opened was planted, and the
    share of all that were.
    """

    place: int
    right: bool
    planted: float | None

    @property
    def found(self) -> bool:
        return 0 < self.place <= FOLLOWED and self.right


def judge(report: Report, cause: Cause, planted: Sequence[Planted]) -> Verdict:
    """Compare what the agent was told with a cause."""
    places = [i for i, told in enumerate(report.findings) if rule_of(told.title) in cause.rules]
    if not places:
        return Verdict(0, False, None)
    # With several findings that name it, the first that shows the right events.
    verdicts = [_shown(report.findings[i], i + 1, cause, planted) for i in places]
    return next((verdict for verdict in verdicts if verdict.found), verdicts[0])


def _shown(told: Told, place: int, cause: Cause, planted: Sequence[Planted]) -> Verdict:
    if not cause.events:
        return Verdict(place, True, None)
    right = [any(_same(event, one) for one in planted) for event in told.events]
    return Verdict(place, bool(right and right[0]), statistics.mean(right) if right else None)


def _same(event: Opened, planted: Planted) -> bool:
    def near(told: float, real: float) -> bool:
        return abs(told - real) <= max(NEAR * real, LEAST)

    return (
        event.name == planted.name
        and event.worker.strip("`") == f"rank{planted.rank}"
        and near(event.start, planted.start)
        and near(event.dur, planted.dur)
    )


async def evaluate(
    logdir: Path, chosen: Sequence[Case], budgets: Sequence[int]
) -> dict[int, list[tuple[Report, list[Verdict]]]]:
    """What the agent finds in each case with each budget."""
    results: dict[int, list[tuple[Report, list[Verdict]]]] = {}
    async with Client(serving.server(Place(str(logdir)))) as client:
        for budget in budgets:
            results[budget] = []
            for case in chosen:
                report = await investigate(client, case.name, budget)
                verdicts = [
                    judge(report, cause, planted)
                    for cause, planted in zip(case.causes, case.planted, strict=True)
                ]
                results[budget].append((report, verdicts))
                marks = " ".join(f"{v.place}{'+' if v.found else '-'}" for v in verdicts)
                print(f"{budget:5} {case.name}: {marks}", file=sys.stderr)
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", default=[], help="part of a case's name")
    parser.add_argument("--budgets", default=",".join(map(str, BUDGETS)))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    budgets = [int(word) for word in options.budgets.split(",")]
    chosen = [
        case for case in cases() if not options.only or any(w in case.name for w in options.only)
    ]
    serving.ask = in_this_process  # type: ignore[assignment]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCH_TB_PROFILER_CACHE_DIR"] = str(Path(folder) / "cache")
        logdir = Path(folder) / "log"
        for case in chosen:
            write(case, logdir)
        results = anyio.run(evaluate, logdir, chosen, budgets)
    text = tables(chosen, results)
    print(text)
    if options.write:
        before, _, after = TARGET.read_text("utf-8").split(MARK)
        TARGET.write_text(f"{before}{MARK}\n{text}{MARK}{after}", "utf-8")
    return 0


def tables(chosen: Sequence[Case], results: dict[int, list[tuple[Report, list[Verdict]]]]) -> str:
    """The ladder of budgets, and every case."""
    lines = [
        "| budget of an answer | cases found | causes found | finding missing or later than third |"
        " wrong first event | all events opened that were planted | calls | tokens of all answers |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for budget, each in results.items():
        verdicts = [verdict for _, own in each for verdict in own]
        late = sum(not 0 < verdict.place <= FOLLOWED for verdict in verdicts)
        wrong = sum(0 < v.place <= FOLLOWED and not v.right for v in verdicts)
        shares = [v.planted for v in verdicts if v.planted is not None]
        lines.append(
            f"| {budget:,} | {sum(all(v.found for v in own) for _, own in each)} of {len(each)}"
            f" | {sum(v.found for v in verdicts)} of {len(verdicts)} | {late} | {wrong}"
            f" | {statistics.mean(shares):.0%} | {statistics.median(r.calls for r, _ in each):g}"
            f" | {statistics.median(r.tokens for r, _ in each):,.0f} |"
        )
    lines += ["", f"| case | {' | '.join(f'{budget:,}' for budget in results)} |"]
    lines.append("| --- |" + " --- |" * len(results))
    for i, case in enumerate(chosen):
        cells = [", ".join(map(_word, results[budget][i][1])) for budget in results]
        lines.append(f"| {case.name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _word(verdict: Verdict) -> str:
    if not verdict.place:
        return "not named"
    return f"{verdict.place}." if verdict.right else f"{verdict.place}., other events"


if __name__ == "__main__":
    sys.exit(main())
