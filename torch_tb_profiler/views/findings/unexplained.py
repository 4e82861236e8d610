"""The longest lines of the median step that no finding is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.findings.rules import RULES
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.views.findings.path import Path, is_step, plain
from torch_tb_profiler.views.findings.wire import Unexplained

LEAST = 0.02
"""Share of the step from which on a line is listed."""
MOST = 4
"""Lines that are listed."""
_NOBODYS = (PathCause.BEFORE_RECORDING, PathCause.NOT_RECORDED, PathCause.WAITING)


def unexplained(path: Path, analysis: Mapping[str, Any]) -> list[Unexplained]:
    """Lines with the event that takes most of each. A finding is about the causes that its rule names and about its line."""
    costly = [item for item in analysis["found"] if item["costs"] and not item["artefact"]]
    causes = {cause for item in costly for cause in RULES[item["rule"]].causes}
    texts = path.facts.strings
    rest = path.part(~np.isin(path.column("cause"), [*causes, *_NOBODYS]))
    line, name = rest.column("line"), rest.column("name")
    operator = rest.column("operator")
    name = np.where((operator >= 0) & (line < 0), operator, name)
    pairs, group = np.unique(np.stack((line, name)), axis=1, return_inverse=True)
    times = np.bincount(group.ravel(), rest.time, minlength=pairs.shape[1])
    lines = {item["line"] for item in costly}
    found: list[Unexplained] = []
    for pair in np.argsort(-times, kind="stable").tolist():
        at, what = (int(number) for number in pairs[:, pair])
        told = texts[at] if at >= 0 else None
        if times[pair] < LEAST * path.total or len(found) == MOST:
            break
        if (told in lines and told is not None) or what < 0 or is_step(texts[what]):
            continue
        share = float(times[pair] / path.total)
        found.append(
            Unexplained(
                line=told, name=plain(texts[what]), path_ns=round(float(times[pair])), share=share
            )
        )
    return found
