"""One row of ``key_averages()``, with the attributes that PyTorch's ``FunctionEventAvg`` has."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal, cast

from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, display_columns

_C = DisplayColumn
_US = "µs"
_TIMES = (
    ("cpu", "Host time from begin to end; 0 on a device."),
    ("device", "Device time launched in the calls; of a device's event its length."),
)
_SIZES = (
    ("cpu", "Bytes of the host's memory allocated less released while the calls were open."),
    ("device", "The same of the accelerators' memory."),
)
_OWN = "The same less that of what was called."
OWN_DEVICES = ("cuda", "xpu", "mtia", "hpu")
"""Accelerators that have a name of their own in PyTorch; others are ``privateuse1``."""
OLD_NAMES: dict[str, str] = {
    name.replace("device", old): name
    for old in ("cuda", "privateuse1")
    for name in (
        "device_time_total",
        "self_device_time_total",
        "device_memory_usage",
        "self_device_memory_usage",
    )
}
"""Names before PyTorch 2.3 → now. ``cuda`` is any device; ``privateuse1`` 0 of those in ``OWN_DEVICES``."""


def _times(kind: str, doc: str) -> tuple[DisplayColumn, ...]:
    total, own = (f"{prefix}{kind}_time_total" for prefix in ("", "self_"))
    return (
        _C(total, "mean time", "", doc, unit=_US),
        _C(own, "mean time", "", _OWN, unit=_US),
        _C(f"{kind}_time", "mean time", "", "The mean of a call.", unit=_US),
    )


def _old(name: str, new: str) -> DisplayColumn:
    kind: Literal["delta bytes", "mean time"] = "delta bytes" if "memory" in name else "mean time"
    unit = "bytes" if kind == "delta bytes" else _US
    return _C(name, kind, "", f"The old name of `{new}`.", optional=True, unit=unit)


def _sizes(kind: str, doc: str) -> tuple[DisplayColumn, ...]:
    name = f"{kind}_memory_usage"
    return (
        _C(name, "delta bytes", "", doc, optional=True),
        _C(f"self_{name}", "delta bytes", "", _OWN, optional=True),
    )


KEY_AVERAGES = DisplaySpec(
    "key_averages",
    "One row per key of `key_averages()`, under PyTorch's own names: times are µs, not ns. What was"
    " not recorded is missing, where PyTorch has 0.",
    (
        *display_columns("""
    key                 text   -  -           Name; `ProfilerStep*` for every step.
    overload_name       text   -  -           Overload, only where grouped by it.
    input_shapes        texts  -  -           One list per argument, only where grouped by shapes.
    stack               texts  -  -           Innermost frames, only where grouped by stack.
    device_type         text   -  -           `CPU`, or the name of the accelerator.
    is_user_annotation  flag   -  -           A `record_function` region, or its shadow on a device.
    count               count  -  unit=calls  Number of calls.
