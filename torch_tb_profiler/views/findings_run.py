"""The findings of a worker of a run whose workers are all known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch_tb_profiler.analysis.distributed.cause import LateRank
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.findings.rules.straggler import with_stragglers
from torch_tb_profiler.views.findings import Source, findings_payload
from torch_tb_profiler.views.findings_wire import FindingsPayload


def findings_in_run(
    source: Source,
    analysis: Mapping[str, Any],
    figures: RunFigures,
    late: Sequence[LateRank],
    names: Sequence[tuple[str, str]],
) -> FindingsPayload:
    """The findings of a worker, stragglers included. ``names``: (worker, span) of every rank."""
    own = (source.worker, source.span)
    if own not in names or len(names) < 2 or not analysis["step_ns"]:
        return findings_payload(source, analysis)
    pairs = [(straggler.late, straggler.cause) for straggler in late]
    with_late = with_stragglers(analysis, pairs, figures, names.index(own), names)
    return findings_payload(source, with_late)
