"""PyTorch, where it is installed."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import pytest


@pytest.fixture(scope="module")
def torch() -> Any:
    """PyTorch with one thread and a fixed seed; its own warnings on import are not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            module = importlib.import_module("torch")
            importlib.import_module("torch.profiler")
        except ImportError:
            pytest.skip("PyTorch is not installed")
    module.set_num_threads(1)
    module.manual_seed(0)
    return module
