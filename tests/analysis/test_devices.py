"""Device figures: overlapping kernels, selected steps, and what is not known. The original's cases
are in test_original.py.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.analysis.figures import operators
from tests.builders.drawn import facts_drawn
from torch_tb_profiler.analysis.figures.devices import DeviceUse, device_use
from torch_tb_profiler.analysis.figures.kernels import kernel_rows
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.store.model import Facts


def use(facts: Facts, first: int | None = None, last: int | None = None) -> DeviceUse:
    (device,) = device_use(facts, select(facts, first, last))
    return device


BLOCKS = {"a": {"blocks per SM": 0.5}, "b": {"blocks per SM": 0.8}, "c": {"blocks per SM": 0.25}}


def test_sm_efficiency_adds_what_runs_at_once_and_stops_at_everything() -> None:
    facts = facts_drawn(
        """
        main   [aten::mm    ]
        main   <x #1><x #2>
        gpu 7  {a #1  }
        gpu 8      {b #2    }
        """,
        args=BLOCKS,
    )
    # a alone 4 µs, both 4 µs (1.3 counts as 1), b alone 6 µs, of 14 µs.
    assert use(facts).sm_efficiency == pytest.approx((4 * 0.5 + 4 * 1 + 6 * 0.8) / 14)


def test_devices_share_nothing_and_each_is_measured_against_the_same_steps() -> None:
    facts = facts_drawn(
        """
        main     (ProfilerStep#1     )
        main     <x #1><x #2>
        gpu 0:7      {a #1}
        gpu 1:7          {b #2   }
        """,
        args=BLOCKS,
    )
    first, second = device_use(facts, select(facts))
    assert (first.id, first.utilization, first.sm_efficiency) == pytest.approx((0, 6 / 21, 3 / 21))
    assert (second.id, second.utilization, second.sm_efficiency) == pytest.approx(
        (1, 9 / 21, 7.2 / 21)
    )


def test_what_no_kernel_carries_is_unknown() -> None:
    facts = facts_drawn("""
        main   [aten::mm    ]
        main   <x #1>
        gpu 7    {my_gemm #1}
    """)
    device = use(facts)
    assert device.utilization is not None
    assert device.sm_efficiency is None
    assert device.occupancy is None
    assert device.matrix_share is None
    assert device.matrix_unknown_share == 1
    assert (device.name, device.memory, device.capability, device.multiprocessors) == (
        None,
        None,
        None,
        None,
    )


def test_selected_steps_only() -> None:
    facts = facts_drawn("""
        main   (ProfilerStep#1    )(ProfilerStep#2    )
        main   <x #1>              <x #2>
        gpu 7     {a #1   }           {a #2       }
    """)
    assert use(facts, 0, 0).utilization == 0.45
    assert use(facts, 1, 1).utilization == 0.65


def test_communication_counts_as_busy_and_copies_do_not() -> None:
    facts = facts_drawn(
        """
        main   (ProfilerStep#1    )
        main   <x #1><x #2>
        gpu 7     {n #1   }
        gpu 7              {m #2 }
        """,
        names={"n": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "m": "Memcpy DtoH"},
    )
    assert use(facts).utilization == 0.45


PROPERTIES = {
    "id": 0,
    "name": "NVIDIA H100 80GB HBM3",
    "totalGlobalMem": 85_029_158_912,
    "computeMajor": 9,
    "computeMinor": 0,
    "numSms": 132,
}


def test_properties_come_from_the_header() -> None:
    facts = facts_drawn(
        """
        main   <x #1>
        gpu 7     {a #1   }
        """,
        deviceProperties=[PROPERTIES],
    )
    device = use(facts)
    assert (device.name, device.memory, device.capability, device.multiprocessors) == (
        "NVIDIA H100 80GB HBM3",
        85_029_158_912,
        "9.0",
        132,
    )
    assert operators(facts) == {}


def test_an_occupancy_of_0_is_unknown_and_the_share_that_has_one_is_known() -> None:
    """Kineto writes 0 where its estimate fails: what ran had some."""
    facts = facts_drawn(
        """
        main   [aten::mm    ]
        main   <x #1><x #2>
        gpu 7     {a #1}{b #2         }
        """,
        args={
            "a": {"est. achieved occupancy %": 40},
            # Above the default limit of shared memory no estimate is made.
            "b": {"est. achieved occupancy %": 0, "blocks per SM": 2, "block": [256, 1, 1]},
        },
    )
    device, rows = use(facts), kernel_rows(facts, select(facts), "name")
    assert device.occupancy == pytest.approx(0.4)
    assert device.occupancy_known_share == pytest.approx(6 / (6 + 15))
    shown = dict(zip(facts.strings.many(rows["name"]), rows["occupancy"].tolist(), strict=True))
    assert shown["a"] == pytest.approx(0.4)
    assert np.isnan(shown["b"])


def test_an_occupancy_that_rounds_to_0_is_known() -> None:
    facts = facts_drawn(
        """
        main   [aten::mm    ]
        main   <x #1>
        gpu 7     {a #1}
        """,
        args={"a": {"est. achieved occupancy %": 0, "blocks per SM": 0.1, "block": [64, 1, 1]}},
    )
    assert (use(facts).occupancy, use(facts).occupancy_known_share) == (0, 1)


@pytest.mark.parametrize(
    ("name", "units", "known"),
    [("", 304, "AMD Instinct MI300X"), ("", 303, None), ("AMD Instinct X", 304, "AMD Instinct X")],
)
def test_a_device_without_a_name_is_known_by_its_units_and_memory(
    name: str, units: int, known: str | None
) -> None:
    entry = {"id": 0, "name": name, "numSms": units, "totalGlobalMem": 192 << 30}
    facts = facts_drawn(
        "main <hipLaunchKernel #1>\ngpu 7  {k #1}",
        hip_runtime_version=70000000,
        deviceProperties=[entry],
    )
    assert use(facts).name == known
    assert facts.summary.device_identified == (not name and known is not None)
