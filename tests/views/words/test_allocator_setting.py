"""The environment variable that sets the allocator, by vendor."""

from __future__ import annotations

import pytest

from torch_tb_profiler.views.words.vocabulary import allocator_setting


@pytest.mark.parametrize(
    ("vendor", "backend", "setting"),
    [
        ("nvidia", "", "PYTORCH_CUDA_ALLOC_CONF"),
        ("amd", "", "PYTORCH_CUDA_ALLOC_CONF"),
        ("ascend", "cuda", "PYTORCH_NPU_ALLOC_CONF"),
        ("", "npu", "PYTORCH_NPU_ALLOC_CONF"),
        ("", "cuda", "PYTORCH_CUDA_ALLOC_CONF"),
        ("intel", "", "PYTORCH_ALLOC_CONF"),
        ("", "xpu; rm", "PYTORCH_ALLOC_CONF"),
    ],
)
def test_setting(vendor: str, backend: str, setting: str) -> None:
    assert allocator_setting(vendor, backend) == setting
