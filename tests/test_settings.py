"""Settings from the environment: what is given wins, and what means nothing is refused with the
value and an example.
"""

from __future__ import annotations

import pytest

from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.settings import PREFIX, Settings


def test_what_is_given_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PREFIX + "CACHE_DIR", "/from/environment")
    monkeypatch.setenv(PREFIX + "SCAN_SECONDS", "0.5")
    assert Settings.from_environment() == Settings(cache_dir="/from/environment", scan_seconds=0.5)
    assert Settings.from_environment(cache_dir="/given", scan_seconds=None) == Settings(
        cache_dir="/given", scan_seconds=0.5
    )


@pytest.mark.parametrize(
    ("text", "expected"), [("1", True), ("yes", True), ("0", False), ("Off", False), ("", False)]
)
def test_switches(monkeypatch: pytest.MonkeyPatch, text: str, expected: bool) -> None:
    monkeypatch.setenv(PREFIX + "USE_CACHE", text)
    assert Settings.from_environment().use_cache is expected


@pytest.mark.parametrize("text", ["0", "-3", "1000000"])
def test_workers_stay_between_one_and_the_cores(text: str) -> None:
    cores = Settings().workers
    assert Settings.from_environment(workers=int(text)).workers == (
        cores if int(text) > cores else 1
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("WORKERS", "many"),
        ("SCAN_SECONDS", "nan"),
        ("SCAN_SECONDS", "inf"),
        ("SETTLE_SECONDS", "-1"),
        ("MAX_TABLE_ROWS", "-1"),
        ("CHUNK_BYTES", "2 MiB"),
    ],
)
def test_what_means_nothing_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setenv(PREFIX + name, text)
    with pytest.raises(BadRequest, match=rf"{PREFIX}{name} is '{text}', expected a value like "):
        Settings.from_environment()


def test_a_server_passes_over_a_wrong_variable_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_TB_PROFILER_WORKERS", "many")
    problems: list[str] = []
    assert Settings.from_environment(problems).workers == Settings().workers
    assert problems == [
        f"TORCH_TB_PROFILER_WORKERS is 'many', expected a value like {Settings().workers!r}. The"
        " default is used."
    ]
    with pytest.raises(BadRequest):
        Settings.from_environment()
