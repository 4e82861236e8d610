"""Device figures: the original's cases, overlapping kernels, and what is not known."""

from __future__ import annotations

import pytest

from tests.analysis.figures import kernels, operators
from tests.builders.drawn import draw
from tests.builders.listed import trace_listed
from torch_tb_profiler.analysis.derive import derive
from torch_tb_profiler.analysis.devices import DeviceUse, device_use
from torch_tb_profiler.analysis.operators import operator_rows
from torch_tb_profiler.analysis.selection import select
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.store.model import Facts


def use(facts: Facts, first: int | None = None, last: int | None = None) -> DeviceUse:
    (device,) = device_use(facts, select(facts, first, last))
    return device


def told(blocks: float, occupancy: float) -> str:
    return f'{{"blocks per SM": {blocks}, "est. achieved occupancy %": {occupancy}}}'


def test_gpu_utilization() -> None:
    facts = derive(trace_listed(f"""
        456 op aten::mat_mul@100+100
        456 op aten::mm@120+70
        456 call cudaLaunchKernel@121+5 c334
        456 call cudaLaunchKernel@127+5 c335
        456 call cudaLaunchKernel@195+2 c336
        456 call cudaLaunchKernel@198+2 c337
        456 call cudaLaunchKernel@133+5 c338
        gpu 1:7 kernel cunn@130+10 c334 {told(0.5, 0.6)}
        gpu 1:8 kernel cunn@145+25 c335 {told(0.3, 1.0)}
        gpu 1:9 kernel gemm@135+15 c336 {told(0.6, 0.1)}
        gpu 1:7 kernel cunn@200+20 c337 {told(10.5, 0.3)}
        gpu 1:7 kernel cunn@190+0 c338 {told(100, 100)}
    """))
    device = use(facts)
    assert device.id == 1
    assert device.utilization == 0.5
    assert device.sm_efficiency == pytest.approx(41 / 120, rel=1e-12)
    assert device.occupancy == pytest.approx(0.55 / 100, rel=1e-12)
    assert {(row["name"], row["operator"]): (row["blocks_per_sm"], row["occupancy"]) for row in kernels(facts, "properties")} == {
        ("gemm", "aten::mat_mul"): (0.6, 0.1), ("cunn", "aten::mm"): (12.5 / 35, pytest.approx(31 / 35)), ("cunn", "aten::mat_mul"): (10.5, 0.3)
    }
    assert {row["name"]: (row["blocks_per_sm"], row["occupancy"]) for row in kernels(facts)} == {
        "gemm": (0.6, 0.1), "cunn": (pytest.approx(222.5 / 55), pytest.approx(37 / 55))
    }


def test_gpu_utilization_kernel_out_of_step() -> None:
    facts = derive(trace_listed(f"""
        456 op aten::mm@10+50
        456 call cudaLaunchKernel@20+5 c334
        456 note ProfilerStep#2@100+100
        456 op aten::mat_mul@205+20
        456 call cudaLaunchKernel@206+5 c335
        gpu 1:7 kernel cunn@60+20 c334 {told(0.5, 0.6)}
        gpu 1:7 kernel cunn@220+25 c335 {told(10.5, 0.3)}
    """))
    device = use(facts)
    assert (device.utilization, device.sm_efficiency, device.occupancy) == (0.0, None, None)
    assert {row["operator"]: (row["blocks_per_sm"], row["occupancy"]) for row in kernels(facts, "properties")} == {
        "aten::mm": (0.5, 0.6), "aten::mat_mul": (10.5, 0.3)
    }
    (row,) = kernels(facts)
    assert (row["blocks_per_sm"], row["occupancy"]) == (pytest.approx(272.5 / 45), pytest.approx(19.5 / 45))


