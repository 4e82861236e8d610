"""User-defined performance models: ``register_model``, what a model reads (``Call``, ``Tensor``) and
returns (``Work``).
"""

from __future__ import annotations

from torch_tb_profiler.analysis.efficiency.models import Call, Tensor, Work, register_model

__all__ = ["Call", "Tensor", "Work", "register_model"]
