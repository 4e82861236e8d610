"""Re-exports the performance models of ``hardware`` for rooms that may not import it."""

from __future__ import annotations

from torch_tb_profiler.hardware.call import Call as Call
from torch_tb_profiler.hardware.call import Tensor as Tensor
from torch_tb_profiler.hardware.user_models import load as load
from torch_tb_profiler.hardware.user_models import version as version
from torch_tb_profiler.hardware.work import Work as Work
from torch_tb_profiler.hardware.work import model as register_model

__all__ = ["Call", "Tensor", "Work", "load", "register_model", "version"]
