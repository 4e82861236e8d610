"""Performance models, for the rooms that do not see the hardware's: what a user registers, and what
a model reads and returns.
"""

from __future__ import annotations

from torch_tb_profiler.hardware.call import Call as Call
from torch_tb_profiler.hardware.call import Tensor as Tensor
from torch_tb_profiler.hardware.user_models import load as load
from torch_tb_profiler.hardware.user_models import version as version
from torch_tb_profiler.hardware.work import Work as Work
from torch_tb_profiler.hardware.work import model as register_model

__all__ = ["Call", "Tensor", "Work", "load", "register_model", "version"]
