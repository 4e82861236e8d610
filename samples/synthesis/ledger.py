"""The expected figures of a synthetic trace, collected while the model runs.

Plain Python without any import of the package. Definitions, as in ``docs/definitions.md``:

* A step's window begins at the later of its annotation's begin and the end of the previous step; it
  ends at the later of its annotation's end and the end of the last device event launched in it.
* Every nanosecond of a window belongs to the first of kernel, memcpy, memset, communication,
  runtime, dataloader, cpu_exec that is active then on any thread or stream, else to other. Kernels
  of collectives, and the host events that issue them, are communication.
* A call whose only child is a call of the same name is one call (as in ``torch.profiler``), with
  the child's children and device events.
* Host self time is the duration of a call less that of its direct children: operators, annotations
  and runtime calls. Device self time is that of the device events launched with the call as
  innermost operator; total adds that of its descendants.
"""

from __future__ import annotations

from typing import Any

CATEGORIES = ("kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_exec")
OPERATOR, ANNOTATION, RUNTIME, PYTHON = "operator", "annotation", "runtime", "python"


class Frame:
    """One host event, its direct children, and the durations of the device events it launched."""

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
    """The breakdown category of a host event."""
    if frame.name.startswith(("nccl:", "c10d::")) or frame.name == "record_param_comms":
        return "communication"
    if frame.kind == RUNTIME:
        return "runtime"
    if frame.kind == ANNOTATION:
        return "dataloader" if frame.name.startswith("enumerate(DataLoader)#") else None
    return "cpu_exec" if frame.kind == OPERATOR else None


class Ledger:
    """Collects events; ``figures()`` returns the expected figures."""

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
        """Count a finished outermost host event and its callees; returns its device total."""
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
            for i, amount in enumerate((1, sum(frame.device), total, host - called, host)):
                row[i] += amount
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
        """Walk through the window, counting active events; each stretch goes to the first category."""
        changes: list[tuple[int, int, int]] = []
        for i, name in enumerate(CATEGORIES):
            for begin, stop in self._active[name]:
                clipped = max(begin, start), min(stop, end)
                if clipped[0] < clipped[1]:
                    changes += [(clipped[0], i, 1), (clipped[1], i, -1)]
        changes.sort()
        result = dict.fromkeys((*CATEGORIES, "other"), 0)
        active = [0] * len(CATEGORIES)
        time = start
        for moment, i, change in [*changes, (end, 0, 0)]:
            first = next(
                (name for name, count in zip(CATEGORIES, active, strict=True) if count), "other"
            )
            result[first] += moment - time
            time = moment
            active[i] += change
        return result
