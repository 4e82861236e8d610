"""Routes ``/module/flame``: the frames that are wide enough to be seen, and ``/module/flame/file``: all
frames, for other flame graph programs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler._version import __version__
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.module.frame_table import frame_names, frame_table
from torch_tb_profiler.analysis.module.frames import Frames, drawn, line_frames, module_frames
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.display_wire import wire_columns
from torch_tb_profiler.views.words.texts import missing
from torch_tb_profiler.views.work.module_wire import FlamePayload, FlameTree

Metric = Literal["host", "device"]
FileFormat = Literal["folded", "speedscope"]

NO_FRAME = "launched by no known frame"
SPEEDSCOPE_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
LONGEST_NAME = 1000
_CONTROL = regex(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_BLOCK = 2000


def flame_payload(
    facts: Facts, insight: Insight, selection: Selection, tree: FlameTree
) -> FlamePayload:
    """The frames with at least a 10,000th of the host or device time of the selected steps."""
    frames, rest = _frames(facts, insight, selection, tree)
    shown, pooled = drawn(frames)
    wanted = ("host", "stack") if tree == "line" else ("host", "modules")
    lacks = ("modules",) if tree == "module" and not insight.about["module_source"] else ()
    return FlamePayload(
        tree=tree,
        has_device=facts.summary.has_device,
        rows=wire_columns(frame_table(facts, insight, shown)),
        pooled=pooled,
        unattributed_device_ns=rest,
        missing=missing((*absent(facts), *lacks), wanted),
    )


def flame_file(
    facts: Facts,
    insight: Insight,
    selection: Selection,
    tree: FlameTree,
    metric: Metric,
    file_format: FileFormat,
) -> Iterator[bytes]:
    """The frames with self time, in ns: a line ``a;b;c 123`` each, or a JSON file for speedscope.
    Device work that no frame launched has a frame of its own.
    """
    frames, rest = _frames(facts, insight, selection, tree)
    total = frames.host if metric == "host" else frames.device
    own = total.copy()
    inner = np.flatnonzero(frames.parent >= 0)
    np.subtract.at(own, frames.parent[inner], total[inner])
    names = frame_names(facts, insight, frames)
    timed = np.flatnonzero(own > 0)
    parent, weights = frames.parent, own[timed].tolist()
    if metric == "device" and rest:
        names.append(NO_FRAME)
        weights.append(rest)
        parent, timed = np.append(parent, -1), np.append(timed, len(parent))
    stacks = _Stacks(parent.tolist(), timed.tolist(), weights)
    title = f"{'Python lines' if tree == 'line' else 'modules and operators'}, {metric} time"
    return _folded(names, stacks) if file_format == "folded" else _speedscope(names, stacks, title)


class _Stacks(msgspec.Struct, frozen=True):
    """Frames with self time, and how much; ``parent`` is of all frames."""

    parent: list[int]
    frame: list[int]
    weight: list[int]

    def blocks(self) -> Iterator[list[tuple[list[int], int]]]:
        """(frames outermost first, self time) in blocks, to bound memory."""
        pairs = list(zip(self.frame, self.weight, strict=True))
        for begin in range(0, len(pairs), _BLOCK):
            yield [(self._path(frame), time) for frame, time in pairs[begin : begin + _BLOCK]]

    def _path(self, frame: int) -> list[int]:
        path = [frame]
        while self.parent[path[-1]] >= 0:
            path.append(self.parent[path[-1]])
        return path[::-1]


def _frames(
    facts: Facts, insight: Insight, selection: Selection, tree: FlameTree
) -> tuple[Frames, int]:
    if tree == "line":
        return line_frames(facts, insight, selection)
    return module_frames(insight, selection)


def harmless(name: str) -> str:
    """A name for a folded file: without control characters and ``;``, cut."""
    return _CONTROL.sub(" ", name[:LONGEST_NAME]).replace(";", ",").strip() or "?"


def _folded(names: list[str], stacks: _Stacks) -> Iterator[bytes]:
    texts = [harmless(name) for name in names]
    for block in stacks.blocks():
        yield "".join(
            f"{';'.join(texts[frame] for frame in path)} {time}\n" for path, time in block
        ).encode("utf-8", "replace")


def _speedscope(names: list[str], stacks: _Stacks, title: str) -> Iterator[bytes]:
    head = {
        "$schema": SPEEDSCOPE_SCHEMA,
        "exporter": f"torch_tb_profiler {__version__}",
        "name": title,
        "activeProfileIndex": 0,
        "shared": {"frames": [{"name": name[:LONGEST_NAME]} for name in names]},
    }
    profile = {
        "type": "sampled",
        "name": title,
        "unit": "nanoseconds",
        "startValue": 0,
        "endValue": sum(stacks.weight),
        "weights": stacks.weight,
    }
    yield f'{json.dumps(head)[:-1]},"profiles":[{json.dumps(profile)[:-1]},"samples":['.encode()
    before = ""
    for block in stacks.blocks():
        yield (
            before + json.dumps([path for path, _ in block], separators=(",", ":"))[1:-1]
        ).encode()
        before = ","
    yield b"]}]}"
