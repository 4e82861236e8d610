"""How far the way from opening a trace to its answer is, and how long the rest takes.

::

    file ──▶ read ──▶ arrange ──▶ analyse (the insight), or lay out (the timeline) ──▶ answer
             by bytes  by events   by events

Each phase is as wide as it is expected to take (``speeds.py``). Where a job says how far it is, it is believed; else the clock
is, and a phase that takes longer than expected never ends by the clock alone.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from torch_tb_profiler.runs.speeds import Expected, Kind, Speeds
from torch_tb_profiler.runs.work_queue import News

Phase = Literal["read", "arrange", "analyse", "lay_out"]
LAST_PHASES: Mapping[str, Phase] = {"insight": "analyse", "timeline": "lay_out"}
"""What makes each product of an imported trace."""
NEARLY = 0.99
"""The most that is said before all of it is there."""
BY_CLOCK = 0.8
"""Share of its time from which on a phase goes slower and slower towards its end."""
FIRST_SECONDS = 2.0
"""How long somebody waits before the time left is told."""
MOST_WAITS = 512
"""Waits that are remembered."""


class Awaited(NamedTuple):
    """A trace that an answer needs, by its sidecar. ``text``: bytes of its text, about; ``events``: None unknown. ``imported``,
    ``made``: whether the import, and what is made of it, are there; ``over``: nothing more comes of it.
    """

    sidecar: str
    text: float
    events: int | None
    imported: bool
    made: bool
    over: bool = False


@dataclass(frozen=True)
class Wait:
    """``share``: 0 to 1, never falls, and 1 only when all is there. ``left``: seconds, None while they are unknown. ``phase``:
    that of the asked trace; ``begun``: whether it has begun. ``widths``: of the phases that were ahead when somebody
    began to wait, which add up to 1. ``ready`` of ``total`` traces are there.
    """

    share: float
    left: float | None
    phase: Phase
    begun: bool
    widths: Mapping[Phase, float]
    ready: int
    total: int


@dataclass
class _Heard:
    """What the jobs of one trace have said. Times are the clock's."""

    events: int | None = None
    imported: bool = False
    begun: dict[Phase, float] = field(default_factory=dict)
    told: float = 0.0
    failures: dict[Phase, str] = field(default_factory=dict)


@dataclass
class _Asked:
    """What was told to those who wait. ``begun``: when; ``first``: how far each phase was then."""

    begun: float
    widths: Mapping[Phase, float]
    first: Mapping[Phase, float]
    share: float = 0.0


class _Step(NamedTuple):
    """A phase of one trace: what it takes in all and how far it is."""

    phase: Phase
    expected: Expected
    done: float
    left: float


