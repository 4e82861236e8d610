"""How many examples Hypothesis tries: a fifth; all of them where ``CI`` is set or
``HYPOTHESIS_EXAMPLES`` is ``all``, and hardly any where it is ``few`` or the quick tests are run alone.
"""

from __future__ import annotations

import os
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, settings

CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")
EXAMPLES = "all" if CI else os.environ.get("HYPOTHESIS_EXAMPLES", "")


def many(most: int) -> int:
    """So many of the ``most`` examples that a test has in CI."""
    if EXAMPLES == "all":
        return most
    return min(most, 5) if EXAMPLES == "few" else max(most // 5, 10)


def load(usual: str) -> None:
    """Make these the settings of all tests that say nothing else; ``usual``: where the environment says nothing."""
    global EXAMPLES
    EXAMPLES = EXAMPLES or usual
    # How long an example takes says how busy the machine is, no more.
    unhurried = settings(
        settings.default,
        max_examples=many(100),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.register_profile("unhurried", unhurried)
    settings.load_profile("unhurried")


def examples(most: int) -> settings:
    """Decorates a test that has so many examples in CI."""
    return settings(max_examples=many(most))


def absent(reason: str) -> NoReturn:
    """Skip the test, or fail where ``CI`` says that nothing may be left out."""
    if CI:
        pytest.fail(f"{reason} (with CI set this is a failure)")
    pytest.skip(reason)
