"""The headline: the one largest cause of the step's length, where it is, and what the step would take
without it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.facts.workload_kind import WorkloadKind, workload_of
from torch_tb_profiler.analysis.figures.kernels import kernel_rows, short_name
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.figures.step_kinds import kind_names
from torch_tb_profiler.analysis.findings.candidate import THRESHOLD
from torch_tb_profiler.analysis.findings.engine import EXPECT_IDLE
from torch_tb_profiler.analysis.findings.rule import DEVICE, HOST
from torch_tb_profiler.analysis.findings.rules import RULES
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.units import format_limit, format_ns, format_share
from torch_tb_profiler.views.event_arguments import cut
from torch_tb_profiler.views.texts import capitalised

LEAST = 0.05
"""Share of the step that the change of a cause must save, weighted, to be the headline."""
_WEIGHT = {"certain": 1.0, "likely": 0.6, "theoretical": 0.0}
"""Of savings, when the largest cause is chosen."""
BUSY = 0.9
"""Share of the steps from which on the device is busy, whatever the host does meanwhile."""
_EQUAL = 0.9
"""Share of the greatest weight from which on two causes weigh the same."""
_MOST_KINDS = 4
_MOST, _NOTABLE = 0.5, 0.1
"""Shares of a cause from which on one place is most, or the largest part, of it."""
LEAST_JUDGED = 0.5
"""Share of the kernel time that must be known for silence to mean that all is well."""
_BUILT_IN = re.compile(r"<built-in (?:function|method) (?P<name>\S+)(?: of .*)?>", re.DOTALL)
_LINE = re.compile(r"(?P<file>.+\(\d+\)): (?P<function>.+)", re.DOTALL)
_STEP = re.compile(r"ProfilerStep")
_KNOWN = re.compile(r"ProfilerStep|enumerate\(DataLoader\)|enumerate\(DataPipe\)")
_OPERATOR = re.compile(r"\w+::\w+(?:\.\w+)?")
_LONGEST_NAME, _LONGEST_FILE = 60, 70


@dataclass(frozen=True)
class Path:
    """The critical path of some steps: rows of ``critical_path_steps``, and the mean time of each per
    step, ns.
    """

    facts: Facts
    insight: Insight
    row: Ints
    time: Array

    @classmethod
    def of(cls, facts: Facts, insight: Insight, steps: Sequence[int]) -> Path:
        """The path of some rows of steps."""
        table = insight["critical_path_steps"]
        row = np.flatnonzero(np.isin(table["step"], np.array(steps, np.int64)))
        return cls(facts, insight, row, table["time"][row] / max(len(steps), 1))

    def column(self, name: str) -> Array:
        """A column of the table for its rows."""
        return self.insight["critical_path_steps"][name][self.row]

    def take(self, causes: Collection[PathCause]) -> Path:
        """The part of some causes."""
        chosen = np.isin(self.column("cause"), list(causes))
        return Path(self.facts, self.insight, self.row[chosen], self.time[chosen])

    @property
    def total(self) -> float:
        """Its mean time per step, ns."""
        return float(self.time.sum())

    def where(self) -> str:
        """``, most of it in zoom_shift at scipy/ndimage/_interpolation.py(739)``; empty where nothing stands
        out.
        """
        line, operator, name = (self.column(key) for key in ("line", "operator", "name"))
        known = (operator >= 0) & (self.column("cause") != PathCause.COMMUNICATION)
        place = np.where(line >= 0, line, np.where(known, operator, name))
        part, number = self._largest(place)
        if number < 0 or part < _NOTABLE:
            return ""
        at = place == number
        _, called = Path(self.facts, self.insight, self.row[at], self.time[at])._largest(name[at])
        text = self._words(number, called)
        return (
            f", {'most of it' if part >= _MOST else 'the largest part'} in {text}" if text else ""
        )

    def _largest(self, keys: Array) -> tuple[float, int]:
        """The key with most time, and its share; (0, −1) for an empty path."""
        if not len(keys) or not self.total:
            return 0.0, -1
        each, group = np.unique(keys, return_inverse=True)
        time = sum_by(group, len(each), np.rint(self.time).astype(np.int64))
        return float(time.max() / self.total), int(each[time.argmax()])

    def _words(self, place: int, called: int) -> str:
        text = self.facts.strings[place]
        name = self.facts.strings[called] if called >= 0 else text
        line = _LINE.fullmatch(text)
        if line is None:
            # Where it is in the step or in the DataLoader is known already.
            return "" if _KNOWN.match(text) else cut(_plain(text), _LONGEST_NAME)
        built_in = _BUILT_IN.fullmatch(name)
        inner = _LINE.fullmatch(name)
        what = built_in["name"] if built_in else line["function"] if inner else _plain(name)
        file = "/".join(line["file"].replace("\\", "/").split("/")[-3:])
        return f"{cut(what, _LONGEST_NAME)} at {cut(file, _LONGEST_FILE)}"


def _lengths_of_kinds(facts: Facts, rows: Sequence[int]) -> str:
    """The median step of each kind among some steps; empty for one kind: a mean over several is no step."""
    table, chosen = facts["steps"], np.array(rows, np.int64)
    kind = table["kind"][chosen]
    wall = (table["end"] - table["start"])[chosen]
    own = np.unique(kind[kind >= 0])[:_MOST_KINDS].tolist()
    if len(own) < 2:
        return ""
    names = kind_names(facts)
    return ", ".join(
        f"{format_ns(float(np.median(wall[kind == one])))} {names[one]}" for one in own
    )


def _plain(name: str) -> str:
    """The name of an operator as it is, of a kernel without its types."""
    return name if _OPERATOR.fullmatch(name) else short_name(name)


def headline(
    path: Path,
    analysis: Mapping[str, Any],
    words: Mapping[str, str],
    filled: Sequence[Mapping[str, str]],
) -> str:
    """The headline over the findings of ``analysis`` (``selected.py``). ``words``: of the vendor; ``filled``:
    of each finding, in the same order.
    """
    if analysis["step_ns"] is None:
        return "Nothing to analyse: the trace holds no steps and no events that could form one."
    length, step = analysis["step_ns"], words["step"]
    if "sums" in analysis["unsure"]:
        return (
            f"The file holds only sums ({format_ns(length)} in total): it tells where time was spent,"
            " not when."
        )
    the_step = f"{'the' if analysis['steps'] == 1 else 'each'} {format_ns(length)} {step}"
    if kinds := _lengths_of_kinds(path.facts, analysis["rows"]):
        the_step = f"each {step} ({format_ns(length)} on average: {kinds})"
    kind = workload_of(path.facts).kind
    if kind in EXPECT_IDLE:
        return _by_design(kind, path, analysis, words, the_step)
    weights = [
        (item["share"] or 0.0) * _WEIGHT[item["certainty"]] * (not item["artefact"])
        if item["certainty"] and RULES[item["rule"]].cause
        else 0.0
        for item in analysis["found"]
    ]
    # Of causes that weigh as much, the first of the rules says most.
    best = min(
        (at for at, weight in enumerate(weights) if weight and weight >= _EQUAL * max(weights)),
        key=lambda at: RULES[analysis["found"][at]["rule"]].place,
        default=-1,
    )
    if best < 0 or weights[best] < LEAST:
        return _account(path, analysis, words, the_step)
    item = analysis["found"][best]
    rule = RULES[item["rule"]]
    part = path.take(rule.causes)
    own = dict(words) | dict(filled[best]) | {"the_step": the_step}
    shown = max(part.total, item["shown_ns"]) if rule.causes else part.total
    own["path"] = format_ns(min(shown, length))
    own["where"] = part.where() if part.total else _of_finding(item)
    cause = _filled(rule.cause, own)
    without = f" {capitalised(_filled(rule.without, own))} the {step} takes {own['left']}."
    return f"{capitalised(cause)}.{without if rule.without else ''}"


def _by_design(
    kind: WorkloadKind,
    path: Path,
    analysis: Mapping[str, Any],
    words: Mapping[str, str],
    the_step: str,
) -> str:
    """Of work between whose kernels the device is idle by design."""
    device = words["device"]
    if kind == WorkloadKind.CAPTURE:
        host = path.take((*HOST, PathCause.LAUNCH))
        return (
            f"A graph is captured: its kernels are recorded and do not run, so an idle {device} is"
            f" expected. The host works for {format_ns(host.total)} of {the_step}{host.where()}."
        )
    what = "A single kernel" if kind == WorkloadKind.SINGLE_KERNEL else "A microbenchmark"
    share = 0.0 if analysis["busy"] is None else analysis["busy"]
    return (
        f"{what} was recorded: the {device} is active for {format_ns(share * analysis['step_ns'])} of"
        f" {the_step}{_longest(path, analysis)}."
    )


def _of_finding(item: Mapping[str, Any]) -> str:
    """Where a finding is that the path does not show apart."""
    words = item["words"]
    if "where" in words:
        return cut(words["where"], _LONGEST_NAME + _LONGEST_FILE)
    text = words.get("doing") or words.get("operators") or item["line"] or ""
    return f" in {cut(text, _LONGEST_NAME + _LONGEST_FILE)}" if text else ""


def _filled(text: str, words: Mapping[str, str]) -> str:
    return " ".join(text.split()).format_map(words)


def _account(
    path: Path, analysis: Mapping[str, Any], words: Mapping[str, str], the_step: str
) -> str:
    """Where the time goes when no cause stands out that could be removed."""
    device, unknown = words["device"], path.take((PathCause.NOT_RECORDED,))
    marks = _marks(path)
    groups = {
        "computes": path.take(DEVICE),
        "communicates": path.take((PathCause.COMMUNICATION,)),
        "copies": path.take((PathCause.MEMCPY,)),
        "host": Path(path.facts, path.insight, *_without(path.take((*HOST, PathCause.LAUNCH)))),
        "loads": path.take((PathCause.DATALOADER,)),
        "waits": path.take((PathCause.SYNCHRONIZATION,)),
    }
    nothing = unknown.total + marks
    name, part = max(groups.items(), key=lambda pair: pair[1].total)
    quiet = nothing > part.total
    if (quiet or name == "host") and (analysis["busy"] or 0) >= BUSY:
        active = f"the {device} runs kernels or copies for {format_share(analysis['busy'])} of {the_step}"
        return f"{capitalised(active)}{_longest(path, analysis)}{_judged(analysis, words)}"
    if quiet:
        return (
            f"Nothing was recorded for {format_ns(nothing)} of {the_step}"
            f"{_active(analysis, words)}{_judged(analysis, words)}"
        )
    time = f"{format_ns(part.total)} ({format_share(part.total / analysis['step_ns'])})"
    sentences = {
        "computes": f"the {device} computes for {time} of {the_step}{part.where()}",
        "communicates": f"communication takes {time} of {the_step}{part.where()}",
        "copies": f"the {device} copies for {time} of {the_step}{part.where()}",
        "host": f"the host works for {time} of {the_step}{part.where()}",
        "loads": f"the DataLoader takes {time} of {the_step}{part.where()}",
        "waits": f"the host waits for {time} of {the_step} for what was not recorded{part.where()}",
    }
    return f"{capitalised(sentences[name])}{_judged(analysis, words)}"


def _active(analysis: Mapping[str, Any], words: Mapping[str, str]) -> str:
    """How long the device worked meanwhile."""
    if analysis["busy"] is None:
        return ""
    return f", and the {words['device']} runs kernels or copies for {format_share(analysis['busy'])} of it"


def _longest(path: Path, analysis: Mapping[str, Any]) -> str:
    """The kernel with most time, where it stands out."""
    steps = Selection(np.array(analysis["rows"], np.int64), False)
    kernels = kernel_rows(path.facts, steps, "name")
    total = kernels["total_ns"].sum()
    if not total or kernels["total_ns"].max() < _NOTABLE * total:
        return ""
    row = int(kernels["total_ns"].argmax())
    share = format_share(kernels["total_ns"][row] / total)
    name = cut(_plain(path.facts.strings[int(kernels["name"][row])]), _LONGEST_NAME)
    return f"; {name} takes {share} of its kernel time"


def _marks(path: Path) -> float:
    """Time within a step of which nothing but the step was recorded, ns."""
    host = path.take(HOST)
    return host.total - float(_without(host)[1].sum())


def _without(host: Path) -> tuple[Ints, Array]:
    names = host.column("name")
    each = np.unique(names)
    marks = [
        number
        for number in each.tolist()
        if number >= 0 and _STEP.match(host.facts.strings[number])
    ]
    kept = ~np.isin(names, marks) | (host.column("line") >= 0)
    return host.row[kept], host.time[kept]


def _judged(analysis: Mapping[str, Any], words: Mapping[str, str]) -> str:
    """Whether that no finding counts means that all is well."""
    if any(item["costs"] for item in analysis["found"]):
        return "."
    if analysis["judged"] is not None and analysis["judged"] < LEAST_JUDGED:
        share = analysis["judged"]
        compared = f"only {format_share(share)}" if share else "none"
        return (
            f". No cause was found that costs {format_limit(THRESHOLD)} or more, but {compared} of the"
            f" kernel time could be compared with the peaks of the {words['device']}."
        )
    return f". No cause was found that costs {format_limit(THRESHOLD)} or more."
