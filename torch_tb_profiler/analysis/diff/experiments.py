"""Recordings side by side: the figures of each, and how its step differs from that of a chosen one.

::

    run      step         against
    monday   212 ms ± 2   no earlier recording of the same work
    tuesday  187 ms ± 1   monday    −11.8 %, changed
    friday   188 ms ± 2   tuesday    +0.5 %, no change beyond ±5 %
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.diff.rank_test import MARGIN, Sample, compare_samples
from torch_tb_profiler.analysis.diff.side import compared_side, with_repeats
from torch_tb_profiler.analysis.diff.significance import Floats
from torch_tb_profiler.analysis.diff.work_size import LIKE_SHAPES, like_shapes, work_between
from torch_tb_profiler.analysis.distributed.rank_index import busy_of_steps, peak_memory
from torch_tb_profiler.analysis.facts.header import unix_begin
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.display import DisplayTable, display_spec
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.strings import NO_STRINGS
from torch_tb_profiler.units import format_limit, format_share

LIKE_PROGRAM = 0.5
"""Share from which on two recordings are of the same work: of operator names in common, and of the time that either spends
in them."""

MOST_FINDINGS = 3
Findings = tuple[tuple[str, float], ...]

_CHANGED = f"Whether the step changed, or not beyond ±{format_limit(MARGIN)}; missing where it cannot be told."
_OWN = "experiment_"
EXPERIMENTS = display_spec(
    """
experiments: One row per run, or per recording where there is one run; cold, odd and cut off steps left out.
    run         text   Run                  term=run width=190                                 Name of the run.
    span        text   -                    -                                                  Name of the recording.
    state       text   -                    -                                                  `ready`, `waiting` or `failed`.
    message     text   -                    optional                                           Why there are no figures.
    recorded    text   Recorded             term=experiment_recorded optional width=146        When it began, UTC.
    steps       count  Steps                term=step optional unit=steps width=58             Steps that are compared.
    step_ns     time   Step                 term=experiment_step optional width=78             Median step.
    spread_ns   time   Spread               term=experiment_spread optional width=76           Its standard deviation.
    against     text   Against              term=experiment_against optional width=120 hidden  The recording that it is compared with; missing where there is
        none of the same work.
    delta_ns    delta  Change               term=diff_delta optional width=92                  Mean step less that of the recording that it is compared with; of
        recordings without steps, per unit of work.
    share       share  Of the step          term=diff_verdict optional width=84                How much longer a step is, as a share of that of the recording
        that it is compared with.
    low         share  At least             term=diff_verdict optional hidden                  Lower end of its interval.
    high        share  At most              term=diff_verdict optional hidden                  Upper end of its interval.
    changed     flag   Changed              term=diff_verdict optional width=76                <changed>
    busy        share  GPU active           term=experiment_busy optional width=70             Time with device work, of the steps.
    mfu         share  MFU                  term=efficiency_mfu optional width=66              Model FLOPs utilization.
    peak_bytes  bytes  Peak memory          term=memory_peak optional width=84                 Most allocated in a step.
    exposed_ns  time   Exposed              term=distributed_exposed optional width=80         Communication of a step that nothing hides.
    findings    text   Findings             term=findings optional width=300                   What costs most step time.
    device      text   Device               term=device optional width=170                     Its accelerators.
    worker      text   Worker               term=worker width=90                               Its worker; of several, how many.
    common      share  Operators in common  term=experiment_common optional hidden             Operator names that it has in common with the base, of those that
        either has.
