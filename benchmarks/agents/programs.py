"""Does an assistant find what is wrong with real programs, in four calls? The scripted agent on their recordings.

    python benchmarks/agents/programs.py SET --traces DIR [--modes record,plain] [--tokens 2000] [--only NAME]... [--verbose]

A set is a folder with ``causes.json`` and ``programs/``; DIR holds NAME/slow_MODE, as ``benchmarks/causes/run.py``
writes them. The agent (``agent.solve``) has the tools of the MCP server, four calls, and the budget for each
answer. A cause is reached if the headline or one of the first three findings names it, by its words, its rule, or,
where the place says what to change, by its place; the line is reached if an answer names a planted line, which
recordings without stacks need not.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from agent import FOLLOWED, Report, plain, solve
from inside import in_this_process, rule_of
from mcp.client.client import Client

from torch_tb_profiler.cli.agents import asking
from torch_tb_profiler.cli.agents import server as serving
from torch_tb_profiler.sources.places import Place

CALLS = 4
WITH_STACKS = ("record", "stack")
"""Modes whose recordings have lines."""
_PLACE = re.compile(r"(?P<file>[\w./<>-]*\w\.py)[(:](?P<line>\d+)\)?(?:: (?P<function>[\w<>.]+))?")
_NAME = re.compile(r"\b[A-Za-z_]\w*(?:::|[.#])[\w.:#]+")


@dataclass(frozen=True)
class Reached:
    """``place``: of the finding that names the cause, 0 for the headline, −1 for none; ``by_place``: only its place
    does, which says what to change; ``line``: whether a planted line was named, None where none need be.
    """

    place: int
    by_place: bool
    line: bool | None

    @property
    def all(self) -> bool:
        return self.place >= 0 and self.line is not False


class Program:
    """A program of a set, and whether a text names its cause or its place."""

    def __init__(self, folder: Path, name: str, entry: dict[str, Any]) -> None:
        self.name, self.entry = name, entry
        self.words = re.compile("|".join(f"(?:{w})" for w in entry["words"]) or r"(?!)", re.I)
        tree = ast.parse((folder / "programs" / f"{name}.py").read_text("utf-8"))
        self.lines: list[tuple[str, int, int]] = []
        self.libraries: list[str] = []
        for planted in entry["lines"]:
            file, _, function = planted.partition(":")
            if function:
                self.lines += [(file, *ends) for ends in _functions(tree, function)]
            else:
                self.libraries.append(file)

    def names_cause(self, text: str, rule: str = "") -> bool:
        """By its rule or its words; those of files, functions and operators do not count."""
        if rule in self.entry["rules"] and not self.entry.get("rule_needs_words"):
            return True
        return bool(self.words.search(_NAME.sub(" ", _PLACE.sub(" ", text))))

    def names_line(self, text: str) -> bool:
        """A planted line; of what is planted in a library also the program's own line that led there."""
        return any(
            any(
                found["file"].endswith(file) and a <= int(found["line"]) <= b
                for file, a, b in self.lines
            )
            or any(file in found["file"] for file in self.libraries)
            or (not self.lines and found["file"].endswith(f"{self.name}.py"))
            for found in _PLACE.finditer(text)
        )

    def names_place(self, text: str) -> bool:
        """A planted line or operator."""
        names = re.split(r"[^\w.:#<>]+", text)
        return self.names_line(text) or bool(set(names) & set(self.entry["operators"]))


def _functions(tree: ast.AST, wanted: str) -> Iterator[tuple[int, int]]:
    """First and last line of the functions of a name like ``Class.function``."""

    def walk(node: ast.AST, path: tuple[str, ...]) -> Iterator[tuple[int, int]]:
        for child in ast.iter_child_nodes(node):
            inner = path
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inner = (*path, child.name)
                if inner[-wanted.count(".") - 1 :] == tuple(wanted.split(".")):
                    yield (
                        min([child.lineno, *(d.lineno for d in child.decorator_list)]),
                        child.end_lineno or 0,
                    )
            yield from walk(child, inner)

    return walk(tree, ())


