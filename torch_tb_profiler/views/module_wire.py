"""Wire types of the Module view. Units as in ``wire.py``."""

from __future__ import annotations

from typing import Literal

from torch_tb_profiler.views.wire import Missing, Vocabulary, Wire

ModuleSource = Literal["python", "hierarchy", "lightning", ""]
FlameTree = Literal["module", "line"]


class ModuleColumns(Wire, frozen=True, kw_only=True):
    """The module tree, one entry per row, parents before children (``parent`` −1: outermost). Sums
    over the selected steps.

    ``name`` is the instance (``Linear_0``), ``kind`` the class (``Linear``; empty where it is not
    known). ``self`` is the module's own code and the operators it calls, ``total`` the modules
    beneath as well. ``calls``: of the forward pass, null where the recording does not say;
    ``operators``: calls of operators that it makes itself, forward. Backward is what undoes the
    module's operators, and the module's reruns within the backward pass. Device times are null
    without device work. ``allocated_bytes`` and ``increase_bytes`` (both self, forward and
    backward) are null without memory records. ``event``: its longest forward call; -1 none.
    """

    parent: list[int]
    name: list[str]
    kind: list[str]
    calls: list[int | None]
    operators: list[int]
    forward_host_total_ns: list[int]
    forward_host_self_ns: list[int]
    forward_device_total_ns: list[int | None]
    forward_device_self_ns: list[int | None]
    backward_host_total_ns: list[int]
    backward_host_self_ns: list[int]
    backward_device_total_ns: list[int | None]
    backward_device_self_ns: list[int | None]
    allocated_bytes: list[int | None]
    increase_bytes: list[int | None]
    event: list[int]


class ModuleTotals(Wire, frozen=True, kw_only=True):
    """Where the time of the selected steps is: in modules' forward and backward, outside modules,
    launched by no recorded call. The device sums are
    whole: the three add up to all device time. ``backward_*`` count the backward functions of all
        steps: laid at a module, without a known
    forward, with one outside modules."""

    module_host_ns: int
    outside_host_ns: int
    module_device_ns: int
    outside_device_ns: int
    unattributed_device_ns: int
    backward_tied: int
    backward_untied: int
    backward_outside: int


class ModulePayload(Wire, frozen=True, kw_only=True):
    """Route ``/module``. ``steps``: how many steps the sums are over."""

    source: ModuleSource
    has_device: bool
    has_backward: bool
    has_memory: bool
    vocabulary: Vocabulary
    steps: int
    rows: ModuleColumns
    totals: ModuleTotals
    notes: list[str]
    missing: list[Missing]


class FlameColumns(Wire, frozen=True, kw_only=True):
    """A tree of frames, parents before children. ``kind``: ``module``, ``annotation``,
    ``operator``, ``line`` or ``rest``. ``first_ns``: its first begin.

    ``host_ns`` and ``device_ns`` are totals; what the children do not cover is the frame's own.
    ``rest`` stands for several that are too small to be drawn. ``calls`` of a line are those of the
    operators it leads to. ``first_ns`` of a line is -1. ``event``: the longest call; -1 none.
    """

    parent: list[int]
    name: list[str]
    kind: list[str]
    backward: list[bool]
    calls: list[int]
    host_ns: list[int]
    device_ns: list[int | None]
    first_ns: list[int]
    event: list[int]


class FlamePayload(Wire, frozen=True, kw_only=True):
    """Route ``/module/flame``; ``tree`` ``module``: modules and operators; ``line``: Python source
    lines. ``pooled`` frames have
    less than 1/10,000 of the host's and of the device's time and no row of their own.
    ``unattributed_device_ns``: device work that no frame launched.
    """

    tree: FlameTree
    has_device: bool
    rows: FlameColumns
    pooled: int
    unattributed_device_ns: int
    missing: list[Missing]


MODULE_PAYLOADS: tuple[type[Wire], ...] = (ModulePayload, FlamePayload)
