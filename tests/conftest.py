"""Fixtures that every room's tests share, the marks of the tests, and how many run at once."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest

from tests.examples import absent, load

REPOSITORY = Path(__file__).resolve().parents[1]
REAL_TRACES = REPOSITORY.parent / "shared" / "traces"
MARK_OF_FOLDER = {"e2e": "browser", "live": "live", "runs": "processes", "cases": "slow"}
SLOW = {"browser", "live", "traces", "processes", "slow", "nightly"}
MOST_WORKERS = 8
PAGE = REPOSITORY / "torch_tb_profiler" / "static" / "index.js"

if sys.dont_write_bytecode:
    # Nothing is written beside the code; and what the tests start need not compile everything anew.
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(REPOSITORY / ".pytest_cache" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """What the runs of `.ci/run` say to each other."""
    group = parser.getgroup("passed")
    group.addoption("--write-passed", metavar="FILE", help="write the ids of the tests that pass")
    group.addoption(
        "--without-passed", metavar="FILE", help="leave out the tests whose ids are in FILE"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Before tests are collected: how many examples they try. Only the process that hears of all tests writes which passed."""
    load("few" if config.option.markexpr == "quick" else "")
    path = config.getoption("--write-passed")
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Passed(Path(path)))


class _Passed:
    """A line per test that passed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ids: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.ids.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self.path.write_text("".join(f"{each}\n" for each in self.ids), encoding="utf-8")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks by folder and by what a test uses; ``quick`` is what has no mark of ``SLOW``."""
    if path := config.getoption("--without-passed"):
        passed = set(Path(path).read_text(encoding="utf-8").splitlines())
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in passed])
        items[:] = [item for item in items if item.nodeid not in passed]
    for item in items:
        folder = item.path.relative_to(REPOSITORY / "tests").parts[0]
        if folder in MARK_OF_FOLDER:
            item.add_marker(MARK_OF_FOLDER[folder])
        if _uses_public_traces(item):
            item.add_marker("traces")
        if not any(item.get_closest_marker(mark) for mark in SLOW):
            item.add_marker("quick")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are counted, not shown: packed ones differ with the second and the version of zlib, and
    all processes and runs must call a test by the same name.
    """
    return argname if isinstance(val, bytes) else None


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: nobody looks through it for cycles again. Nor is most of what a test
    makes looked through twice; syntax trees of everything took four times as long as reading it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_sessionfinish() -> None:
    """Pytest and Python look for cycles again and again at their ends."""
    gc.collect()
    gc.freeze()


def _uses_public_traces(item: pytest.Item) -> bool:
    if "real_traces" in getattr(item, "fixturenames", ()):
        return True
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return any(isinstance(value, Path) and REAL_TRACES in value.parents for value in parameters)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """No workers for single files and tests, where their start takes longer than the tests."""
    if config.args and all(".py" in argument for argument in config.args):
        return 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(cores or 1, MOST_WORKERS)


@pytest.fixture(scope="session")
def built_page() -> Path:
    """The folder of the built page; the test is skipped where it was not built, and fails where
    ``CI`` is set.
    """
    if not PAGE.is_file():
        absent("the page is not built: npm run --prefix fe build")
    return PAGE.parent


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
