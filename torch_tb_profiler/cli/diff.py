"""``diff A B``: what changed between two traces or two runs: whether the step did and by how much, or that it cannot be told; of
memory snapshots their peaks; ``compare`` is the same
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.argument_types import path_or_url
from torch_tb_profiler.cli.markdown import estimate
from torch_tb_profiler.cli.output import contexts, selected_steps, write
from torch_tb_profiler.cli.progress import say
from torch_tb_profiler.units import format_names

if TYPE_CHECKING:
    from torch_tb_profiler.api.baselines import Check
    from torch_tb_profiler.api.trace_context import TraceContext
    from torch_tb_profiler.sources.places import Place
    from torch_tb_profiler.views.diff.run import Pair
    from torch_tb_profiler.views.diff.wire import DiffPayload, Verdict

HELP = "compare a trace or a run with a baseline"
SLOWER = 1
PEAK = "peak of memory"

Form = Literal["markdown", "csv", "json"]


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument(
        "a", metavar="A", type=path_or_url, help="baseline: trace file or run folder"
    )
    parser.add_argument(
        "b",
        metavar="B",
        type=path_or_url,
        help="what to compare with it; workers of runs are matched by name, else by rank",
    )
    arguments.workers(parser)
    parser.add_argument(
        "--steps-a", metavar="STEPS", help="steps of A by index, like 3 or 3-7 (default: all)"
    )
    parser.add_argument("--steps-b", metavar="STEPS", help="steps of B")
    arguments.fail_on(parser, "the step of B (of memory snapshots the peak)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--format",
        choices=("markdown", "csv", "json"),
        default="markdown",
        help="(default: %(default)s)",
    )
    form.add_argument(
        "--json", dest="format", action="store_const", const="json", help="same as --format json"
    )
    parser.add_argument("--junit", metavar="FILE", help="also write the verdict as JUnit XML")
    arguments.tokens(parser, "shorten the Markdown to about N tokens, as far as the verdict allows")
    arguments.cache(parser)


def run(options: argparse.Namespace) -> int:
    """Print the comparison of the traces at ``options.b`` with those at ``options.a``."""
    sides = [contexts(options, path) for path in (options.a, options.b)]
    import msgspec

    from torch_tb_profiler.api.changes import match_traces
    from torch_tb_profiler.cli.checks import check_of
    from torch_tb_profiler.views.diff.file import diff_markdown
    from torch_tb_profiler.views.diff.payload import MOST_ROWS, diff_payload
    from torch_tb_profiler.views.diff.run import ALL_ROWS, run_markdown, run_payload
    from torch_tb_profiler.views.diff.wire import Verdict

    matching = match_traces(*([context.opened for context in side] for side in sides))
    # A trace compared with itself is analysed once.
    once: dict[tuple[Place, str], TraceContext] = {}
    as_json = options.format == "json"
    pairs = []
    for places in matching.pairs:
        a, b = (
            once.setdefault((side[i].opened.span.location, side[i].opened.worker.name), side[i])
            for side, i in zip(sides, places, strict=True)
        )
        pairs.append(_pair(a, b, options, alone=len(matching.pairs) == 1))
    only = [
        [side[i].opened.worker.name for i in places]
        for side, places in zip(sides, (matching.only_a, matching.only_b), strict=True)
    ]
    if len(pairs) == 1 and not any(only):
        pair = pairs[0]
        payload = diff_payload(
            pair.found, pair.a, pair.b, ALL_ROWS if options.format == "csv" else MOST_ROWS
        )
        write(_text(payload, options, lambda most: diff_markdown(payload, most)), json=as_json)
        kinds = [
            check_of(
                "",
                f'step time of steps "{kind.name}"',
                Verdict(
                    sentence=kind.sentence, share=kind.share, changed=kind.changed, apart=kind.apart
                ),
                options.fail_on,
            )
            for kind in payload.verdict.kinds
        ]
        name = PEAK if payload.memory else "step time"
        return _told(options, _whole(name, payload.verdict, options), kinds)
    together = run_payload(pairs, (options.a, options.b), (only[0], only[1]))
    write(_text(together, options, lambda most: run_markdown(together, most)), json=as_json)
    workers = [
        check_of("", w.name, msgspec.structs.replace(w.verdict, changed=w.sure), options.fail_on)
        for w in together.workers
    ]
    name = PEAK if together.memory else "run"
    return _told(options, _whole(name, together.verdict, options), workers)


def _whole(name: str, verdict: Verdict, options: argparse.Namespace) -> Check:
    from torch_tb_profiler.cli.checks import check_of

    return check_of("", name, verdict, options.fail_on, strict=options.strict)


def _pair(a: TraceContext, b: TraceContext, options: argparse.Namespace, *, alone: bool) -> Pair:
    from torch_tb_profiler.api.changes import recording
    from torch_tb_profiler.views.diff.payload import compared
    from torch_tb_profiler.views.diff.run import Pair

    steps = [
        selected_steps(context.opened, options, name)
        for context, name in zip((a, b), ("steps_a", "steps_b"), strict=True)
    ]
    comparison = compared(
        (a.facts, a.insight, steps[0]),
        (b.facts, b.insight, steps[1]),
        (a.opened.trace, b.opened.trace),
    )
    labels = (options.a, options.b) if alone else ("", "")
    return Pair(
        " → ".join(dict.fromkeys((a.opened.worker_title, b.opened.worker_title))),
        comparison,
        *(recording(context.opened, label) for context, label in zip((a, b), labels, strict=True)),
    )


def _text(payload: DiffPayload, options: argparse.Namespace, markdown: Callable[[int], str]) -> str:
    from torch_tb_profiler.views.diff.file import MOST_LINES, diff_csv

    form: Form = options.format
    if form == "json":
        return _json(payload)
    if form == "csv":
        return diff_csv(payload)
    text = markdown(MOST_LINES)
    for most in range(MOST_LINES - 1, -1, -1) if options.tokens else ():
        if estimate(text) <= options.tokens:
            break
        text = markdown(most)
    return text


def _json(payload: DiffPayload) -> str:
    """The payload with one object per step."""
    from torch_tb_profiler.views.steps import step_objects
    from torch_tb_profiler.views.wire import to_json

    told = json.loads(to_json(payload))
    for both in (told, *told.get("workers", ())):
        for side in "ab":
            both[side]["steps"] = step_objects(both[side]["steps"])
    return to_json(told).decode() + "\n"


def _told(options: argparse.Namespace, whole: Check, workers: Sequence[Check] = ()) -> int:
    """The exit code, and why it is not 0; one worker that became slower need not delay the run."""
    if options.junit:
        from torch_tb_profiler.cli.checks import write_junit

        write_junit(options.junit, "torch-tb-profiler diff", [whole, *workers])
    if options.fail_on is not None and whole.name == PEAK:
        say(f"--fail-on and --strict apply to the {PEAK}.")
    elif whole.ok is None and options.fail_on is not None:
        say(
            "it cannot be told whether the step became longer; record more steps. With --strict this"
            " fails."
        )
    slower = [check.name for check in workers if check.ok is False]
    if slower:
        say(f"slower than allowed: {format_names(slower)}.")
    return SLOWER if slower or whole.ok is False else 0
