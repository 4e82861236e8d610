"""User-defined performance models: ``register_model``, what a model reads (``Call``, ``Tensor``) and
returns (``Work``). ``CUDA_SASS_INSTRUCTION_COUNTER_FLOPS``: FLOPs of one count of each instruction
counter, by the name that HTA gives the table; source: Nsight Compute's
``SpeedOfLight_RooflineChart.section``.
"""

from __future__ import annotations

from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.counter_names import (
    INSTRUCTION_FLOPS as CUDA_SASS_INSTRUCTION_COUNTER_FLOPS,
)
from torch_tb_profiler.hardware.work import Work
from torch_tb_profiler.hardware.work import model as register_model

__all__ = ["CUDA_SASS_INSTRUCTION_COUNTER_FLOPS", "Call", "Tensor", "Work", "register_model"]
