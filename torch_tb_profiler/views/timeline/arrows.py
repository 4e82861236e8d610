"""Route ``/trace/arrows``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of
from torch_tb_profiler.analysis.timeline.arrows import arrows_within, spread
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.store.columns import Array, Mask
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.views.timeline.wire import ArrowsPayload


def arrows_payload(
    timeline: Timeline,
    begin: int,
    end: int,
    *,
    kinds: Sequence[str] | None,
    lanes: Sequence[int] | None,
    cap: int,
) -> ArrowsPayload:
    """Arrows that touch [begin, end), ns; ``kinds`` and ``lanes`` None for all. More than ``cap``
    are thinned evenly.

    Raises:
        BadRequest: the timeline has no arrows of a kind.
    """
    arrows, lane = timeline["arrows"], timeline["places"]["lane"]
    known = [kind["kind"] for kind in timeline.about["arrow_kinds"]]
    chosen = None if kinds is None else np.array(_rows_of(kinds, known), np.int64)
    rows = arrows_within(arrows, begin, end, chosen, _on_lanes(timeline, lanes))
    shown = spread(rows, cap)
    source, target = arrows["source"][shown], arrows["target"][shown]
    return ArrowsPayload(
        total=len(rows),
        kind=[known[row] for row in arrows["kind"][shown].tolist()],
        source=source.tolist(),
        target=target.tolist(),
        source_lane=lane[source].tolist(),
        target_lane=lane[target].tolist(),
        source_ns=arrows["source_time"][shown].tolist(),
        target_ns=arrows["target_time"][shown].tolist(),
    )


def _rows_of(kinds: Sequence[str], known: Sequence[str]) -> list[int]:
    for kind in kinds:
        if kind not in known:
            raise BadRequest(
                f"Parameter kinds holds {kind[:100]!r}, expected some of:"
                f" {', '.join(known) or 'none, this trace has no arrows'}."
            )
    return [known.index(kind) for kind in kinds]


def _on_lanes(timeline: Timeline, lanes: Sequence[int] | None) -> tuple[Array, Mask] | None:
    if lanes is None or len(lanes) == timeline["lanes"].n:
        return None
    chosen = mask_of(timeline["lanes"].n, list(lanes))
    return timeline["places"]["lane"], chosen
