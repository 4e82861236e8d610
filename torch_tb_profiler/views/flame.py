"""Routes ``/module/flame`` and ``/module/flame/file``: trees of frames, and the same as files for
other flame graph programs.

Files hold every frame, the page only those that are wide enough to be seen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from torch_tb_profiler._version import __version__
from torch_tb_profiler.analysis.figures.absent import absent
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.module.frame_table import frame_names, frame_table
from torch_tb_profiler.analysis.module.frames import (
    Frames,
    drawn,
    line_frames,
    module_frames,
)
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.display_wire import wire_columns
from torch_tb_profiler.views.module import MODULES
from torch_tb_profiler.views.module_wire import FlamePayload, FlameTree
from torch_tb_profiler.views.texts import missing

Metric = Literal["host", "device"]
FileFormat = Literal["folded", "speedscope"]

NO_FRAME = "launched by no known frame"
SPEEDSCOPE_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
LONGEST_NAME = 1000
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_BLOCK = 2000


def flame_payload(
    facts: Facts, insight: Insight, selection: Selection, tree: FlameTree
) -> FlamePayload:
    """The frames of the selected steps that are at least a 10,000th of the host's or of the
    device's time.
    """
    frames, rest = _frames(facts, insight, selection, tree)
    shown, pooled = drawn(frames)
    wanted = ("host", "stack") if tree == "line" else ("host",)
    lacks = [MODULES] if tree == "module" and not insight.about["module_source"] else []
    return FlamePayload(
        tree=tree,
        has_device=bool(facts.summary["has_device"]),
        rows=wire_columns(frame_table(facts, insight, shown)),
        pooled=pooled,
        unattributed_device_ns=rest,
        missing=[*missing(absent(facts), wanted), *lacks],
    )


def flame_file(
    facts: Facts,
    insight: Insight,
    selection: Selection,
    tree: FlameTree,
    metric: Metric,
    file_format: FileFormat,
) -> Iterator[bytes]:
    """The frames with time of their own, in ns: one line ``a;b;c 123`` per frame, or a JSON file
    for speedscope.

    Device work that no frame launched stands in a frame of its own.
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
        parent, timed, weights = (
            np.append(parent, -1),
            np.append(timed, len(parent)),
            [*weights, rest],
        )
    stacks = _Stacks(parent.tolist(), timed.tolist(), weights)
    title = f"{'Python lines' if tree == 'line' else 'modules and operators'}, {metric} time"
    return _folded(names, stacks) if file_format == "folded" else _speedscope(names, stacks, title)


@dataclass(frozen=True)
class _Stacks:
    """Frames with time of their own, and how much; ``parent`` is of all frames."""

    parent: list[int]
    frame: list[int]
    weight: list[int]

    def blocks(self) -> Iterator[list[tuple[list[int], int]]]:
        """(frames outermost first, own time) of each, some at a time: all at once may be large."""
        for begin in range(0, len(self.frame), _BLOCK):
            yield [
                (self._way(frame), time)
                for frame, time in zip(
                    self.frame[begin : begin + _BLOCK],
                    self.weight[begin : begin + _BLOCK],
                    strict=True,
                )
            ]

    def _way(self, frame: int) -> list[int]:
        way = [frame]
        while self.parent[way[-1]] >= 0:
            way.append(self.parent[way[-1]])
        return way[::-1]


def _frames(
    facts: Facts, insight: Insight, selection: Selection, tree: FlameTree
) -> tuple[Frames, int]:
    return (
        line_frames(facts, insight, selection)
        if tree == "line"
        else module_frames(insight, selection)
    )


def harmless(name: str) -> str:
    """A name that breaks no line and no stack of a folded file: without control characters and
    ``;``, of bearable length.
    """
    return _CONTROL.sub(" ", name[:LONGEST_NAME]).replace(";", ",").strip() or "?"


def _folded(names: list[str], stacks: _Stacks) -> Iterator[bytes]:
    texts = [harmless(name) for name in names]
    for block in stacks.blocks():
        yield "".join(
            f"{';'.join(texts[frame] for frame in way)} {time}\n" for way, time in block
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
        yield (before + json.dumps([way for way, _ in block], separators=(",", ":"))[1:-1]).encode()
        before = ","
    yield b"]}]}"
