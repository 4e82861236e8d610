"""Activations of inference servers: fused with a product, and with quantization."""

from __future__ import annotations

from torch_tb_profiler.hardware.work import models_beside

modelled = models_beside(__file__)
