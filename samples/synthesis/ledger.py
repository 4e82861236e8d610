"""The expected figures of a synthetic trace, kept while the model runs. Plain Python, no
cleverness, no import of the engine.

Definitions (``docs/definitions.md`` says the same in words):

* A step's window begins at its annotation's begin or, if later, at the end of the step before it;
  it ends at its annotation's end
  or, if later, at the end of the last device event launched in it.
* Every nanosecond of a window belongs to the first of kernel, memcpy, memset, communication,
  runtime, dataloader, cpu_exec that is
  active then, on any thread or stream; else to other. Kernels of collectives, and the host events
  that issue them, are communication.
* A call whose only child is a call of the same name is one call (as ``torch.profiler`` does): it
  takes the child's children and
  device events.
* Host self time is the length of a call less that of its direct children: operators, annotations
  and runtime calls. Device self time is
  that of the device events launched with the call as innermost operator; total adds the
  descendants'.
"""

from __future__ import annotations

from typing import Any

CATEGORIES = ("kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_exec")
OPERATOR, ANNOTATION, RUNTIME, PYTHON = "operator", "annotation", "runtime", "python"


class Frame:
    """One host event: what it is, when, what it called directly, and the durations of the device
    events that it launched itself.
    """

    __slots__ = ("args", "children", "device", "end", "external", "kind", "name", "start")

    def __init__(self, kind: str, name: str, start: int, external: int, args: str = "") -> None:
        self.kind = kind
        self.name = name
        self.start = start
        self.end = start
        self.external = external
        self.args = args
        self.children: list[Frame] = []
        self.device: list[int] = []


def category_of(frame: Frame) -> str | None:
    """The category of the breakdown that a host event counts for."""
    if frame.name.startswith(("nccl:", "c10d::")) or frame.name == "record_param_comms":
        return "communication"
    if frame.kind == RUNTIME:
        return "runtime"
    if frame.kind == ANNOTATION:
        return "dataloader" if frame.name.startswith("enumerate(DataLoader)#") else None
    return "cpu_exec" if frame.kind == OPERATOR else None


class Ledger:
    """Collects; ``figures()`` answers."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Any]] = []
        self.operators: dict[str, list[int]] = {}
        self.kernels: dict[str, list[int]] = {}
        self.attribution = {"device_events": 0, "kernels": 0, "with_launch": 0, "with_operator": 0}
        self._active: dict[str, list[tuple[int, int]]] = {name: [] for name in CATEGORIES}

    def device_event(
        self, category: str, name: str, start: int, dur: int, launched: bool, operator: Frame | None
    ) -> None:
        """One kernel, copy or memset; ``operator``: the innermost operator around its launch."""
        self._active[category].append((start, start + dur))
        self.attribution["device_events"] += 1
        if operator is not None:
            operator.device.append(dur)
        if category in ("memcpy", "memset"):
            return
        self.attribution["kernels"] += 1
        self.attribution["with_launch"] += launched
        self.attribution["with_operator"] += operator is not None
        row = self.kernels.setdefault(name, [0, 0, dur, dur])
        row[0] += 1
        row[1] += dur
        row[2] = min(row[2], dur)
        row[3] = max(row[3], dur)

    def host_tree(self, frame: Frame) -> int:
        """Count a finished outermost host event and all it called; returns its device total."""
        category = category_of(frame)
        if category is not None:
            self._active[category].append((frame.start, frame.end))
        while (
            len(frame.children) == 1
            and frame.kind == OPERATOR
            and frame.children[0].kind == OPERATOR
            and frame.children[0].name == frame.name
        ):
            only = frame.children[0]
            frame.children, frame.device = only.children, only.device
        total = sum(frame.device) + sum(self.host_tree(child) for child in frame.children)
        if frame.kind == OPERATOR:
            host = frame.end - frame.start
            called = sum(child.end - child.start for child in frame.children)
            row = self.operators.setdefault(frame.name, [0, 0, 0, 0, 0])
            for place, amount in enumerate((1, sum(frame.device), total, host - called, host)):
                row[place] += amount
        return total

    def step(self, name: str, start: int, end: int, device_end: int) -> None:
        """One finished step annotation and the end of the last device event launched in it."""
        begin = max([start, *(step["end"] for step in self.steps[-1:])])
        self.steps.append({"name": name, "start": begin, "end": max(begin, end, device_end)})

    def figures(self) -> dict[str, Any]:
        """The figures in the shape of ``torch-tb-profiler summary --json``."""
        operators = [
            dict(
                zip(
                    (
                        "name",
                        "calls",
                        "device_self_ns",
                        "device_total_ns",
                        "host_self_ns",
                        "host_total_ns",
                    ),
                    (name, *row),
                    strict=True,
                )
            )
            for name, row in sorted(self.operators.items())
        ]
        kernels = [
            dict(zip(("name", "calls", "total_ns", "min_ns", "max_ns"), (name, *row), strict=True))
            for name, row in sorted(self.kernels.items())
        ]
        steps = []
        for step in self.steps:
            start, end = step["start"], step["end"]
            steps.append(
                {
                    "name": step["name"],
                    "start_ns": start,
                    "wall_ns": end - start,
                    "categories_ns": self._breakdown(start, end),
                }
            )
        return {
            "steps": steps,
            "operators": operators,
            "kernels": kernels,
            "attribution": self.attribution,
        }

    def _breakdown(self, start: int, end: int) -> dict[str, int]:
        """Walk over the window from one begin or end to the next, counting what is active, and give
        each stretch to the first category.
        """
        changes: list[tuple[int, int, int]] = []
        for place, name in enumerate(CATEGORIES):
            for begin, stop in self._active[name]:
                clipped = max(begin, start), min(stop, end)
                if clipped[0] < clipped[1]:
                    changes += [(clipped[0], place, 1), (clipped[1], place, -1)]
        changes.sort()
        result = dict.fromkeys((*CATEGORIES, "other"), 0)
        active = [0] * len(CATEGORIES)
        at = start
        for moment, place, change in [*changes, (end, 0, 0)]:
            first = next(
                (name for name, count in zip(CATEGORIES, active, strict=True) if count), "other"
            )
            result[first] += moment - at
            at = moment
            active[place] += change
        return result
