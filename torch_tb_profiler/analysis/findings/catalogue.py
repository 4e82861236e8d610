"""The catalogue: calls that are slow in a known way, and the call or option that exists instead, with its source.

The rows are data (``catalogue.json``, one object each with the attributes of ``Fix``). A row gives words and a fix to a
cause that was found; it claims nothing by itself. A call is known by a frame of its library,
``torch/serialization.py(…): save``, by a function in C, ``<built-in function collect>``, or by an operator,
``aten::nonzero``. Line numbers are left out before a name is compared; the first row that matches counts.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache, lru_cache
from pathlib import Path

import msgspec
import numpy as np

from torch_tb_profiler.analysis.findings.candidate import Certainty
from torch_tb_profiler.analysis.findings.rule_context import RuleContext
from torch_tb_profiler.store.columns import Ints, is_one_of
from torch_tb_profiler.store.python_frames import PythonFrame
from torch_tb_profiler.store.roles import Role

LEAST = 0.25
"""Share of the cost of what a finding shows from which on a known call stands for it."""


class Fix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A known call.

    Attributes:
        pattern: a regular expression that matches its frame or operator.
        what: what engineers call it: a noun, or a verb with -ing, that a sentence can begin with.
        attempt: what to write instead, one or two sentences.
        source: (title, address) of the page that says so.
        certainty: how sure it is that its time goes.
    """

    pattern: str
    what: str
    attempt: str
    source: tuple[str, str]
    certainty: Certainty = "likely"


@cache
def fixes() -> tuple[Fix, ...]:
    """All rows, in the order in which they are asked; read on first use."""
    text = Path(__file__).with_suffix(".json").read_bytes()
    return msgspec.json.decode(text, type=tuple[Fix, ...])


def words_of_fix(fix: Fix | None) -> dict[str, str]:
    """What a finding says of a known call."""
    return {"attempt": fix.attempt, "source": "\n".join(fix.source)} if fix else {}


@lru_cache(4096)
def known_fix(name: str) -> Fix | None:
    """What is known of a frame or an operator."""
    frame = PythonFrame.of(name)
    text = frame.without_line if frame and frame.file else name
    return next((fix for fix in fixes() if re.search(fix.pattern, text)), None)


def known_calls(context: RuleContext, rows: Ints, cost: Ints) -> tuple[Fix | None, float]:
    """The known call that holds most of the cost of some spans, and its share: what they are in, else what is in them; None below
    ``LEAST``. ``cost``: ns of each.
    """
    took: Counter[Fix] = Counter()
    for row, time in zip(rows.tolist(), cost.tolist(), strict=True):
        at, fix = row, None
        while at >= 0 and fix is None:
            fix = known_fix(context.name_of(at))
            at = int(context.parent[at])
        if fix is not None:
            took[fix] += time
            continue
        for inner, taken in _inside(context, row).items():
            took[inner] += min(taken, time)
    best = max(took, key=lambda fix: took[fix], default=None)
    share = took[best] / max(int(cost.sum()), 1) if best is not None else 0.0
    return (best, share) if share >= LEAST else (None, 0.0)


def _inside(context: RuleContext, row: int) -> dict[Fix, int]:
    """The known calls within a span, and the time in each, ns."""
    end = int(context.spans["start"][row] + context.spans["dur"][row])
    inner = np.arange(row + 1, int(np.searchsorted(context.spans["start"], end)))
    inner = inner[context.spans["track"][inner] == context.spans["track"][row]]
    return known_within(
        context, inner[is_one_of(context.spans["role"][inner], (Role.PYTHON, Role.OPERATOR))]
    )


def known_within(context: RuleContext, rows: Ints) -> dict[Fix, int]:
    """The known calls among some spans, and the time in each, ns."""
    names, name = np.unique(context.spans["name"][rows], return_inverse=True)
    found: dict[Fix, list[Ints]] = {}
    for number, text in enumerate(context.trace.strings.many(names)):
        if fix := known_fix(text):
            found.setdefault(fix, []).append(rows[name == number])
    return {fix: context.when(np.concatenate(own)).length for fix, own in found.items()}
