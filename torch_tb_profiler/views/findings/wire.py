"""Wire types of the findings. Units as in ``wire.py``."""

from __future__ import annotations

from torch_tb_profiler.analysis.findings.candidate import Certainty
from torch_tb_profiler.analysis.findings.rule import FindingView
from torch_tb_profiler.views.wire import Link, Missing, Number, Subject, Wire


class Evidence(Wire, frozen=True, kw_only=True):
    """An event that a finding rests on; ``event`` is its number on the timeline of ``worker`` and
    ``span``.
    """

    label: str
    worker: str
    span: str
    event: int
    start_ns: int
    dur_ns: int


class Finding(Wire, frozen=True, kw_only=True):
    """Something that costs time.

    ``action`` says in a few words what to do, ``fact`` what decides it, ``often`` in which steps (empty for a single one); ``steps``:
        their rows. ``step``: the row of the step that the saving is of, null where that is the median one. ``subject``: what its
        figures are of, null where that is the step of the reply: who holds others back is told of a step of the job.
    ``sentence`` names what and how much. ``recoverable_ns``: by how much a step that has it would be shorter with the change that the
    finding states, simulated (``null``: it costs no step time, e.g. memory near capacity; ``share`` and ``certainty`` are null then
    too); ``recoverable_mean_ns``: the mean step. From what to what such changes really came to: ``recoverable_low_ns``,
    ``recoverable_high_ns``; ``acted_ns``: the time on the critical path of that step that the change acts on.
    ``holds``: position of the finding before it that most of its time is told of, null none. ``change``: that change as ``whatif``
    takes it, where it has a name. ``evidence``: the most expensive few of ``evidence_count``.
    ``line``: ``file(line): function`` where known. ``attempt``: what to try; ``edit``: how one call changes, as a diff, a
        pattern and no line of this program; ``caveat``: when it does not apply. ``artefact``: of the profiler itself.
    """

    rule: str
    title: str
    action: str
    fact: str
    often: str
    steps: list[int]
    step: int | None
    subject: Subject | None = None
    sentence: str
    views: list[FindingView]
    recoverable_ns: int | None
    recoverable_low_ns: int | None
    recoverable_high_ns: int | None
    recoverable_mean_ns: int | None
    acted_ns: int | None
    holds: int | None
    share: float | None
    certainty: Certainty | None
    change: str | None
    artefact: bool
    evidence: list[Evidence]
    evidence_count: int
    line: str | None
    attempt: str
    caveat: str
    edit: str
    numbers: list[Number]
    links: list[Link]


class Total(Wire, frozen=True, kw_only=True):
    """All changes of a certainty and of greater ones at once, simulated together: what they save per step,
    and the step that is left, with an interval.
    """

    certainty: Certainty
    recoverable_ns: int
    share: float
    step_ns: int
    low_ns: int
    high_ns: int


class Told(Wire, frozen=True, kw_only=True):
    """What the answer says as numbers, null where it says none: that ``part_ns`` of ``whole_ns`` is taken, that most of it, or
    ``place_ns``, is at a place, and that ``left_ns`` would be left. ``rule``: of the finding that is the answer, null where none is.
    ``group``: the part of the strip that it is about, where it is about all of one, ``nothing`` where no event was recorded.
    ``subject``: whose step ``whole_ns`` is, null where that is null.
    """

    subject: Subject | None = None
    rule: str | None = None
    group: str = ""
    part_ns: int | None = None
    whole_ns: int | None = None
    place_ns: int | None = None
    left_ns: int | None = None


class FindingsPayload(Wire, frozen=True, kw_only=True):
    """Route ``/findings``, the one to act on first. ``steps`` were analysed: the
    selected ones; where all are, cold and cut ones are left out, if others are there. ``median`` is the row of the one that
    speaks for them, of ``step_ns``; what saves time in each of them is told of it, what happens in some of a step of its own
    (``Finding.step``). On average they take ``mean_ns``. ``about``: kind of run,
    device and step in words. ``line``: the line that ``detail`` names, with its folders. ``totals``: one per
    certainty that occurs; ``together``: why what they save differs from the sum of the findings, empty where it does not.

    ``healthy``: nothing above the threshold of 2 % of the step, the profiler's own doing left out,
        and enough was recorded to say so.
    ``headline`` is the one-sentence answer, ``detail`` what follows it: where, and what then. ``unsure``: what could not be judged and why.
    ``progress``: below 1 while other workers of the run are read, which may add who keeps this one
    waiting: ask again.
    """

    subject: Subject
    headline: str
    detail: str
    told: Told
    line: str | None
    about: str
    median: int | None
    healthy: bool
    steps: int
    step_ns: int | None
    mean_ns: int | None
    findings: list[Finding]
    totals: list[Total]
    together: str
    unsure: list[str]
    missing: list[Missing]
    progress: float
