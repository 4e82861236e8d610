"""Names and units of counters, for the rooms that show them."""

from __future__ import annotations

from torch_tb_profiler.hardware.counter_names import DRAM, counter_label, counter_unit

__all__ = ["DRAM", "counter_label", "counter_unit"]