class Waits:
    """What is heard of jobs, and what those who wait were told. Thread-safe."""

    def __init__(self, speeds: Speeds, clock: Callable[[], float] = time.monotonic) -> None:
        self._speeds, self._clock = speeds, clock
        self._lock = threading.Lock()
        self._heard: dict[str, _Heard] = {}
        self._asked: dict[Hashable, _Asked] = {}

    def heard(self, product: str, sidecar: str, text: float, news: News) -> None:
        """News of the import of a trace (``text`` bytes of text), or of what is made of it."""
        now = self._clock()
        with self._lock:
            heard = self._heard.setdefault(sidecar, _Heard())
            phase = LAST_PHASES.get(product, "read")
            if news.begun:
                heard.failures.pop(phase, None)
                heard.begun[phase] = now
                if phase == "read":
                    heard.told, heard.imported = 0.0, False
                    heard.begun.pop("arrange", None)
            elif news.error is not None:
                heard.begun.pop(phase, None)
                heard.failures[phase] = news.error
            elif phase == "read" and news.progress is not None:
                heard.told = max(heard.told, min(news.progress, 1.0))
                if heard.told >= 1.0:
                    heard.begun["arrange"] = now
            elif news.outcome is not None:
                self._ended(heard, phase, text, now, news.outcome.get("events"))

    def _ended(
        self, heard: _Heard, phase: Phase, text: float, now: float, events: int | None
    ) -> None:
        begun = heard.begun.pop(phase, None)
        learn = self._speeds.learn
        if phase == "read":
            heard.events, heard.imported = events, True
            arranged = heard.begun.pop("arrange", None)
            if begun is not None and arranged is not None and events:
                learn("read", text, arranged - begun)
                learn("arrange", events, now - arranged)
                learn("events", text, events)
        elif begun is not None and heard.events:
            learn(phase, heard.events, now - begun)

    def forget(self, sidecar: str) -> None:
        """A trace is gone."""
        with self._lock:
            self._heard.pop(sidecar, None)

    def failure(self, product: str, sidecar: str) -> str:
        """Why the last try to make a product of a trace failed; empty where it did not."""
        with self._lock:
            heard = self._heard.get(sidecar)
            return heard.failures.get(LAST_PHASES[product], "") if heard else ""

    def of(
        self, question: Hashable, product: str, traces: Sequence[Awaited], at_once: int = 1
    ) -> Wait:
        """How far all of some traces are, the asked one first. ``at_once``: how many jobs run at a time."""
        last = LAST_PHASES[product]
        now = self._clock()
        with self._lock:
            steps = [self._steps(trace, last, now) for trace in traces]
            asked, share = self._told(question, steps, now)
            first = next((step for step in steps[0] if step.done < 1), steps[0][-1])
            heard = self._heard.get(traces[0].sidecar)
            begun = traces[0].made or (heard is not None and first.phase in heard.begun)
        ready = sum(trace.made for trace in traces)
        left = self._left(steps, asked, now, at_once) if begun else None
        return Wait(share, left, first.phase, begun, asked.widths, ready, len(traces))

    def _steps(self, trace: Awaited, last: Phase, now: float) -> tuple[_Step, ...]:
        heard = self._heard.get(trace.sidecar) or _Heard()
        if trace.events is not None and trace.sidecar in self._heard:
            heard.events = trace.events
        elif trace.events is not None:
            self._heard[trace.sidecar] = heard = _Heard(trace.events)
        guess = self._speeds.expect("events", trace.text)
        events = Expected(heard.events, True) if heard.events is not None else guess

        def step(phase: Phase, units: Expected, done: bool) -> _Step:
            kind: Kind = phase
            amount, known = self._speeds.expect(kind, units.amount)
            expected = Expected(amount, known and units.known)
            if done:
                return _Step(phase, expected, 1.0, 0.0)
            begun = heard.begun.get(phase)
            spent = 0.0 if begun is None else max(now - begun, 0.0)
            if phase == "read":
                share = heard.told if begun is not None else 0.0
                # The more of it is read, the more is this file's own speed believed.
                return _Step(phase, expected, share, (1 - share) * ((1 - share) * amount + spent))
            share = by_clock(spent, amount)
            return _Step(phase, expected, share, (1 - share) * amount)

        over = trace.made or trace.over
        imported = trace.imported or heard.imported or over
        read_all = imported or "arrange" in heard.begun
        return (
            step("read", Expected(trace.text, trace.text > 0), read_all),
            step("arrange", events, imported),
            step(last, events, over),
        )

    def _told(
        self, question: Hashable, steps: Sequence[Sequence[_Step]], now: float
    ) -> tuple[_Asked, float]:
        """What those who wait are told, and how far it is."""
        of_phase = list(zip(*steps, strict=True))
        done = {same[0].phase: _mean_done(same) for same in of_phase}
        asked = self._asked.pop(question, None)
        if asked is None:
            ahead = {
                same[0].phase: sum(step.expected.amount * (1 - step.done) for step in same)
                for same in of_phase
            }
            whole = sum(ahead.values()) or 1.0
            widths = {phase: amount / whole for phase, amount in ahead.items() if amount > 0}
            asked = _Asked(now, widths, done)
        if all(step.done >= 1 for each in steps for step in each):
            return asked, 1.0
        share = sum(
            width * max(done.get(phase, 0.0) - asked.first[phase], 0.0) / (1 - asked.first[phase])
            for phase, width in asked.widths.items()
            if asked.first[phase] < 1
        )
        asked.share = max(asked.share, min(share, NEARLY))
        self._asked[question] = asked
        while len(self._asked) > MOST_WAITS:
            del self._asked[next(iter(self._asked))]
        return asked, asked.share

    def _left(
        self, steps: Sequence[Sequence[_Step]], asked: _Asked, now: float, at_once: int
    ) -> float | None:
        ahead = [[step for step in each if step.done < 1] for each in steps]
        ahead = [each for each in ahead if each]
        known = all(step.expected.known for each in ahead for step in each)
        if not ahead or not known or now - asked.begun < FIRST_SECONDS:
            return None
        times = [sum(step.left for step in each) for each in ahead]
        # No trace takes less than it does alone.
        return max(sum(times) / max(min(at_once, len(times)), 1), *times)


def _mean_done(steps: Sequence[_Step]) -> float:
    whole = sum(step.expected.amount for step in steps)
    if all(step.done >= 1 for step in steps):
        return 1.0
    return sum(step.expected.amount * step.done for step in steps) / whole if whole else 0.0


def by_clock(spent: float, expected: float) -> float:
    """How far a phase is that says nothing, by the seconds spent and expected: 0 to below 1, even as long as it is on time."""
    if expected <= 0:
        return NEARLY
    share = spent / expected
    if share <= BY_CLOCK:
        return share
    slower = (share - BY_CLOCK) / (1 - BY_CLOCK)
    return min(1 - (1 - BY_CLOCK) * math.exp(-slower), NEARLY)
