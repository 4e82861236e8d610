"""Wire types of the Module view. Units as in ``wire.py``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from torch_tb_profiler.analysis.module.frame_table import FLAME
from torch_tb_profiler.analysis.module.table import MODULES
from torch_tb_profiler.views.display_wire import table_of
from torch_tb_profiler.views.wire import Missing, Vocabulary, Wire

ModuleSource = Literal["python", "hierarchy", "lightning", "compiled", ""]
FlameTree = Literal["module", "line"]


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
    """Route ``/module``. ``sentences``: the class of modules that takes most, and which steps the sums are of."""

    source: ModuleSource
    has_device: bool
    has_backward: bool
    vocabulary: Vocabulary
    sentences: list[str]
    rows: Annotated[dict[str, Any], table_of(MODULES)]
    totals: ModuleTotals
    notes: list[str]
    missing: list[Missing]


class FlamePayload(Wire, frozen=True, kw_only=True):
    """Route ``/module/flame``; ``tree`` ``module``: modules and operators; ``line``: Python source
    lines. ``pooled`` frames have
    less than 1/10,000 of the host's and of the device's time and no row of their own.
    ``unattributed_device_ns``: device work that no frame launched.
    """

    tree: FlameTree
    has_device: bool
    rows: Annotated[dict[str, Any], table_of(FLAME)]
    pooled: int
    unattributed_device_ns: int
    missing: list[Missing]
