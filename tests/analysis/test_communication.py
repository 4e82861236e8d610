"""What counts as communication: by name, by arguments, by the collective around the launch; and
what does not.
"""

from __future__ import annotations

import pytest

from tests.analysis.figures import kernels, steps
from tests.builders.drawn import facts_drawn
from tests.builders.listed import facts_listed

UNDER = """
    1 note ProfilerStep#1@0+1000
    1 {kind} {name}@10+50
    1 call cudaLaunchKernel@20+5 c1
    gpu 0:7 {work}@100+200 c1
"""


def communicates(kind: str, name: str, work: str = "kernel some_kernel") -> bool:
    facts = facts_listed(UNDER.format(kind=kind, name=name, work=work))
    rows = kernels(facts)
    shown = steps(facts)[0]
    told = any(row["communication"] for row in rows)
    assert (shown.get("communication", 0) >= 200) == told
    return told


@pytest.mark.parametrize(
    "name",
    [
        "nccl:all_reduce",
        "nccl:_all_gather_base",
        "gloo:broadcast",
        "ucc:all_to_all",
        "hccl:send",
        "xccl:all_reduce",
        "c10d::allreduce_",
        "_c10d_functional::all_gather_into_tensor",
        "record_param_comms",
        "symm_mem::one_shot_all_reduce",
        "deep_ep::dispatch",
    ],
)
def test_kernel_launched_in_a_collective(name: str) -> None:
    assert communicates("op", name)
    assert communicates("note", name)


@pytest.mark.parametrize(
    "name",
    [
        "aten::mm",
        "ncclient",
        "nccl::helper",
        "c10d_like",
        "DistributedDataParallel.forward",
        "my nccl:all_reduce",
    ],
)
def test_kernel_launched_in_something_else(name: str) -> None:
    assert not communicates("op", name)


def test_computation_below_a_collective_stays_computation() -> None:
    facts = facts_drawn("""
        main   [c10d::allreduce_           ]
        main     [aten::copy_  ]
        main       <x #1>
        gpu 7             {cast #1   }
    """)
    assert [row["communication"] for row in kernels(facts)] == [False]


def test_copies_are_copies() -> None:
    facts = facts_listed(
        UNDER.format(kind="op", name="nccl:all_reduce", work="copy Memcpy DtoD (Device -> Device)")
    )
    assert steps(facts) == [{"wall": 1000, "memcpy": 200, "communication": 50, "other": 750}]


def test_kernel_that_carries_collective_arguments() -> None:
    facts = facts_listed("""
        1 note ProfilerStep#1@0+1000
        gpu 0:7 kernel vendor_kernel_17@100+200 c1 {"Collective name": "allreduce", "In msg nelems": 5, "Group size": 8, "dtype": "Float"}
    """)
    assert [row["communication"] for row in kernels(facts)] == [True]
    assert steps(facts) == [{"wall": 1000, "communication": 200, "other": 800}]


def test_communication_behind_computation_does_not_show() -> None:
    facts = facts_listed("""
        1 note ProfilerStep#1@0+1000
        gpu 0:7 kernel gemm@100+200 c1
        gpu 0:8 kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL@150+250 c2
    """)
    assert steps(facts) == [{"wall": 1000, "kernel": 200, "communication": 100, "other": 700}]


def test_libraries_that_the_trace_names() -> None:
    facts = facts_listed(
        """
        1 note gloo:all_reduce@0+10
        gpu 0:7 kernel void deep_ep::intranode::dispatch<8>(x)@100+200 c1
        """,
        distributedInfo={"backend": "nccl"},
    )
    assert facts.summary.communication_backends == ("deepep", "gloo", "nccl")
