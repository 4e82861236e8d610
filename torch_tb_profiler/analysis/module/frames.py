"""Trees of frames for flame graphs: of modules and operators, or of Python source lines."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import extreme_by, places_in, sum_by
from torch_tb_profiler.analysis.arrays.nesting import subtree_totals
from torch_tb_profiler.analysis.arrays.numbering import number_tree
from torch_tb_profiler.analysis.figures.selection import Selection, mask, sums_over
from torch_tb_profiler.analysis.module.modules import path_sums
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts

LINE = 3
"""Kind of a Python source line, beside those of ``PathKind``."""
REST = 4
"""Kind of a frame that replaces several that are too small to draw."""
MOST_FRAMES = 1000
"""Python's own recursion limit."""
SMALLEST = 10_000
"""A frame is drawn if it has at least 1 / this of the total time."""


class Frames(msgspec.Struct, frozen=True):
    """A tree of frames, parents before children; arrays of shape (frames,).

    parent: −1 outermost.
    name: insight string; of a line a string of the facts; of REST the number of frames that it
        stands for.
    kind: ``PathKind``, ``LINE`` or ``REST``.
    host, device: ns, including the frames beneath.
    first: start of the first call, ns, −1 unknown.
    event: an example, −1 none.
    """

    parent: Ints
    name: Ints
    kind: Ints
    backward: Mask
    calls: Ints
    host: Ints
    device: Ints
    first: Ints
    event: Ints


def module_frames(insight: Insight, selection: Selection) -> tuple[Frames, int]:
    """``(frames, rest)``: paths of the selected steps, and ns that no path launched."""
    paths = insight["paths"]
    sums, rest = path_sums(insight, selection)
    parent = paths["parent"].astype(np.int64)
    frames = Frames(
        parent,
        paths["name"].astype(np.int64),
        paths["kind"].astype(np.int64),
        paths["backward"] == 1,
        sums["calls"],
        subtree_totals(parent, sums["host_self"] + sums["runtime"]),
        subtree_totals(parent, sums["device_self"]),
        paths["first"],
        paths["event"].astype(np.int64),
    )
    return frames, rest


def line_frames(facts: Facts, insight: Insight, selection: Selection) -> tuple[Frames, int]:
    """``(frames, rest)``: the Python lines of the selected steps, and the ns of device work without
    a known line.

    Host time is that of operators with their runtime calls, those of the backward pass at the line of their forward;
    Python's own time is not included.
    """
    stacks, lines, launches = facts["stacks"], insight["lines"], insight["line_steps"]
    own = sums_over(selection, facts["operator_steps"], "operator", facts["operator_sums"])
    operator = np.flatnonzero((facts["operators"]["stack"] >= 0) & (own["calls"] > 0))
    launch = np.flatnonzero(mask(selection, launches["step"]))
    # Merge the two trees of frames.
    parent = np.concatenate(
        (stacks["parent"], np.where(lines["parent"] >= 0, lines["parent"] + stacks.n, -1))
    )
    frame = np.concatenate((stacks["frame"], lines["frame"])).astype(np.int64)
    tree = number_tree(parent, frame, MOST_FRAMES)
    n = len(tree.parent)
    own_stack = facts["operators"]["stack"][operator]
    line = tree.path[np.concatenate((own_stack, stacks.n + launches["line"][launch]))]
    none = np.zeros(len(launch), np.int64)
    calls = sum_by(line, n, np.concatenate((own["calls"][operator], none)))
    host = sum_by(line, n, np.concatenate(((own["host_self"] + own["runtime"])[operator], none)))
    device = sum_by(
        line, n, np.concatenate((own["device_self"][operator], launches["device"][launch]))
    )
    unknown = np.full(n, -1, np.int64)
    kind, backward = np.full(n, LINE), np.zeros(n, np.bool_)
    own_device = int(device.sum())
    calls, host, device = (subtree_totals(tree.parent, part) for part in (calls, host, device))
    frames = Frames(tree.parent, tree.code, kind, backward, calls, host, device, unknown, unknown)
    sums, rest = path_sums(insight, selection, ("device_self",))
    return frames, max(int(sums["device_self"].sum()) + rest - own_device, 0)


def drawn(frames: Frames, smallest: int = SMALLEST) -> tuple[Frames, int]:
    """``(frames, left_out)``: the frames large enough to draw on host or device, and the number of
    the others.

    Small siblings that are large enough together become one frame of kind REST.
    """
    outermost = frames.parent < 0
    limits = [
        max(-(-int(values[outermost].sum()) // smallest), 1)
        for values in (frames.host, frames.device)
    ]
    large = (frames.host >= limits[0]) | (frames.device >= limits[1])
    small = np.flatnonzero(~large & ((frames.host > 0) | (frames.device > 0) | (frames.calls > 0)))
    # Everything beneath a small frame is small, so only small children of large frames count.
    above = frames.parent[small]
    edge = small[(above < 0) | large[above]]
    n = len(frames.parent)
    target = np.where(frames.parent[edge] >= 0, frames.parent[edge], n)
    host, device = (sum_by(target, n + 1, values[edge]) for values in (frames.host, frames.device))
    rest = np.flatnonzero((host >= limits[0]) | (device >= limits[1]))
    chosen = np.flatnonzero(large)
    position = places_in(n + 1, chosen)
    joined = {key: getattr(frames, key)[chosen] for key in Frames.__struct_fields__}
    above = joined["parent"]
    joined["parent"] = np.where(above >= 0, position[above], -1)
    first = extreme_by(np.minimum, target, n + 1, frames.first[edge])
    more: dict[str, Array] = {
        "parent": position[rest],
        "name": np.bincount(target, minlength=n + 1)[rest],
        "kind": np.full(len(rest), REST),
        "backward": np.zeros(len(rest), np.bool_),
        "calls": sum_by(target, n + 1, frames.calls[edge])[rest],
        "host": host[rest],
        "device": device[rest],
        "first": first[rest],
        "event": np.full(len(rest), -1),
    }
    columns = {key: np.concatenate((values, more[key])) for key, values in joined.items()}
    return Frames(**columns), len(small)
