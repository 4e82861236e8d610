"""``key_averages()`` of a trace file, without PyTorch."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from torch_tb_profiler.analysis.key_averages.call_stacks import CallStacks
from torch_tb_profiler.analysis.key_averages.flops import flops
from torch_tb_profiler.analysis.key_averages.function_events import FunctionEvents, function_events
from torch_tb_profiler.analysis.key_averages.groups import (
    Grouping,
    Groups,
    group_events,
    is_annotation,
    scopes,
)
from torch_tb_profiler.api.average import KEY_AVERAGES, OLD_NAMES, OWN_DEVICES, Average, TimeUnit
from torch_tb_profiler.api.averages_table import Options, averages_table
from torch_tb_profiler.api.table_frame import table_frame
from torch_tb_profiler.atomic_files import save
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import NO_STRINGS
from torch_tb_profiler.units import format_count

if TYPE_CHECKING:
    from pandas import DataFrame

_DEVICE_OF_VENDOR = {
    "nvidia": "cuda",
    "amd": "cuda",
    "intel": "xpu",
    "mtia": "mtia",
    "ascend": "npu",
    "none": "cuda",
}
"""PyTorch calls AMD devices CUDA, too; ``none``: runtime calls without device work."""
_SUMMED = (
    "count",
    "cpu_time_total",
    "self_cpu_time_total",
    "device_time_total",
    "self_device_time_total",
    "cpu_memory_usage",
    "self_cpu_memory_usage",
    "device_memory_usage",
    "self_device_memory_usage",
    "flops",
)
_OLD_DEVICES = ("cuda", "xpu", "privateuse1")
METRICS = (
    "self_cpu_time_total",
    "self_device_time_total",
    *(f"self_{name}_time_total" for name in _OLD_DEVICES),
)
_VERBOSE = (
    "Record with with_stack=True and"
    " experimental_config=torch.profiler._ExperimentalConfig(verbose=True)."
)
_FUNCTIONS_ARE_EVENTS, _FUNCTIONS_ARE_LEFT_OUT = (2, 12), (2, 14)
"""PyTorch versions since which Python functions are events, and averages leave them out by default."""
_ASSUMED, _OLD = (2, 13), (2, 11)
_VERSION = regex(r"(\d{1,4})\.(\d{1,4})", re.ASCII)
_NO_SPACE = str.maketrans(" ;\t\n", "____")


class KeyAverages(Sequence[Average]):
    """Averages by key in the order of their first events; ``str()`` is PyTorch's table of them."""

    def __init__(
        self, rows: Sequence[Average], memory: bool, with_flops: bool, top_level: bool = False
    ) -> None:
        """``memory``, ``with_flops``: whether these were recorded; ``top_level``: show top-level
        events only.
        """
        self._rows = list(rows)
        self._memory = memory
        self._with_flops = with_flops
        self._top_level = top_level

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Average]:
        return iter(self._rows)

    @overload
    def __getitem__(self, row: int) -> Average: ...

    @overload
    def __getitem__(self, row: slice) -> KeyAverages: ...

    def __getitem__(self, row: int | slice) -> Average | KeyAverages:
        if isinstance(row, slice):
            return KeyAverages(self._rows[row], self._memory, self._with_flops, self._top_level)
        return self._rows[row]

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"<KeyAverages of {format_count(len(self))} keys: print it, or take .table(sort_by=...), .frame>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.table())}</pre>"

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int | None = 75,
        max_name_column_width: int | None = 55,
        max_shapes_column_width: int | None = 80,
        header: str | None = None,
        top_level_events_only: bool | None = None,
        time_unit: TimeUnit | None = None,
    ) -> str:
        """The table that PyTorch prints of the same run, with the same arguments.

        Args:
            sort_by: attribute of a row, largest first; ``cuda``, ``xpu`` and ``privateuse1`` in it
                mean the device. None: the order of first events.
            row_limit: most rows; −1 for all.
            top_level_events_only: leave out keys whose first event was called by another; None: as
                given to ``key_averages``.
            time_unit: ``"s"``, ``"ms"`` or ``"us"`` for every time; None: whichever fits.

        Raises:
            BadRequest: rows cannot be sorted by that.
        """
        top_level = self._top_level if top_level_events_only is None else top_level_events_only
        options = Options(
            row_limit,
            max_src_column_width,
            max_name_column_width,
            max_shapes_column_width,
            header,
            top_level,
            time_unit,
        )
        rows = self._rows if sort_by is None else self._sorted(sort_by)
        return averages_table(rows, self._memory, self._with_flops, options)

    @property
    def self_cpu_time_total(self) -> float:
        """Host time of all, in µs."""
        return sum(row.self_cpu_time_total for row in self)

    def total_average(self) -> Average:
        """All rows added up; its key is ``Total``."""
        total = Average("Total", 0)
        for row in self:
            for name in _SUMMED:
                setattr(total, name, getattr(total, name) + getattr(row, name))
            total.use_device = row.use_device
        return total

    @property
    def frame(self) -> DataFrame:
        """A DataFrame with PyTorch's column names; times in µs. What was not recorded is missing."""
        shown = [row for row in self if row.cpu_parent is None or not self._top_level]
        columns = {
            column.name: [self._known(row, column.name) for row in shown]
            for column in KEY_AVERAGES.columns
        }
        return table_frame(KEY_AVERAGES.build(NO_STRINGS, **columns))

    def _known(self, row: Average, name: str) -> Any:
        device = "device" in OLD_NAMES.get(name, name) and name != "device_type"
        private = "privateuse1" in name and row.use_device in OWN_DEVICES
        unknown = (
            ("memory" in name and not self._memory)
            or (device and row.use_device is None)
            or private
            or (name == "flops" and row.flops <= 0)
        )
        return None if unknown else getattr(row, name)

    def to_frame(self) -> DataFrame:
        """``frame`` as a call."""
        return self.frame

    def export_stacks(self, path: str | Path, metric: str = "self_cpu_time_total") -> None:
        """Write one folded stack per row that was grouped by stack, with a time in whole µs.

        Raises:
            BadRequest: the metric is not one of ``METRICS``.
        """
        name = _metric(metric)
        _write_stacks(path, [(row.stack, getattr(row, name)) for row in self])

    def _sorted(self, key: str) -> list[Average]:
        try:
            name = _modern(key)
            return sorted(self._rows, key=lambda row: getattr(row, name), reverse=True)
        except (AttributeError, TypeError):
            raise BadRequest(
                f"sort_by={key!r}: rows cannot be sorted by that.",
                f"Take one of: {', '.join(sorted(_SORTABLE))}.",
            ) from None


