"""What the findings say about recordings of ``run.py``, against the causes that are planted in them.

    python benchmarks/causes/score.py --traces DIR [SET...] [--modes record,plain] [--only NAME]... [--verbose] [--write]

A cause is named by the key of a rule, or by words once names of files, functions and operators are taken
out; a place by a line or an operator. ``causes.json`` lists them.

    first    the headline, its detail or the first finding names the cause
    three    one of the first three findings does
    place!   only a planted place is named, which says what to change
    place    only a planted place is named, which does not
    no       neither

"p/m" is the saving that the finding predicts by the one measured under the same profiler; "*" marks what a
what-if predicts where no finding does. Claims that are not so are those of ``tests/views/findings/claims.py``, a
step that the program did not take, and "within noise" of steps that are all longer than all of the twin.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.views.findings.claims import NEAR, answers_of, broken  # noqa: E402
from torch_tb_profiler.cli.main import main as command_line  # noqa: E402

Answer = Mapping[str, Any]
VERDICTS = ("first", "three", "place!", "place", "no")
GOOD = (0.7, 1.4)
"""Predicted by measured, of a prediction that came true."""
MARK = "<!-- table -->"
UNSAID = {"attempt", "caveat", "links", "evidence", "views", "certainty", "rule", "change"}
"""Keys of a finding that do not tell of this trace."""
_LINE = re.compile(r"([\w./<>-]*\w\.py)(?:[(:](\d+)\)?)?(?:: ([\w<>.]+))?")
_CALL = re.compile(r"(\S+) (?:at|of) (?=[\w./<>-]*\w\.py)")
_BUILT_IN = re.compile(r"<built-in [^>]*>")
_OPERATOR = re.compile(r"\w+::[\w.]+|\bOptimizer\.\w+#[\w.]+|\b[A-Za-z]\w*:[a-z_]\w*")
_IN = re.compile(r"\bin ([\w:.<>#]+?)[.,;]?(?=\s|$)")


def answer_of(*arguments: str) -> Any:
    """What a command prints as JSON; None if it failed."""
    printed = io.StringIO()
    try:
        with redirect_stdout(printed), redirect_stderr(io.StringIO()):
            command_line(list(arguments))
        return json.loads(printed.getvalue())
    except SystemExit:
        return None
    except Exception as failed:
        print(f"{arguments}: {failed!r}", file=sys.stderr)
        return None


def said(answer: Answer) -> str:
    """The headline and what follows it."""
    return " ".join(filter(None, (answer["headline"], answer.get("detail"))))


def texts(value: Any) -> Iterator[str]:
    """All that a finding says."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in UNSAID:
                yield from texts(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from texts(inner)


class Cause:
    """What is planted in a program, and whether a text names it."""

    def __init__(self, script: Path, entry: Mapping[str, Any]) -> None:
        self.entry = entry
        self.words = re.compile("|".join(f"(?:{each})" for each in entry["words"]), re.IGNORECASE)
        tree = ast.parse(script.read_text())
        self.spans: list[tuple[str, str, int, int]] = []
        self.library: list[str] = []
        for pattern in entry["lines"]:
            file, _, function = pattern.partition(":")
            if not function:
                self.library.append(file)
                continue
            found = [
                (file, name.rpartition(".")[2], first, last)
                for name, first, last in functions(tree)
                if name == function or name.endswith(f".{function}")
            ]
            if not found and script.name == file:
                raise ValueError(f"{script}: no {function}")
            self.spans += found

    def named(self, text: str, rule: str = "", worker: str = "") -> bool:
        """Whether the cause itself is named."""
        if rule in self.entry.get("worker_rules", {}).get(worker, ()):
            return True
        if rule in self.entry["rules"] and not self.entry.get("rule_needs_words"):
            return True
        for names in (_BUILT_IN, _CALL, _LINE, _OPERATOR):
            text = names.sub(" ", text)
        return bool(self.entry["words"] and self.words.search(text))

    def placed(self, text: str) -> bool:
        """Whether a planted line or operator is named."""
        for file, number, function in _LINE.findall(text):
            if any(part in file for part in self.library):
                return True
            for own, name, first, last in self.spans:
                at = int(number) in range(first, last + 1) if number else function == name
                if file.endswith(own) and at:
                    return True
        names = {*_OPERATOR.findall(text), *_CALL.findall(text), *_IN.findall(text)}
        names |= {function for *_, function in _LINE.findall(text)}
        names |= {re.sub(r"_\d+$", "", name) for name in names}
        return not names.isdisjoint(self.entry["operators"])

    def verdict(self, answer: Answer) -> tuple[str, Answer | None]:
        """The verdict on one worker's answer, and the finding that names the cause."""
        findings = [each for each in answer["findings"] if not each["artefact"]][:3]
        worker = answer["worker"]
        naming = [
            each for each in findings if self.named(" | ".join(texts(each)), each["rule"], worker)
        ]
        if self.named(said(answer)) or (naming and naming[0] is findings[0]):
            return "first", naming[0] if naming else None
        if naming:
            return "three", naming[0]
        every = " | ".join([said(answer), *(text for each in findings for text in texts(each))])
        rules = {each["rule"] for each in findings}
        if self.placed(every):
            return ("place!" if self.entry.get("place_suffices") else "place"), None
        return ("no" if rules.isdisjoint(self.entry.get("place_rules", ())) else "place"), None


def functions(tree: ast.AST, within: str = "") -> Iterator[tuple[str, int, int]]:
    """Name, like ``Class.function``, first and last line of each class and function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            name = f"{within}.{node.name}" if within else node.name
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield name, first, node.end_lineno or first
            yield from functions(node, name)
        else:
            yield from functions(node, within)


@dataclass
class Row:
    """What came of one program in one mode. Times are ms; of a pair, slow and fixed."""

    program: str
    mode: str
    bare: list[float]
    profiled: list[float]
    verdict: str = "no"
    headline: str = ""
    findings: list[str] = field(default_factory=list)
    predicted: float | None = None
    told: bool = True
    inside: bool | None = None
    claims: list[str] = field(default_factory=list)
    silent: bool = False

    @property
    def saved(self) -> float:
        return self.profiled[0] - self.profiled[1]

    @property
    def ratio(self) -> float | None:
        return (
            self.predicted / self.saved if self.predicted is not None and self.saved > 0 else None
        )

    def cells(self) -> list[str]:
        """Of the table."""
        star = "" if self.told else "*"
        pairs = [" → ".join(f"{each:.2f}" for each in pair) for pair in (self.bare, self.profiled)]
        return [
            self.program,
            self.mode,
            self.verdict,
            *pairs,
            "" if self.predicted is None else f"{self.predicted:.1f}{star}",
            "" if self.ratio is None else f"{self.ratio:.2f}{star}",
            {True: "yes", False: "no", None: ""}[self.inside],
            "; ".join(self.claims) + (" [silent]" if self.silent else ""),
        ]


HEAD = (
    "program", "mode", "verdict", "bare ms", "profiled ms", "predicted", "p/m", "inside", "claims that are not so",
)  # fmt: skip


def scored(script: Path, entry: Mapping[str, Any], folder: Path, figures: Answer, mode: str) -> Row:
    """The row of a program."""
    cause = Cause(script, entry)
    middle = "mean" if entry.get("periodic") else "median"
    both = [figures["slow"], figures["fixed"]]
    row = Row(
        script.stem,
        mode,
        [(each["bare"] or {}).get(middle, 0.0) for each in both],
        [(each.get(mode) or {}).get(middle, 0.0) for each in both],
    )
    slow = folder / f"slow_{mode}"
    answers = answer_of("findings", str(slow), "--json")
    if not answers or not all(row.profiled):
        row.claims.append("no answer")
        return row
    judged = [cause.verdict(answer) for answer in answers]
    best = min(range(len(answers)), key=lambda at: VERDICTS.index(judged[at][0]))
    row.verdict, row.headline = judged[best][0], said(answers[best])
    row.findings = [
        f"{each['rule']}: {each['title']} ({each['certainty']}, {(each['recoverable_ns'] or 0) / 1e6:.2f} ms,"
        f" {each['line']})"
        for each in answers[best]["findings"][:3]
    ]
    _predict(row, entry, slow, [finding for _, finding in judged if finding])
    lengths = [each[mode]["all"] for each in both]
    row.claims += _false(slow, lengths[0])
    row.claims += _noise(slow, folder / f"fixed_{mode}", lengths)
    sure = [
        each["recoverable_ns"] or 0
        for answer in answers
        for each in answer["findings"]
        if each["certainty"] != "theoretical"
    ]
    nothing = max(sure, default=0) < 0.02 * 1e6 * row.profiled[0]
    row.silent = row.verdict in ("no", "place") and nothing and row.saved >= 0.3 * row.profiled[0]
    return row


def _predict(row: Row, entry: Answer, folder: Path, findings: Sequence[Answer]) -> None:
    """The saving that is predicted for the cause, and whether the real one is within its interval."""
    told = [each for each in findings if each["recoverable_ns"]]
    if told:
        most = max(told, key=lambda each: float(each["recoverable_ns"]))
        row.predicted = most["recoverable_ns"] / 1e6
        low, high = most["recoverable_low_ns"], most["recoverable_high_ns"]
        row.inside = low <= 1e6 * row.saved <= high
        return
    for change in entry.get("whatif", ()):
        for answer in answer_of("whatif", str(folder), "--json", "--change", change) or ():
            saving = (answer["measured_ns"] - answer["predicted_ns"]) / 1e6
            row.predicted, row.told = max(saving, row.predicted or saving), False


def _false(folder: Path, lengths: Sequence[float]) -> Iterator[str]:
    for at, told in enumerate(answers_of(folder)):
        yield from broken(told)
        step = (told.answer["step_ns"] or 0) / 1e6
        # Only the first rank tells how long its steps took.
        if at == 0 and step and min(abs(each / step - 1) for each in lengths) > NEAR:
            yield f"no step took {step:.1f} ms"


def _noise(slow: Path, fixed: Path, lengths: Sequence[Sequence[float]]) -> Iterator[str]:
    verdict = (answer_of("diff", str(slow), str(fixed), "--json") or {}).get("verdict") or {}
    sentence = verdict.get("sentence", "")
    if min(lengths[0]) > max(lengths[1]) and not verdict.get("beyond", "within" not in sentence):
        yield f"diff: {sentence}"


def totals(rows: Sequence[Row]) -> str:
    """One line over the rows of a mode."""
    counts = Counter(row.verdict for row in rows)
    told = [row.ratio for row in rows if row.told and row.ratio is not None]
    asked = [row.ratio for row in rows if not row.told and row.ratio is not None]
    good = [sum(GOOD[0] <= each <= GOOD[1] for each in ratios) for ratios in (told, asked)]
    medians = [f"{statistics.median(ratios):.2f}" if ratios else "–" for ratios in (told, asked)]
    intervals = [row.inside for row in rows if row.inside is not None]
    return (
        f"{rows[0].mode}: {len(rows)} programs: "
        + ", ".join(f"{verdict} {counts[verdict]}" for verdict in VERDICTS)
        + f"; predicted by measured in {GOOD[0]} to {GOOD[1]}: {good[0]} of {len(told)} findings"
        + f" (median {medians[0]}), {good[1]} of {len(asked)} what-ifs (median {medians[1]})"
        + f"; inside its interval {sum(intervals)} of {len(intervals)}"
        + f"; false claims {sum(len(row.claims) for row in rows)}"
        + f"; silent {sum(row.silent for row in rows)}"
    )


def table(rows: Sequence[Row], modes: Sequence[str]) -> str:
    """In Markdown."""
    lines = [HEAD, ("---",) * len(HEAD), *(row.cells() for row in rows)]
    written = [f"| {' | '.join(cells)} |" for cells in lines]
    for mode in modes:
        if mine := [row for row in rows if row.mode == mode]:
            written += ["", totals(mine)]
    return "\n".join(written)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", type=Path, default=[HERE])
    parser.add_argument("--traces", type=Path, required=True, help="the folder that run.py wrote")
    parser.add_argument("--modes", default="record,plain")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--verbose", action="store_true", help="also headlines and findings")
    parser.add_argument("--write", action="store_true", help="the table into README.md")
    asked = parser.parse_args()
    measured, modes = (
        json.loads((asked.traces / "measured.json").read_text()),
        asked.modes.split(","),
    )
    rows: list[Row] = []
    for mode in modes:
        for folder in asked.sets:
            for name, entry in json.loads((folder / "causes.json").read_text()).items():
                if name not in measured or (asked.only and name not in asked.only):
                    continue
                script = folder / "programs" / f"{name}.py"
                row = scored(script, entry, asked.traces / name, measured[name], mode)
                rows.append(row)
                if asked.verbose:
                    print(" | ".join(row.cells()), f"    {row.headline}", sep="\n")
                    print(*(f"      - {each}" for each in row.findings), sep="\n", flush=True)
    print(made := table(rows, modes))
    if asked.write:
        target = HERE / "README.md"
        before, _, after = target.read_text(encoding="utf-8").split(MARK)
        target.write_text(f"{before}{MARK}\n{made}\n{MARK}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
