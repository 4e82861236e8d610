"""The table of the frames of a flame graph."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.module.frames import LINE, REST, Frames
from torch_tb_profiler.store.display import DisplayTable, display_spec, known
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.strings import NO_STRINGS
from torch_tb_profiler.units import format_count

FRAME_KINDS = {
    PathKind.MODULE: "module",
    PathKind.ANNOTATION: "annotation",
    PathKind.OPERATOR: "operator",
    LINE: "line",
    REST: "rest",
}
FLAME = display_spec("""
flame: A tree of frames, parents before children. `kind`: `module`, `annotation`, `operator`, `line` or `rest`, which stands for several that are too small to
  be drawn. Times are totals; what the children do not cover is the frame's own. `calls` of a line are those of the operators it leads to, its `first_ns` is -1.
  `event`: the longest call.
    name       code   Frame         term=flame_frame width=320
    parent     row    -             -
    kind       text   Kind          term=flame_kind width=150
    backward   flag   -             -
    calls      count  Calls         term=flame_calls width=80
    device_ns  time   Device total  term=flame_device optional bar width=120
    host_ns    time   Host total    term=flame_host bar width=120
    first_ns   time   -             -
    event      row    -             -
""")


def frame_table(facts: Facts, insight: Insight, frames: Frames) -> DisplayTable:
    """One row per frame, in the order of the tree."""
    names = frame_names(facts, insight, frames)
    kinds = [FRAME_KINDS[kind] for kind in frames.kind.tolist()]
    return flame_table(frames, names, kinds, facts.summary.has_device)


def flame_table(
    frames: Frames, names: Sequence[str], kinds: Sequence[str], has_device: bool
) -> DisplayTable:
    """Frames of these names and kinds, in the order of the tree."""
    return FLAME.build(
        NO_STRINGS,
        name=names,
        parent=frames.parent,
        kind=kinds,
        backward=frames.backward,
        calls=frames.calls,
        device_ns=known(frames.device, has_device),
        host_ns=frames.host,
        first_ns=frames.first,
        event=frames.event,
    )


def frame_names(facts: Facts, insight: Insight, frames: Frames) -> list[str]:
    """What each frame is called."""
    names = []
    for kind, name, backward in zip(
        frames.kind.tolist(), frames.name.tolist(), frames.backward.tolist(), strict=True
    ):
        if kind == REST:
            names.append(f"{format_count(name)} smaller")
        elif kind == LINE:
            names.append(facts.strings[name])
        else:
            names.append(
                insight.strings[name]
                + (" (backward)" if backward and kind == PathKind.MODULE else "")
            )
    return names