_SORTABLE = {"key", "cpu_time", "device_time", "overload_name", *_SUMMED}


class Profile:
    """What ``torch.profiler`` knew at the end of a recording, as far as the trace says.

    events: of the recording. flops, stacks: of each. device: the accelerator as ``use_device`` names
    it, None without one. with_memory, with_flops: whether these were recorded.
    """

    def __init__(self, opened: Opened, python_frames: bool = True) -> None:
        self.events = function_events(opened.trace, opened.facts, python_frames)
        self.flops = flops(self.events)
        self.stacks = CallStacks(self.events)
        self.device = _device(opened, self.events)
        header = opened.trace.header
        self.with_memory = bool(header.get("profile_memory")) or bool(opened.trace["memory"].n)
        self.with_flops = bool(header.get("with_flops"))

    def key_averages(self, by: Grouping, top_level_events_only: bool = False) -> KeyAverages:
        """Averages by name and the further keys of ``by``."""
        groups = group_events(self.events, self.stacks, self.flops, by)
        rows = self._rows(groups, by.overload)
        return KeyAverages(rows, self.with_memory, self.with_flops, top_level_events_only)

    def export_stacks(self, path: str | Path, metric: str = "self_cpu_time_total") -> None:
        """Write one folded stack per call that has a stack and at least a µs of the metric, as
        ``prof.export_stacks`` does.

        Raises:
            BadRequest: the metric is not one of ``METRICS``, or the recording holds no stacks.
        """
        times = (
            self.events.host_self if _metric(metric) == "self_cpu_time_total" else self._device_self
        )
        events = np.flatnonzero((self.stacks.of_event >= 0) & (times >= 1))
        if not (self.stacks.of_event >= 0).any():
            raise BadRequest("The trace's operators have no call stacks.", _VERBOSE)
        stacks = {
            stack: self.stacks.frames(stack)
            for stack in np.unique(self.stacks.of_event[events]).tolist()
        }
        _write_stacks(
            path,
            [
                (stacks[s], t)
                for s, t in zip(
                    self.stacks.of_event[events].tolist(), times[events].tolist(), strict=True
                )
            ],
        )

    @property
    def _device_self(self) -> Array:
        return self.events.device.own if self.device else np.zeros(len(self.events))

    def _rows(self, groups: Groups, with_overloads: bool) -> list[Average]:
        events, names = self.events, self.events.names
        first = groups.first
        around = events.parent[first]
        device = (self.device or "").upper()
        columns: dict[str, list[Any]] = {name: sums.tolist() for name, sums in groups.sums.items()}
        columns |= {
            "key": names.many(events.name[first]),
            "stack": [list(frames) for frames in groups.stack],
            "device_type": [
                device if other else "CPU" for other in events.on_device[first].tolist()
            ],
            "is_async": events.is_async[first].tolist(),
            "is_user_annotation": is_annotation(events.role[first]).tolist(),
            "cpu_parent": [
                names[number] if parent >= 0 else None
                for parent, number in zip(
                    around.tolist(), events.name[around].tolist(), strict=True
                )
            ],
        }
        columns["cpu_children"] = self._children(first)
        columns["scope"] = [
            number if number >= 0 else None for number in scopes(self.events)[first].tolist()
        ]
        if with_overloads:
            columns["overload_name"] = names.many(events.overload[first])
        if groups.shapes is not None:
            columns["input_shapes"] = [
                [list(shape) for shape in shapes] for shapes in groups.shapes
            ]
        return [
            Average(use_device=self.device, **dict(zip(columns, row, strict=True)))
            for row in zip(*columns.values(), strict=True)
        ]

    def _children(self, positions: Ints) -> list[list[str]]:
        """Names of what each of some events called, in order."""
        events = self.events
        inside = np.flatnonzero(np.isin(events.parent, positions) & (events.parent >= 0))
        called: dict[int, list[str]] = {}
        names = events.names.many(events.name[inside])
        for around, name in zip(events.parent[inside].tolist(), names, strict=True):
            called.setdefault(around, []).append(name)
        return [called.get(position, []) for position in positions.tolist()]