""",
    changed=_CHANGED,
)


class Experiment(msgspec.Struct, frozen=True):
    """The figures of one recording over its usual steps; NaN, None and empty text are unknown.

    began: Unix time of its first event, ns.
    median, spread: of the compared steps, ns. busy, mfu: shares. memory: bytes. exposed: ns per step.
    findings: titles, the most expensive first, with what each saves of the step.
    operators: hashes of the names of its operators, of its kernels where it has none, ascending.
    times: share of the time that each of them takes.
    """

    sample: Sample
    began: int | None
    device: str
    median: float
    spread: float
    busy: float
    mfu: float
    memory: float
    exposed: float
    findings: Findings
    operators: Ints
    times: Floats


def experiment_of(
    trace: Trace, facts: Facts, insight: Insight, mfu: float | None, findings: Findings
) -> Experiment:
    """The figures of a recording; ``mfu`` and ``findings`` are computed elsewhere."""
    side = with_repeats(compared_side(facts, insight, select(facts)), trace)
    walls, steps, table = side.walls, side.steps, facts["steps"]
    busy = busy_of_steps(facts)[steps]
    memory = peak_memory(insight, table["start"], table["end"])[steps]
    exposed = insight["communication_steps"]["communication"][steps]
    names = facts.strings.many(facts["devices"]["name"])
    n = len(steps)
    return Experiment(
        sample=side.sample,
        began=unix_begin(trace),
        device=", ".join(dict.fromkeys(filter(None, names))),
        median=float(np.median(walls)) if n else math.nan,
        spread=float(walls.std(ddof=1)) if n > 1 else math.nan,
        busy=float(busy.sum() / walls.sum())
        if n and walls.sum() and (busy >= 0).all()
        else math.nan,
        mfu=math.nan if mfu is None else mfu,
        memory=float(memory.max()) if n and (memory >= 0).any() else math.nan,
        exposed=float(exposed.mean()) if n and facts.summary.has_device else math.nan,
        findings=findings,
        **_names(facts),
    )


def _names(facts: Facts) -> dict[str, Any]:
    """``operators`` and ``times``."""
    thing = "operator" if facts["operators"].n else "kernel"
    table, steps = facts[f"{thing}s"], facts[f"{thing}_steps"]
    keys = ("host_self", "device_self") if thing == "operator" else ("total",)
    numbers, place = np.unique(table["name"], return_inverse=True)
    names = np.array([hash(text) for text in facts.strings.many(numbers)], np.int64)
    taken = sum(steps[key].astype(np.float64) for key in keys)
    time = np.bincount(place[steps[thing]], weights=taken, minlength=len(names))
    order = np.argsort(names)
    return {"operators": names[order], "times": time[order] / max(float(time.sum()), 1.0)}


class ExperimentRow(msgspec.Struct, frozen=True):
    """A row: ``members`` are its workers by what they are matched by, empty until ``state`` is ready."""

    run: str
    worker: str
    span: str
    state: str
    message: str
    members: Mapping[Hashable, Experiment]

    @property
    def first(self) -> Experiment:
        return next(iter(self.members.values()))


def common_operators(a: Experiment, b: Experiment) -> float:
    """Names of operators that both have, of those that either has; NaN where neither has any."""
    both = len(np.intersect1d(a.operators, b.operators))
    either = len(a.operators) + len(b.operators) - both
    return both / either if either else math.nan


def same_work(a: Experiment, b: Experiment) -> bool:
    """Whether two recordings are of one program: they have ``LIKE_PROGRAM`` of their operators in common, spend as much of
    the time of either in them, and call them on the same shapes, or on such as grew by one factor.
    """
    common = common_operators(a, b)
    if not common >= LIKE_PROGRAM:
        return False
    for one, other in ((a, b), (b, a)):
        if one.times[np.isin(one.operators, other.operators)].sum() < LIKE_PROGRAM:
            return False
    shapes = a.sample.shapes, b.sample.shapes
    return like_shapes(*shapes) >= LIKE_SHAPES or work_between(*shapes) is not None


def experiment_table(rows: Sequence[ExperimentRow], base: int | None) -> DisplayTable:
    """The rows against that number ``base``; each against the last one before it of the same work where that is None.
    Of several workers figures are medians.
    """
    bases = [suggested(rows, row) if base is None else base for row in range(len(rows))]
    cells = [
        _cells(row, None if number is None else rows[number])
        for row, number in zip(rows, bases, strict=True)
    ]
    return EXPERIMENTS.build(
        NO_STRINGS, **{c.name: [cell.get(c.name) for cell in cells] for c in EXPERIMENTS.columns}
    )


def _cells(row: ExperimentRow, base: ExperimentRow | None) -> dict[str, object]:
    told: dict[str, object] = {key: getattr(row, key) for key in ("run", "worker", "span", "state")}
    told["message"] = row.message or None
    if not row.members:
        return told
    members, first = list(row.members.values()), row.first

    def middle(name: str) -> float | None:
        values = [value for m in members if not math.isnan(value := getattr(m, name))]
        return float(np.median(values)) if values else None

    def whole(name: str) -> int | None:
        return None if (value := middle(name)) is None else round(value)

    told |= {
        "recorded": recorded(first.began),
        "device": ", ".join(dict.fromkeys(m.device for m in members if m.device)) or None,
        "steps": min(m.sample.steps for m in members),
        "step_ns": whole("median"),
        "spread_ns": whole("spread"),
        "busy": middle("busy"),
        "mfu": middle("mfu"),
        "peak_bytes": whole("memory"),
        "exposed_ns": whole("exposed"),
        "findings": _findings(members),
    }
    if base is not None and base is not row and base.members:
        told |= _against(row, base)
    return told


def _findings(members: Sequence[Experiment]) -> str | None:
    """The findings that cost most; of one that several workers have, the most that it costs any of them."""
    most: dict[str, float] = {}
    for title, share in (finding for member in members for finding in member.findings):
        most[title] = max(share, most.get(title, 0.0))
    ordered = sorted(most.items(), key=lambda item: -item[1])[:MOST_FINDINGS]
    return "; ".join(f"{title} ({format_share(share)})" for title, share in ordered) or None


def _against(row: ExperimentRow, base: ExperimentRow) -> dict[str, object]:
    pairs = _pairs(base, row)
    common = common_operators(base.first, row.first)
    told: dict[str, object] = {"common": None if math.isnan(common) else common}
    if not same_work(base.first, row.first):
        return told
    told["against"] = base.run
    if not pairs or not all(one.steps for pair in pairs for one in pair):
        return told
    test = compare_samples(pairs)
    known = math.isfinite(test.low)
    return told | {
        "delta_ns": round(test.delta),
        "share": test.share,
        "low": test.low if known else None,
        "high": test.high if known else None,
        "changed": test.changed,
    }


def _pairs(a: ExperimentRow, b: ExperimentRow) -> list[tuple[Sample, Sample]]:
    """The workers of both that are matched; one on each side are a pair whatever their names."""
    if len(a.members) == len(b.members) == 1:
        return [(a.first.sample, b.first.sample)]
    return [(a.members[key].sample, b.members[key].sample) for key in a.members if key in b.members]


def recorded(began: int | None) -> str | None:
    """``2026-11-22 19:05``, UTC; None unknown."""
    if began is None:
        return None
    try:
        return str(np.datetime64(began, "ns").astype("datetime64[m]")).replace("T", " ")
    except (OverflowError, ValueError):
        return None


def suggested(rows: Sequence[ExperimentRow], base: int) -> int | None:
    """The row that ``base`` is best compared with: an earlier recording of the same work, with the same device, then of the
    same worker, then the last one before. None where there is none.
    """
    if not 0 <= base < len(rows) or not rows[base].members:
        return None
    own = rows[base]

    def order(number: int) -> tuple[object, ...]:
        row = rows[number]
        since = age(own.first, row.first)
        return (
            row.first.device != own.first.device,
            row.worker != own.worker,
            since,
            number,
        )

    like = [
        number
        for number, row in enumerate(rows)
        if row.members and (age(own.first, row.first) or 0) > 0 and same_work(own.first, row.first)
    ]
    return min(like, key=order, default=None)


def age(own: Experiment, other: Experiment) -> int | None:
    """By how much the other was recorded before, ns; None unknown."""
    return None if own.began is None or other.began is None else own.began - other.began
