"""Fixtures that every room's tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parents[1]
REAL_TRACES = REPOSITORY.parent / "shared" / "traces"

# How long an example takes says how busy the machine is, no more.
settings.register_profile(
    "unhurried", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder that holds ``pyproject.toml``."""
    return REPOSITORY


@pytest.fixture(scope="session")
def real_traces() -> Path:
    """The folder of public traces beside the checkout; the test is skipped where it is absent."""
    if not REAL_TRACES.is_dir():
        pytest.skip("the public traces (../shared/traces) are not on this machine")
    return REAL_TRACES


@pytest.fixture(scope="session")
def samples() -> Path:
    """The project's own sample runs."""
    return REPOSITORY / "samples"
