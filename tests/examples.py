"""How many examples Hypothesis tries: all of them where ``CI`` is set, or
``HYPOTHESIS_EXAMPLES`` is ``all``, else a fifth.
"""

from __future__ import annotations

import os
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, settings

CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")
ALL = CI or os.environ.get("HYPOTHESIS_EXAMPLES") == "all"


def load() -> None:
    """Make these the settings of all tests that say nothing else."""
    # How long an example takes says how busy the machine is, no more.
    unhurried = settings(
        settings.default,
        max_examples=100 if ALL else 20,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.register_profile("unhurried", unhurried)
    settings.load_profile("unhurried")


def examples(most: int) -> settings:
    """Decorates a test that has so many examples in CI."""
    return settings(max_examples=most if ALL else max(most // 5, 10))


def absent(reason: str) -> NoReturn:
    """Skip the test, or fail where ``CI`` says that nothing may be left out."""
    if CI:
        pytest.fail(f"{reason} (with CI set this is a failure)")
    pytest.skip(reason)
