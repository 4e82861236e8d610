"""What a rule of the findings declares, so that nothing else has to know it by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from torch_tb_profiler.analysis.findings.candidate import (
    Candidate,
    Certainty,
    Claims,
    Pieces,
    without_time,
)
from torch_tb_profiler.analysis.findings.rule_context import RuleContext
from torch_tb_profiler.analysis.what_if.outcomes import Reach
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.insight_schema import PathCause

FindingView = Literal[
    "overview", "operator", "kernel", "trace", "memory", "module", "distributed", "efficiency"
]
__all__ = [
    "Candidate",
    "Claims",
    "FindingView",
    "Pieces",
    "Question",
    "RankVerdict",
    "Reach",
    "Rule",
    "RuleContext",
    "Unit",
    "Words",
    "without_time",
]
HOST = (PathCause.OPERATOR, PathCause.PYTHON, PathCause.RUNTIME, PathCause.ANNOTATION)
"""Host work on the path."""
DEVICE = (PathCause.KERNEL, PathCause.MEMSET)
"""Device work on the path but for copies and communication."""
RankVerdict = Literal["", "itself", "other", "input", "once", "bubble", "turns"]
Unit = Literal["ns", "bytes", "bytes/s", "share", "count", ""]
WORDS = Path(__file__).parents[2] / "words"
"""What is said about the rules of a file: ``FILE.json``, by key."""

_PART = regex(r"\{(\w+)\} of \{the_step\}")


class Words(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is said about a finding.

    Texts name in braces: ``device``, ``multiprocessor``, ``matrix_cores`` (the vendor's words),
    ``step`` (``step`` or ``recording``), ``several`` (``steps``), ``allocator_setting`` (its environment variable), ``at`` (the word and the user's line of the
    evidence, or nothing), ``gain`` and ``share`` (what its change saves), ``left`` (the
    step after it), ``which_steps`` (``every step`` or ``3 of 12 steps``: the number
    ``in_steps`` or ``held_steps`` of ``of_steps``), the numbers that are declared here, and the ``words`` of the candidate.
    ``<device>…</device>`` is said of recordings with device work alone, ``<host>…</host>`` of those without, ``<nvidia>…</nvidia>`` (any
    vendor) of its devices; not in titles and caveats.

    Attributes:
        action: what to do, in at most eight words without a full stop.
        fact: the fact that decides it, in a few words; where empty, the first of ``details`` that holds.
        cause: the headline where this finding is the first, without a full stop, of at most twelve words and two
            quantities; may name ``the_step`` (``the 1.21 s step``) and ``path`` (time of ``causes`` on the critical
            path). Where it is, and what then, follow by themselves.
        without: begins the sentence after it, such as ``With batches ready``; what the step would take
            follows.
        remark: is said after the answer where it costs no time.
        attempt, caveat: what to try, and when it is wrong.
        edit: where one call is meant, how it changes: lines that begin with ``- ``, ``+ `` or two spaces.
        details: (key, sentence) pairs; a sentence follows where that word or number is not empty.
        numbers: name → (label, unit), in the order shown; without a label it is for texts alone. Flags that only
            choose ``details`` need not be declared.
        definition: what it finds, where no claim's docstring says so.
    """

    title: str
    sentence: str
    attempt: str
    caveat: str
    views: tuple[FindingView, ...]
    edit: str = ""
    action: str = ""
    fact: str = ""
    cause: str = ""
    without: str = ""
    remark: str = ""
    links: tuple[tuple[str, str], ...] = ()
    details: tuple[tuple[str, str], ...] = ()
    numbers: Mapping[str, tuple[str, Unit]] = msgspec.field(default_factory=dict)
    definition: str = ""


@cache
def words_of(file: str) -> dict[str, Words]:
    """What is said about the rules of a file, in their order."""
    text = (WORDS / f"{file}.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, Words])


class Rule(Words, frozen=True, kw_only=True):
    """A rule: what it finds, the change that it states, and what is said about it. Alone in a file it has the docstring there as its
    definition; of several that of its claim.

    Attributes:
        place: their order; of two rules about the same device work the first one stands.
        claim: what it finds; None for a rule that compares the workers of a run.
        certainty: how sure the saving is.
        causes: what of the path it is about.
        risk: of what may end the program though it costs no time, the share of a certain saving that counts as much.
        artefact: it is the profiler's own doing.
        of_memory: it looks at allocations alone, and needs no steps.
        verdict: which verdict on the ranks of a run it states: in most steps this rank holds the others back
            (``itself``), or another one (``other``); the ranks' inputs are unequal (``input``); ``once``, in single steps;
            it waits for other stages of a pipeline (``bubble``).
        of_waits: its saving holds waiting for other ranks, which is taken from it where that is known.
        reach: what such savings really came to, where known and the change has no name.
        of_device: it is not asked of a recording without device work; what others say outside of ``<device>…</device>`` names no device.
        untried: no recording at hand that was not made for it shows it, so that it never leads.
    """

    place: int
    claim: Callable[[RuleContext], Claims] | None
    certainty: Certainty = "certain"
    causes: tuple[PathCause, ...] = ()
    risk: float = 0.0
    artefact: bool = False
    of_memory: bool = False
    verdict: RankVerdict = ""
    of_waits: bool = False
    reach: Reach | None = None
    of_device: bool = False
    untried: bool = False

    @property
    def part(self) -> str:
        """Name of what the headline says that it takes of the step, empty where it says none."""
        named = _PART.search(self.cause)
        return named[1] if named else ""


class Question(dict[str, Rule]):
    """The rules of one file, by key: one, or several tests of a question."""

    def __init__(self, module: str) -> None:
        super().__init__()
        self._words = words_of(module.rpartition(".")[2])

    def state(
        self, key: str, place: int, claim: Callable[[RuleContext], Claims] | None, **more: Any
    ) -> None:
        """Declares a rule; ``more``: attributes of ``Rule``."""
        words = msgspec.structs.asdict(self._words[key])
        self[key] = Rule(place=place, claim=claim, **words, **more)

    def rule(
        self, place: int, **more: Any
    ) -> Callable[[Callable[[RuleContext], Claims]], Callable[[RuleContext], Claims]]:
        """Declares the rule that a function claims; the function has its key as its name, and its definition as its docstring."""

        def declare(claim: Callable[[RuleContext], Claims]) -> Callable[[RuleContext], Claims]:
            self.state(claim.__name__, place, claim, **more)
            return claim

        return declare