"""),
        *(column for kind, doc in _TIMES for column in _times(kind, doc)),
        *(column for kind, doc in _SIZES for column in _sizes(kind, doc)),
        _C("flops", "FLOP", "", "PyTorch's estimate of all calls together.", optional=True),
        _C(
            "scope", "id", "", "`at::RecordScope`, where a file tells it.", optional=True, unit="id"
        ),
        _C("cpu_children", "texts", "", "What the first call called, by name."),
        *(_old(name, new) for name, new in OLD_NAMES.items()),
    ),
)


TimeUnit = Literal["s", "ms", "us"]
_US_OF = {"s": 1e6, "ms": 1e3, "us": 1.0}


def time_text(us: float, unit: str | None = None) -> str:
    """A time as PyTorch prints it, in its own unit where none is given."""
    if unit not in _US_OF:
        unit = "s" if us >= _US_OF["s"] else "ms" if us >= _US_OF["ms"] else "us"
    return f"{us / _US_OF[unit]:.3f}{unit}"


def _text_of(name: str) -> property:
    return property(
        lambda row: time_text(getattr(row, name)), doc=f"``{name}`` as text, with its unit."
    )


def _old_name(name: str) -> property:
    return property(lambda row: getattr(row, name), doc=f"The old name of ``{name}``.")


def _private_name(name: str) -> property:
    def value(row: Average) -> Any:
        return 0 if row.use_device in (None, *OWN_DEVICES) else getattr(row, name)

    return property(
        value, doc=f"``{name}`` of a device without a name of its own in PyTorch, else 0."
    )


class _Vars:
    """``vars`` of a dataclass with slots: its fields, and what they were called."""

    __slots__ = ()

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        names = (each.name for each in fields(cast("Any", self)))
        return {name: getattr(self, name) for name in (*names, *OLD_NAMES)}


@dataclass(repr=False, slots=True)
class Average(_Vars):
    """All events of one key. Times are in microseconds, as PyTorch's, sizes in bytes; ``vars(row)``
    gives a row for ``pandas.DataFrame``, with the names of older versions, too.

    key: the name; ``ProfilerStep*`` for every step.
    count: number of calls.
    cpu_time_total, self_cpu_time_total: host time, and less that of what was called; 0 on a device.
    device_time_total, self_device_time_total: of a host event the device work launched in it, and
    by it alone; of a device's event its length.
    input_shapes: one list per argument, only where grouped by shapes, else ``""``; a list of
        tensors counts as no shape.
    stack: the innermost frames, only where grouped by stack.
    flops: PyTorch's estimate of all calls together, 0 where it has none or FLOPs were not recorded.
    cpu_parent, cpu_children: names of what the first call stood in (None at top level), and of what
        it called.
    scope: ``at::RecordScope`` of the first call: 7 of a ``record_function`` region, 1 of a backward
        function, None for others: an exported trace does not tell.
    device_type: ``"CPU"``, or the name of the accelerator.
    use_device: accelerator that was recorded (``"cuda"``, also of AMD's); None without one.
    """

    key: str
    count: int
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0
    device_time_total: float = 0.0
    self_device_time_total: float = 0.0
    cpu_memory_usage: int = 0
    self_cpu_memory_usage: int = 0
    device_memory_usage: int = 0
    self_device_memory_usage: int = 0
    flops: int = 0
    overload_name: str = ""
    input_shapes: list[list[int]] | str = ""
    stack: list[str] = field(default_factory=list)
    cpu_parent: Any = None
    cpu_children: list[Any] = field(default_factory=list)
    scope: int | None = None
    device_type: str = "CPU"
    use_device: str | None = None
    is_user_annotation: bool = False
    node_id: int = -1
    is_async: bool = False
    is_remote: bool = False
    is_legacy: bool = False

    cpu_time_str, device_time_str = _text_of("cpu_time"), _text_of("device_time")
    cpu_time_total_str = _text_of("cpu_time_total")
    device_time_total_str = _text_of("device_time_total")
    self_cpu_time_total_str = _text_of("self_cpu_time_total")
    self_device_time_total_str = _text_of("self_device_time_total")

    def __repr__(self) -> str:
        """PyTorch's line."""
        device = self.use_device or "cuda"
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str}"
            f" cpu_time={self.cpu_time_str}  self_{device}_time={self.self_device_time_total_str}"
            f" {device}_time={self.device_time_str} input_shapes={self.input_shapes}"
            f" cpu_memory_usage={self.cpu_memory_usage}"
            f" {device}_memory_usage={self.device_memory_usage}>"
        )

    @property
    def on_device(self) -> bool:
        """Whether it ran on an accelerator."""
        return self.device_type != "CPU"

    @property
    def cpu_time(self) -> float:
        """Mean host time of a call, µs."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """Mean device time of a call, µs."""
        return self.device_time_total / self.count if self.count else 0.0

    cuda_time, cuda_time_total = _old_name("device_time"), _old_name("device_time_total")
    self_cuda_time_total = _old_name("self_device_time_total")
    cuda_memory_usage = _old_name("device_memory_usage")
    self_cuda_memory_usage = _old_name("self_device_memory_usage")
    privateuse1_time_total = _private_name("device_time_total")
    self_privateuse1_time_total = _private_name("self_device_time_total")
    privateuse1_memory_usage = _private_name("device_memory_usage")
    self_privateuse1_memory_usage = _private_name("self_device_memory_usage")
