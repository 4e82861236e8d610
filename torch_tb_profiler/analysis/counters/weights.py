"""FLOPs of one count of the instruction counters, for those who add counters up by themselves."""

from __future__ import annotations

from torch_tb_profiler.hardware.counter_names import INSTRUCTION_FLOPS

__all__ = ["INSTRUCTION_FLOPS"]
