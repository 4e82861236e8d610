"""Runs the rules over one trace and simulates what the change of each would save.

``find_findings`` returns plain values, as they go into the insight's sidecar, and the table
``finding_steps``:

============  =====================================================================================
rows          rows of ``facts["steps"]`` that were looked at: without cold and cut ones if possible
busy          share of them in which the device worked; None without a device, and where work is missing
copy_rate     bytes per second of all copies; None without, and where it is not known
judged        share of the device's kernel time of which the least time is known; None without
unsure        keys of what could not be judged, see ``not_judged.py``
replay_error  share by which the replay without changes misses the measured time
found         all candidates; each with ``rule``, ``costs``, ``behind`` (it saves time once others are mended), ``certainty``,
              ``change`` (as ``whatif`` takes it, or None), ``artefact``, ``unplanned`` (``Candidate``),
              ``generic`` (names a place and no cause), ``untried`` and ``risk`` (see ``Rule``), ``rows`` (the
              most expensive evidence, rows of spans), ``count`` (of all evidence), ``shown_ns`` (its time per step), ``line``
              (source line or None), ``line_share`` (its share of that), ``numbers``, ``words``, ``known`` (words about the
              known call in it, ``catalogue.py``), ``of_hit``: where it does not count in all steps, the ``rows`` in
              which it does and the ``numbers``, ``words`` and ``shown_ns`` of these; likewise of each kind of steps
============  =====================================================================================

``step_findings.py`` has those that count in some steps.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.arrays.beside import beside
from torch_tb_profiler.analysis.arrays.grouping import picked, positions_of, sum_by
from torch_tb_profiler.analysis.arrays.intervals import intersect, measure
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.unrecorded_work import LEAST_UNKNOWN, unknown_share
from torch_tb_profiler.analysis.figures.median_step import median_step
from torch_tb_profiler.analysis.figures.step_kinds import of_one_kind
from torch_tb_profiler.analysis.findings.candidate import (
    CERTAINTIES,
    THRESHOLD,
    Candidate,
    Certainty,
    Pieces,
    several,
)
from torch_tb_profiler.analysis.findings.catalogue import known_calls
from torch_tb_profiler.analysis.findings.claims import (
    MOST,
    Claim,
    PathTime,
    Removed,
    certainty_of,
    is_the_work,
)
from torch_tb_profiler.analysis.findings.lines import line_of
from torch_tb_profiler.analysis.findings.not_judged import unsure
from torch_tb_profiler.analysis.findings.order import GENERIC_PLACE, acted_interval
from torch_tb_profiler.analysis.findings.rule_context import RuleContext
from torch_tb_profiler.analysis.findings.rules import RULES
from torch_tb_profiler.analysis.findings.step_findings import counted
from torch_tb_profiler.analysis.findings.workloads import judged_share
from torch_tb_profiler.analysis.what_if.changes import read_change
from torch_tb_profiler.analysis.what_if.outcomes import BY_CERTAINTY, Reach, noise, reach_of
from torch_tb_profiler.analysis.what_if.replay import Durations
from torch_tb_profiler.analysis.what_if.simulation import Edit, Simulation
from torch_tb_profiler.analysis.what_if.table import edits
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Array, Ints, Table, unique_values
from torch_tb_profiler.store.memory import give_back_memory
from torch_tb_profiler.store.summary import WorkloadKind
from torch_tb_profiler.units import format_share

SHOWN = 20
"""Pieces of evidence that are kept of a finding, the most expensive."""
EXPECT_IDLE = (WorkloadKind.CAPTURE, WorkloadKind.MICROBENCHMARK, WorkloadKind.SINGLE_KERNEL)
"""Kinds of work between whose kernels a device is idle by design: only what makes these shorter counts, and what happens
once."""
EXPLAINS = 0.25
"""Share of what a place would save without its work, from which on a cause of that work stands for the place."""
ONE_STEP = 0.1
"""A finding that saves less than 2 % of all steps is kept for a step of which it saves so much."""


def find_findings(simulation: Simulation) -> tuple[dict[str, Any], Table]:
    """The findings of one trace, and what their changes save per step; see above."""
    context = RuleContext(simulation.scene)
    small: list[Claim] = []
    path = PathTime(context, simulation)
    claims = _claims(context, simulation, path, small)
    totals = _totals(simulation, claims)
    claims += [*_behind(context, simulation, claims, small), *totals]
    findings = [claim for claim in claims if claim.key]
    looked: dict[tuple[int, ...], RuleContext] = {}
    length = context.windows.length
    known = unknown_share(context.facts, context.steps) <= LEAST_UNKNOWN
    busy = int(measure(context.work.time, context.windows.start, context.windows.end).sum())
    plain = {
        "rows": context.steps.tolist(),
        "busy": busy / length if length and context.has_device and known else None,
        "judged": judged_share(context),
        "copy_rate": context.copy_rate(context.copies(re.compile(""))),
        "unsure": unsure(context),
        "replay_error": replay_error(simulation),
        "unclaimed": path.unclaimed(),
        "found": [
            _plain(context, claim) | {"of_hit": _of_hit(context, claim, looked)}
            for claim in findings
        ],
    }
    return plain, _table(claims, context.facts["steps"].n)


def _sure(context: RuleContext, key: str, candidate: Candidate) -> Certainty:
    """How certain it is: where much of what the device did is unknown nothing is certain, and what lies there is only possible."""
    certainty = candidate.certainty or RULES[key].certainty
    if unknown_share(context.facts, context.steps) > LEAST_UNKNOWN:
        shown = candidate.shown.time
        unknown = int(measure(shown, context.unrecorded.start, context.unrecorded.end).sum())
        certainty = "theoretical" if unknown > LEAST_UNKNOWN * shown.length else certainty
        certainty = "likely" if certainty == "certain" else certainty
    return certainty


def _can_judge(context: RuleContext) -> bool:
    # Sums that were laid end to end have neither gaps nor order.
    timed = bool(context.windows.length) and not context.facts.summary.sums
    return timed and context.scene.has_program


def _claims(
    context: RuleContext, simulation: Simulation, path: PathTime, small: list[Claim]
) -> list[Claim]:
    """What counts; into ``small`` goes what removes time and saves too little of the step."""
    claims: list[Claim] = []
    nothing, unchanged = np.zeros(context.facts["steps"].n), simulation.measured
    said, guessed = Removed(unchanged), Removed(unchanged)
    kind = context.facts.summary.workload.kind
    idles, captures = kind in EXPECT_IDLE, kind == WorkloadKind.CAPTURE

    # A function: what is changed for one claim is let go before the next.
    def weigh(key: str, candidate: Candidate, sure: Certainty, edit: Edit) -> None:
        rule, changed = RULES[key], simulation.changed([edit])
        planned = idles and not rule.artefact and (captures or not candidate.unplanned)
        if planned and not (changed.work < unchanged.work).any():
            return
        if _little(context, simulation, changed):
            return
        # With an edit of its own the change only says in words what that does.
        change = candidate.change if candidate.edit is None else None
        acted = path.acted_on(changed)
        if rule.place >= GENERIC_PLACE and is_the_work(context, path, candidate, acted):
            return
        time = path.of_steps(acted)
        saved = _saved(context, simulation, changed, change, time)
        if saved is None:
            small.append(Claim(key, candidate, edit, nothing, time, sure))
            return
        unknown = path.unknown() if path.silent(acted) else np.zeros(len(saved), np.bool_)
        if rule.place >= GENERIC_PLACE:
            # Of a step of which nothing was recorded nothing is known.
            saved[unknown] = 0
            if not saved.any():
                return
        claim = Claim(key, candidate, edit, saved, time, sure)
        if unknown[context.steps].all() and not context.has_device:
            claim.certainty = "theoretical"
        _judge(context, simulation, claim, path.silent(acted))
        claim.holds = said.told(changed)
        if claim.holds < 0 and "waits" in changed.differs:
            claim.holds = _instead(context, simulation, claims, claim)
        if rule.place >= GENERIC_PLACE and claim.holds < 0:
            claim.holds = _explained(claims, claim)
        # A guess takes nothing from what is likely.
        if claim.certainty == "theoretical":
            claim.holds = guessed.told(changed) if claim.holds < 0 else claim.holds
            guessed.add(len(claims), changed)
        else:
            said.add(len(claims), changed)
            path.say(acted)
        claims.append(claim)

    for key, candidate, sure in _candidates(context):
        # What was changed for a claim leaves gaps between what stays.
        give_back_memory()
        if (edit := edit_of(candidate)) is None:
            claims.append(Claim(key, candidate, None, nothing, nothing, sure))
        else:
            weigh(key, candidate, sure, edit)
    return claims


def _instead(
    context: RuleContext, simulation: Simulation, claims: list[Claim], claim: Claim
) -> int:
    """Position of the claim that saves most of the time that another one, without a wait, would save instead: once it is made, less than half
    of that is left; −1 none::

        host  [load ▇▇▇▇][launch][wait ▇▇]      a step is shorter with batches ready, or if the host ran ahead
        gpu   ...................[a ▇▇▇▇▇▇]     to load while the device works, but not twice
    """
    steps = context.steps
    mine = claim.saved[steps]
    for number, other in enumerate(claims):
        saved = other.saved[steps]
        shared = np.minimum(saved, mine).sum()
        if not claim.edit or not other.edit or not _is_sure(other) or shared < MOST * mine.sum():
            continue
        both = _shorter(simulation, simulation.changed([other.edit, claim.edit]))[steps]
        if np.maximum(both - saved, 0).sum() < MOST * mine.sum():
            return number
    return -1


def _explained(claims: list[Claim], claim: Claim) -> int:
    """Position of the cause among some claims that most of the evidence of a place shows, too, and that saves a part of it worth the name; −1 none."""
    place = claim.candidate.shown.time
    for number, cause in enumerate(claims):
        part = cause.certainty != "theoretical" and RULES[cause.key].place < GENERIC_PLACE
        if part and cause.saved.sum() >= EXPLAINS * claim.saved.sum():
            shown = cause.candidate.shown.time
            if intersect(place, shown).length >= MOST * place.length:
                return number
    return -1


def _judge(context: RuleContext, simulation: Simulation, claim: Claim, silent: bool) -> None:
    """Sets how certain a claim may be called."""
    median = median_step(context.facts, context.steps)
    told = counted(context.facts, claim.saved, claim.acted, context.steps, median)
    if silent and claim.certainty == "certain":
        claim.certainty = "likely"
    if told is not None:
        lengths = step_lengths(context.facts["steps"])
        spread = noise(lengths[of_one_kind(context.facts, context.steps)], replay_error(simulation))
        low, high = acted_interval(told, reach_of_claim(claim), spread)
        claim.certainty = certainty_of(claim.certainty, low, high, told["shows"])


def _candidates(context: RuleContext) -> Iterator[tuple[str, Candidate, Certainty]]:
    """What the rules find, in their order; the next ones look while the change of one is simulated."""
    judged = _can_judge(context)
    with beside(context.spans.n) as start:
        claims = {
            key: start(rule.claim, context)
            for key, rule in RULES.items()
            if rule.claim
            and (judged or rule.of_memory)
            and (context.has_device or not rule.of_device)
        }
        for key, claim in claims.items():
            for candidate in several(claim()):
                yield key, candidate, _sure(context, key, candidate)


def edit_of(candidate: Candidate) -> Edit | None:
    """What the change of a candidate does; None where it costs no time."""
    if candidate.edit is not None or candidate.change is None:
        return candidate.edit
    return edits([read_change(candidate.change)])[0]


def reach_of_claim(claim: Claim) -> Reach:
    """What such changes really came to."""
    if claim.candidate.change:
        return reach_of([read_change(claim.candidate.change)])
    return RULES[claim.key].reach or BY_CERTAINTY[claim.certainty]


def replay_error(simulation: Simulation) -> float:
    """Share by which the replay without changes misses the measured time."""
    steps = simulation.scene.facts["steps"]
    wall = steps["end"] - steps["start"]
    return float(simulation.replayed.sum() / max(wall.sum(), 1)) - 1


def _little(context: RuleContext, simulation: Simulation, durations: Durations) -> bool:
    """Whether all that is gone is too little: no step can be shorter by more than that."""
    unchanged, wall = simulation.measured, step_lengths(context.facts["steps"])
    if "waits" in durations.differs:
        return False
    removed = sum(
        float(less.sum())
        for part in ("segment", "work", "lead", "latency")
        for _, less in unchanged.less(durations, part)
    )
    return removed < min(THRESHOLD * int(wall[context.steps].sum()), ONE_STEP * int(wall.min()))


def _saved(
    context: RuleContext,
    simulation: Simulation,
    durations: Durations,
    change: str | None,
    acted: Ints,
) -> Array | None:
    """What a change saves per step, ns, of the time on the path that it acts on; None where it is too little."""
    wall = step_lengths(context.facts["steps"])
    saved = np.minimum(_shorter(simulation, durations, change), acted)
    enough = saved[context.steps].sum() >= THRESHOLD * wall[context.steps].sum()
    return saved if enough or (saved >= ONE_STEP * np.maximum(wall, 1)).any() else None


def _behind(
    context: RuleContext, simulation: Simulation, claims: list[Claim], small: list[Claim]
) -> Iterator[Claim]:
    """Of what saves too little alone that which saves enough once the certain and likely changes are made: what
    these remove hides it.
    """
    wall = step_lengths(context.facts["steps"])[context.steps]

    def enough(saved: Array) -> bool:
        return bool(saved[context.steps].sum() >= THRESHOLD * wall.sum())

    sure = [(claim, claim.edit) for claim in [*claims, *small] if claim.edit and _is_sure(claim)]
    others = [edit for claim, edit in sure if enough(claim.saved)]
    hidden = [(claim, edit) for claim, edit in sure if not enough(claim.saved)]
    if not others or not hidden:
        return
    # Of what ran ahead by the changes of the others, the difference is nobody's.
    without = _shorter(simulation, simulation.changed(others), capped=False)
    for claim, edit in hidden:
        mended = _shorter(simulation, simulation.changed([*others, edit]), capped=False)
        saved = np.maximum(mended - without, 0)
        if enough(saved):
            yield replace(claim, saved=saved, acted=saved, behind=True)


def _is_sure(claim: Claim) -> bool:
    return claim.certainty != "theoretical" and not RULES[claim.key].artefact


def _shorter(
    simulation: Simulation, durations: Durations, change: str | None = None, capped: bool = True
) -> Array:
    """By how much each step is shorter if things last so long, ns, float64 of shape (steps,); ``capped``: as of
    ``Simulation.lengths``.
    """
    steps = simulation.scene.facts["steps"]
    replayed = simulation.replayed
    left = np.divide(
        simulation.lengths(durations, change, capped),
        replayed,
        out=np.ones(steps.n),
        where=replayed > 0,
    )
    return np.asarray((steps["end"] - steps["start"]) * (1 - left))


def _totals(simulation: Simulation, claims: list[Claim]) -> list[Claim]:
    """For each certainty what all changes of it and of greater certainty save together: no less than one of them alone, though
    of a simulated step one can undo what another saves.
    """
    totals: list[Claim] = []
    none = np.zeros(0, np.int64)
    chosen: list[Edit] = []
    for certainty in CERTAINTIES:
        own = [one for one in claims if one.edit and one.certainty == certainty]
        own = [claim for claim in own if not RULES[claim.key].artefact]
        if not own:
            continue
        chosen += [claim.edit for claim in own if claim.edit]
        saved = np.max([claim.saved for claim in [*own, *totals]], axis=0)
        if len(chosen) > 1:
            saved = np.maximum(saved, _shorter(simulation, simulation.changed(chosen)))
        nobody = Candidate(Pieces(none, none, none))
        totals.append(Claim("", nobody, None, saved, saved, certainty))
    return totals


def _table(claims: list[Claim], steps: int) -> Table:
    saved, acted = (
        np.rint([getattr(one, key) for one in claims]).astype(np.int64).reshape(len(claims), steps)
        for key in ("saved", "acted")
    )
    findings = itertools.count()
    numbers = [
        next(findings) if one.key else -1 - CERTAINTIES.index(one.certainty) for one in claims
    ]
    claim, step = np.nonzero(saved)
    return schema.FINDING_STEPS.build(
        finding=np.array(numbers, np.int64)[claim],
        step=step,
        saved=saved[claim, step],
        acted=acted[claim, step],
    )


def _plain(context: RuleContext, claim: Claim) -> dict[str, Any]:
    candidate, rule, reach = claim.candidate, RULES[claim.key], reach_of_claim(claim)
    row, cost = _evidence(context, candidate)
    called = _callers(context, row)
    line, line_share = line_of(context.trace, context.facts, context.insight.tables, called, cost)
    words = candidate.words
    fix, part = known_calls(context, called[:SHOWN], cost[:SHOWN])
    known = {}
    if fix is not None and not words.get("source"):
        most = "Most" if part >= MOST else format_share(part)
        told = " ".join(filter(None, (fix.attempt, words.get("attempt") or rule.attempt)))
        known = {"library": f"{most} of it is {fix.what}.", "attempt": told}
        known["source"] = "\n".join(fix.source)
    return {
        "rule": claim.key,
        "costs": candidate.costs and not claim.behind,
        "behind": claim.behind,
        "certainty": claim.certainty if candidate.costs and not claim.behind else None,
        "change": candidate.change,
        "reach": (reach.low, reach.high),
        "holds": claim.holds,
        "artefact": rule.artefact,
        "unplanned": candidate.unplanned,
        # A call that is known to be slow is a cause.
        "generic": rule.place >= GENERIC_PLACE and not words.get("source"),
        "untried": rule.untried,
        "risk": rule.risk,
        "rows": [int(number) for number in row[:SHOWN]],
        "count": len(row),
        "shown_ns": _shown(context, candidate),
        "line": line,
        "line_share": line_share,
        "numbers": {key: float(value) for key, value in candidate.numbers.items()},
        "words": dict(words),
        "known": known,
    }


def _callers(context: RuleContext, row: Ints) -> Ints:
    """Of collectives that another thread works at the calls that began them; all others as they are."""
    table = context.insight["collectives"]
    known = np.flatnonzero(table["host"] >= 0)
    place = positions_of(table["event"][known].astype(np.int64), row)
    return np.where(place >= 0, picked(table["host"][known], place), row).astype(np.int64)


def _of_hit(
    context: RuleContext, claim: Claim, looked: dict[tuple[int, ...], RuleContext]
) -> list[dict[str, Any]]:
    """What a finding says of the steps in which it counts, where these are not all, and of those of each kind: a mean over all says
    too little of them, and the longest of all is another kind's::

    step              3    4    5    6    7
    the call takes    1    1   28    1    1  ms      each: 6.4 ms, of step 5: 28 ms

    ``looked``: the evidence of some steps, which findings share.
    """
    rule, table = RULES[claim.key], context.facts["steps"]
    if not claim.candidate.costs or claim.behind or rule.claim is None:
        return []
    kind, found = table["kind"][context.steps], {}
    for rows in (context.steps, *(context.steps[kind == one] for one in unique_values(kind))):
        median = median_step(context.facts, rows)
        told = counted(context.facts, claim.saved, claim.acted, rows, median)
        hit = tuple(told["hit"]) if told is not None else ()
        if not 0 < len(hit) < len(context.steps) or hit in found:
            continue
        own = looked.setdefault(hit, RuleContext(context.scene, hit))
        for there in several(rule.claim(own)):
            if np.isin(there.shown.row, claim.candidate.shown.row).all():
                numbers = {k: float(n) for k, n in there.numbers.items() if k != "of_steps"}
                told = {"rows": list(hit), "numbers": numbers, "words": dict(there.words)}
                found[hit] = told | {"shown_ns": _shown(own, there)}
                break
    return list(found.values())


def _shown(context: RuleContext, candidate: Candidate) -> float:
    """Time of the evidence per step, ns."""
    shown = intersect(candidate.shown.time, context.windows)
    return shown.length / max(len(context.steps), 1)


def _evidence(context: RuleContext, candidate: Candidate) -> tuple[Ints, Ints]:
    """Rows of the evidence within the windows and the time of each, ns, the most expensive first."""
    shown = candidate.shown
    stop = np.maximum(shown.end, shown.start)
    cost = measure(context.windows, shown.start, stop)
    row, group = np.unique(shown.row, return_inverse=True)
    total = sum_by(group, len(row), cost)
    order = np.argsort(-total, kind="stable")
    if candidate.costs:
        order = order[total[order] > 0]
    return row[order], total[order]
