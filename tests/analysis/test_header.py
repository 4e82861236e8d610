"""What the top-level keys of a trace say, also when they are of the wrong type: traces are
untrusted.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders.drawn import facts_drawn
from torch_tb_profiler.analysis.figures.devices import device_use
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.store.model import Facts

WORK = """
    main   [aten::mm ]
    main   <{call} #1>
    gpu 7       {{k #1 }}
"""


def facts_of(call: str = "cudaLaunchKernel", **header: Any) -> Facts:
    return facts_drawn(
        WORK.replace("{call}", "c").replace("{{", "{").replace("}}", "}"),
        names={"c": call},
        **header,
    )


def test_versions_are_readable() -> None:
    facts = facts_of(
        cuda_runtime_version=12040,
        cuda_driver_version=12090,
        cupti_version=22,
        torch_version="2.6.0+cu124",
        distributedInfo={"backend": "nccl", "rank": 3, "world_size": 8, "nccl_version": "2.17.1"},
    )
    assert facts.summary.versions == {
        "CUDA runtime": "12.4",
        "CUDA driver": "12.9",
        "CUPTI": "22",
        "PyTorch": "2.6.0+cu124",
        "NCCL": "2.17.1",
    }
    assert (facts.summary.rank, facts.summary.world_size, facts.summary.backend) == (
        3,
        8,
        "nccl",
    )
    assert facts.summary.communication_backends == ("nccl",)


def test_rocm_versions() -> None:
    facts = facts_of(
        "launch", hip_runtime_version=60443483, hip_driver_version=60443483, roctracer_version="4.1"
    )
    assert facts.summary.versions == {
        "HIP runtime": "6.4.43483",
        "HIP driver": "6.4.43483",
        "roctracer": "4.1",
    }
    assert facts.summary.vendor == "amd"


@pytest.mark.parametrize(
    ("rank", "expected"),
    [
        (0, 0),
        ("7", 7),
        (None, None),
        ("x", None),
        (True, None),
        (1.5, None),
        ([1], None),
        (1 << 70, None),
    ],
)
def test_rank(rank: Any, expected: int | None) -> None:
    assert facts_of(distributedInfo={"rank": rank}).summary.rank == expected


@pytest.mark.parametrize(
    ("name", "call", "vendor"),
    [
        ("NVIDIA H100 80GB HBM3", "x", "nvidia"),
        ("Tesla V100-DGXS-32GB", "x", "nvidia"),
        ("A100-SXM4-40GB", "x", "nvidia"),
        ("NVIDIA B200", "x", "nvidia"),
        ("AMD Instinct MI300X", "x", "amd"),
        ("AMD Radeon PRO W7900", "x", "amd"),
        ("Intel(R) Data Center GPU Max 1550", "x", "intel"),
        ("Intel(R) Arc(TM) A770 Graphics", "x", "intel"),
        ("AMD Radeon PRO V620", "x", "amd"),
        ("Ascend910B3", "x", "ascend"),
        ("L40S", "cuLaunchKernel", "nvidia"),
        ("", "cudaLaunchKernel", "nvidia"),
        ("", "cuLaunchKernelEx", "nvidia"),
        ("", "hipLaunchKernel", "amd"),
        ("", "urEnqueueKernelLaunch", "intel"),
        ("", "aclrtLaunchKernel", "ascend"),
        ("", "launch", "other"),
    ],
)
def test_vendor(name: str, call: str, vendor: str) -> None:
    assert facts_of(call, deviceProperties=[{"id": 0, "name": name}]).summary.vendor == vendor


def test_no_device_has_no_vendor() -> None:
    assert facts_drawn("main [aten::mm ]").summary.vendor == "none"


FIELDS = (
    "id",
    "name",
    "totalGlobalMem",
    "computeMajor",
    "computeMinor",
    "numSms",
    "backend",
    "rank",
    "world_size",
    "nccl_version",
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 80), 1 << 80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5)
    ),
    max_leaves=12,
)
KEYS = (
    "deviceProperties",
    "distributedInfo",
    "cuda_runtime_version",
    "cuda_driver_version",
    "hip_runtime_version",
    "cupti_version",
    "torch_version",
    "synthetic",
)


@given(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4))
def test_no_header_breaks_the_analysis(header: dict[str, Any]) -> None:
    facts = facts_of(**header)
    assert all(isinstance(text, str) for text in facts.summary.versions.values())
    assert facts.summary.synthetic is (header.get("synthetic") is True)
    assert len(device_use(facts, select(facts))) == 1


def test_gloo_written_with_devices() -> None:
    assert facts_of(
        distributedInfo={"backend": "cpu:gloo,cuda:nccl"}
    ).summary.communication_backends == ("gloo", "nccl")