def judge(report: Report, program: Program, stacks: bool) -> Reached:
    """What the answers reach of a planted cause. ``stacks``: the recording has them."""
    told = report.findings[:FOLLOWED]
    texts = [report.headline, *(f"{finding.text} at {finding.line}" for finding in told)]
    rules = ["", *(rule_of(finding.title) for finding in told)]
    place = next((i for i, text in enumerate(texts) if program.names_cause(text, rules[i])), -1)
    by_place = False
    if place < 0 and program.entry.get("place_suffices"):
        place = next((i for i, text in enumerate(texts) if program.names_place(text)), -1)
        by_place = place >= 0
    line = None
    if stacks and program.entry["lines"]:
        line = any(program.names_line(plain(answer)) for answer in report.answers)
    return Reached(place, by_place, line)


async def evaluate(
    traces: Path, programs: Sequence[Program], modes: Sequence[str], tokens: int, verbose: bool
) -> list[tuple[Program, str, Report, Reached]]:
    """What the agent reaches of each program in each mode."""
    results = []
    async with Client(serving.server(Place(str(traces)))) as client:
        for program in programs:
            for mode in modes:
                run = f"{program.name}/slow_{mode}"
                if not (traces / run).is_dir():
                    print(f"{run}: not recorded", file=sys.stderr)
                    continue
                report = await solve(client, run, tokens)
                reached = judge(report, program, mode in WITH_STACKS)
                results.append((program, mode, report, reached))
                print(f"{run}: {_words(reached)}", file=sys.stderr)
                if verbose:
                    print("\n".join(report.answers[1:]), file=sys.stderr)
    return results


def _words(reached: Reached) -> str:
    place = {-1: "not named", 0: "headline"}.get(reached.place, f"{reached.place}.")
    line = {None: "", True: ", line", False: ", no line"}[reached.line]
    return f"{place}{' by its place' if reached.by_place else ''}{line}"


def table(results: Sequence[tuple[Program, str, Report, Reached]], modes: Sequence[str]) -> str:
    """Each program, and how many of all."""
    names = list(dict.fromkeys(program.name for program, *_ in results))
    cells = {(program.name, mode): _words(reached) for program, mode, _, reached in results}
    lines = [f"| program | {' | '.join(modes)} |", f"| --- |{' --- |' * len(modes)}"]
    lines += [
        f"| {name} | {' | '.join(cells.get((name, mode), '–') for mode in modes)} |"
        for name in names
    ]
    lines += [
        "",
        "| mode | cause and line reached | cause named first | in the first three | line | calls | tokens of an answer, at most | of all, median |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for mode in modes:
        own = [(report, reached) for _, of, report, reached in results if of == mode]
        if not own:
            continue
        n, lined = len(own), [reached.line for _, reached in own if reached.line is not None]
        lines.append(
            f"| {mode} | {sum(r.all for _, r in own)} of {n} ({sum(r.all for _, r in own) / n:.0%})"
            f" | {sum(0 <= r.place <= 1 and not r.by_place for _, r in own)}"
            f" | {sum(r.place >= 0 for _, r in own)} | {sum(lined)} of {len(lined)}"
            f" | {max(report.calls for report, _ in own)} | {max(report.most_tokens for report, _ in own):,}"
            f" | {statistics.median(report.tokens for report, _ in own):,.0f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("set", type=Path, help="a folder with programs/ and causes.json")
    parser.add_argument("--traces", type=Path, required=True)
    parser.add_argument("--modes", default="record,plain")
    parser.add_argument("--tokens", type=int, default=asking.TOKENS)
    parser.add_argument("--only", action="append", default=[], help="the name of a program")
    parser.add_argument("--verbose", action="store_true", help="print the answers")
    options = parser.parse_args()
    entries = json.loads((options.set / "causes.json").read_text("utf-8"))
    programs = [
        Program(options.set, name, entry)
        for name, entry in entries.items()
        if not options.only or name in options.only
    ]
    for module in (serving, asking):
        module.ask = in_this_process  # type: ignore[attr-defined]
    modes = options.modes.split(",")
    with tempfile.TemporaryDirectory() as cache:
        os.environ.setdefault("TORCH_TB_PROFILER_CACHE_DIR", cache)
        results = anyio.run(
            evaluate, options.traces, programs, modes, options.tokens, options.verbose
        )
    print(table(results, modes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