def profile(opened: Opened, python_frames: bool = True) -> Profile:
    """The profile of an opened trace, kept with it. Without ``python_frames`` Python functions are
    no calls, as before PyTorch 2.12.
    """
    return opened.memoise(("key_averages", python_frames), lambda: Profile(opened, python_frames))


def functions_in(opened: Opened) -> tuple[bool, bool]:
    """Whether the PyTorch that recorded a trace takes Python functions for events, and lists them."""
    version = _version(opened)
    return version >= _FUNCTIONS_ARE_EVENTS, version < _FUNCTIONS_ARE_LEFT_OUT


def _version(opened: Opened) -> tuple[int, int]:
    """The version in the file, else by what Kineto writes: a time base since 2.4, the host's name
    since 2.13.
    """
    recorded = _VERSION.match(opened.facts.summary.versions.get("PyTorch", ""))
    if recorded:
        return int(recorded[1]), int(recorded[2])
    header = opened.trace.header
    old = "baseTimeNanoseconds" not in header or (
        "trace_id" in header and "host_name" not in header
    )
    return _OLD if old and "schemaVersion" in header else _ASSUMED


def _device(opened: Opened, events: FunctionEvents) -> str | None:
    """The accelerator as ``use_device`` names it; None where none was recorded."""
    if not events.on_device.any() and not (events.role == Role.RUNTIME).any():
        return None
    return _DEVICE_OF_VENDOR.get(opened.facts.summary.vendor, "privateuse1")


def _modern(name: str) -> str:
    for old in _OLD_DEVICES:
        name = name.replace(old, "device")
    return name


def _metric(name: str) -> str:
    if name not in METRICS:
        raise BadRequest(f"metric={name!r} is not known.", f"Take one of: {', '.join(METRICS)}.")
    return _modern(name)


def _write_stacks(path: str | Path, stacks: Sequence[tuple[Sequence[str], float]]) -> None:
    lines = (
        f"{';'.join(frame.translate(_NO_SPACE) for frame in reversed(frames))} {int(us)}\n"
        for frames, us in stacks
        if frames and int(us) > 0
    )
    save((line.encode("utf-8", "backslashreplace") for line in lines), path, force=True)
