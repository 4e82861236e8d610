"""Which examples Hypothesis tries, and how many: a tenth, at least five; all of them where ``CI`` is set or
``HYPOTHESIS_EXAMPLES`` is ``all``, and hardly any where it is ``few`` or the quick tests are run alone.

They are the same each time, on every machine: what fails, fails for everybody. With ``HYPOTHESIS_EXAMPLES=random`` they
are others each time, and all of them; ``benchmarks/draws.py`` repeats that.
"""

from __future__ import annotations

import importlib
import os
from contextlib import suppress
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, settings

CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")
RANDOM = "random"
EXAMPLES = os.environ.get("HYPOTHESIS_EXAMPLES", "")
if CI and EXAMPLES != RANDOM:
    EXAMPLES = "all"


def many(most: int) -> int:
    """So many of the ``most`` examples that a test has in CI."""
    if EXAMPLES in ("all", RANDOM):
        return most
    return min(most, 5 if EXAMPLES == "few" else max(most // 10, 5))


def load(usual: str) -> None:
    """Make these the settings of all tests that say nothing else; ``usual``: where the environment says nothing."""
    global EXAMPLES
    EXAMPLES = EXAMPLES or usual
    if EXAMPLES != RANDOM:
        _leave_modules_out()
    # How long an example takes says how busy the machine is, no more.
    unhurried = settings(
        settings.default,
        max_examples=many(100),
        deadline=None,
        derandomize=EXAMPLES != RANDOM,
        print_blob=EXAMPLES == RANDOM,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.register_profile("unhurried", unhurried)
    settings.load_profile("unhurried")


def _leave_modules_out() -> None:
    """Newer versions of Hypothesis also draw the constants of the modules that are loaded by then, and which these are
    depends on the tests that ran before in the same process.
    """
    with suppress(ImportError, AttributeError):
        providers = importlib.import_module("hypothesis.internal.conjecture.providers")
        nothing = providers._local_constants
        vars(providers)["_get_local_constants"] = lambda: nothing


def examples(most: int) -> settings:
    """Decorates a test that has so many examples in CI."""
    return settings(max_examples=many(most))


def absent(reason: str) -> NoReturn:
    """Skip the test, or fail where ``CI`` says that nothing may be left out."""
    if CI:
        pytest.fail(f"{reason} (with CI set this is a failure)")
    pytest.skip(reason)