def test_tensor_core() -> None:
    facts = derive(trace_listed("""
        456 op aten::conv2d@100+100
        456 op op_no_tc@110+10
        456 call cudaLaunchKernel@111+2 c1
        456 op aten::cudnn_convolution@130+10
        456 call cudaLaunchKernel@131+2 c2
        gpu 0:7 kernel kernel_no_tc@200+10 c1
        gpu 0:7 kernel volta_fp16_s884cudnn_fp16_256x64_ldg8_relu_f2f_exp_small_nhwc_tn_v1@220+15 c2
    """))
    rows = operator_rows(facts, select(facts), "name")
    found = {
        facts.strings[int(rows.name[at])]: (int(rows.matrix_eligible[at]), float(rows.matrix_self_share[at]), float(rows.matrix_total_share[at]))
        for at in range(len(rows.name))
    }
    no, yes = int(Knowledge.NO), int(Knowledge.YES)
    # The original says 0 of nothing for the share of an operator without kernels of its own; here that is no number.
    assert found["aten::conv2d"] == pytest.approx((yes, float("nan"), 0.6), nan_ok=True)
    assert found["op_no_tc"] == (no, 0, 0)
    assert found["aten::cudnn_convolution"] == (yes, 1, 1)
    assert {row["name"][:5]: (row["matrix"], row["matrix_eligible"]) for row in kernels(facts, "properties")} == {"kerne": (no, no), "volta": (yes, yes)}
    assert (use(facts).matrix_share, use(facts).matrix_unknown_share) == (0.6, 0)
    assert facts.summary["matrix_eligible_share"] == 0.6


BLOCKS = {"a": {"blocks per SM": 0.5}, "b": {"blocks per SM": 0.8}, "c": {"blocks per SM": 0.25}}


def test_sm_efficiency_adds_what_runs_at_once_and_stops_at_everything() -> None:
    facts = derive(draw(
        """
        main   [aten::mm    ]
        main   <x #1><x #2>
        gpu 7  {a #1  }
        gpu 8      {b #2    }
        """, args=BLOCKS,
    ))
    # a alone 4 µs, both 4 µs (1.3 counts as 1), b alone 6 µs, of 14 µs.
    assert use(facts).sm_efficiency == pytest.approx((4 * 0.5 + 4 * 1 + 6 * 0.8) / 14)


def test_devices_share_nothing_and_each_is_measured_against_the_same_steps() -> None:
    facts = derive(draw(
        """
        main     (ProfilerStep#1     )
        main     <x #1><x #2>
        gpu 0:7      {a #1}
        gpu 1:7          {b #2   }
        """, args=BLOCKS,
    ))
    first, second = device_use(facts, select(facts))
    assert (first.id, first.utilization, first.sm_efficiency) == pytest.approx((0, 6 / 21, 3 / 21))
    assert (second.id, second.utilization, second.sm_efficiency) == pytest.approx((1, 9 / 21, 7.2 / 21))


def test_what_no_kernel_carries_is_unknown() -> None:
    facts = derive(draw("""
        main   [aten::mm    ]
        main   <x #1>
        gpu 7    {my_gemm #1}
    """))
    device = use(facts)
    assert device.utilization is not None
    assert device.sm_efficiency is None
    assert device.occupancy is None
    assert device.matrix_share is None
    assert device.matrix_unknown_share == 1
    assert (device.name, device.memory, device.capability, device.multiprocessors) == (None, None, None, None)


def test_selected_steps_only() -> None:
    facts = derive(draw("""
        main   (ProfilerStep#1    )(ProfilerStep#2    )
        main   <x #1>              <x #2>
        gpu 7     {a #1   }           {a #2       }
    """))
    assert use(facts, 0, 0).utilization == 0.45
    assert use(facts, 1, 1).utilization == 0.65


def test_communication_counts_as_busy_and_copies_do_not() -> None:
    facts = derive(draw(
        """
        main   (ProfilerStep#1    )
        main   <x #1><x #2>
        gpu 7     {n #1   }
        gpu 7              {m #2 }
        """, names={"n": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "m": "Memcpy DtoH"},
    ))
    assert use(facts).utilization == 0.45


PROPERTIES = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85_029_158_912, "computeMajor": 9, "computeMinor": 0, "numSms": 132}


def test_properties_come_from_the_header() -> None:
    facts = derive(draw(
        """
        main   <x #1>
        gpu 7     {a #1   }
        """, deviceProperties=[PROPERTIES],
    ))
    device = use(facts)
    assert (device.name, device.memory, device.capability, device.multiprocessors) == ("NVIDIA H100 80GB HBM3", 85_029_158_912, "9.0", 132)
    assert operators(facts) == {}
