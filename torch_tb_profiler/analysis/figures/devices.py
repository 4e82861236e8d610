"""How well each accelerator is used in a selection of steps."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.unrecorded_work import LEAST_UNKNOWN, unknown_share
from torch_tb_profiler.analysis.figures.selection import Selection, complete
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.model import Facts


class DeviceUse(msgspec.Struct, frozen=True):
    """An accelerator over the selected steps; None is unknown, shares and occupancy are fractions
    (0 to 1). Where work is missing from the trace, utilization, efficiency and shares are unknown.

    Attributes:
        row: row of ``facts["devices"]``.
        id: device id.
        name: product name.
        memory: bytes.
        capability: compute capability or architecture.
        multiprocessors: SMs or compute units.
        utilization: time with at least one kernel / time of the steps.
        sm_efficiency: integral of min(sum of blocks per SM, 1) / time of the steps.
        occupancy: mean estimated occupancy of the kernels that have one, weighted by duration.
        occupancy_known_share: kernel time that it rests on / kernel time.
        matrix_share: kernel time known to use matrix cores / kernel time.
        matrix_unknown_share: kernel time of which it is not known / kernel time.
        unrecorded_share: time of the steps in which work is missing from the trace, where that is too much of them / time
            of the steps.
    """

    row: int
    id: int
    name: str | None
    memory: int | None
    capability: str | None
    multiprocessors: int | None
    utilization: float | None
    sm_efficiency: float | None
    occupancy: float | None
    occupancy_known_share: float | None
    matrix_share: float | None
    matrix_unknown_share: float | None
    unrecorded_share: float | None


def device_use(facts: Facts, selection: Selection) -> tuple[DeviceUse, ...]:
    """Every accelerator's figures over the selected steps (those that the recording cut off left
    out), by row.
    """
    steps = complete(facts, selection)
    return tuple(_use(facts, row, steps) for row in range(facts["devices"].n))


def _use(facts: Facts, row: int, steps: Ints) -> DeviceUse:
    devices, table = facts["devices"], facts["device_steps"]
    mine = (table["device"] == row) & np.isin(table["step"], steps)
    lacking = unknown_share(facts, steps)
    whole = lacking <= LEAST_UNKNOWN
    if whole:
        mine &= table["busy"] >= 0
    wall = int(step_lengths(facts["steps"])[table["step"][mine]].sum()) if whole else 0
    sums = {
        key: float(np.nansum(table[key][mine])) for key in table if key not in ("device", "step")
    }
    integral = table["sm_integral"][mine]
    kernels, unknown = sums["kernel_time"], sums["matrix_unknown_time"]
    texts = {key: facts.strings[int(devices[key][row])] or None for key in ("name", "capability")}
    return DeviceUse(
        row=row,
        id=int(devices["id"][row]),
        name=texts["name"],
        capability=texts["capability"],
        memory=_known(devices["memory"][row]),
        multiprocessors=_known(devices["multiprocessors"][row]),
        utilization=sums["busy"] / wall if wall else None,
        sm_efficiency=sums["sm_integral"] / wall if wall and np.isfinite(integral).any() else None,
        occupancy=sums["occupancy_weighted"] / sums["occupancy_time"] / 100
        if sums["occupancy_time"]
        else None,
        occupancy_known_share=sums["occupancy_time"] / kernels if kernels else None,
        matrix_share=sums["matrix_time"] / kernels if kernels > unknown and whole else None,
        matrix_unknown_share=unknown / kernels if kernels else None,
        unrecorded_share=None if whole else lacking,
    )


def _known(value: int) -> int | None:
    return int(value) if value >= 0 else None
