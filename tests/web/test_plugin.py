"""The plugin inside TensorBoard's own application, and what its loader does when something is
broken.
"""

from __future__ import annotations

import argparse
import builtins
import json
import logging
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend import application
from tensorboard.plugins import base_plugin
from werkzeug.test import Client

from torch_tb_profiler.plugin_loader import FLAGS, ProfilerLoader

PREFIX = "/data/plugin/pytorch_profiler"


def flags(**values: Any) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    ProfilerLoader().define_flags(parser)
    return argparse.Namespace(
        **{**vars(parser.parse_args([])), "logdir": "", "logdir_spec": "", **values}
    )


def load(**values: Any) -> base_plugin.TBPlugin:
    plugin = ProfilerLoader().load(
        base_plugin.TBContext(flags=flags(**values), logdir=values.get("logdir", ""))
    )
    assert plugin is not None
    return plugin


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A client of TensorBoard with only this plugin over an empty logdir."""
    monkeypatch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "logs").mkdir()
    plugin = load(logdir=str(tmp_path / "logs"))
    yield Client(application.TensorBoardWSGI([plugin]))
    plugin.close()


def wait_for_runs(client: Client) -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        payload: dict[str, Any] = json.loads(client.get(PREFIX + "/runs").data)
        if not payload["scanning"]:
            return payload
        time.sleep(0.02)
    raise AssertionError("the first look at an empty folder did not end within 10 s")


def test_tensorboard_lists_the_tab_and_serves_the_entry(served: Client) -> None:
    listed = json.loads(served.get("/data/plugins_listing").data)["pytorch_profiler"]
    assert listed["enabled"] is True
    assert listed["disable_reload"] is False
    assert listed["tab_name"] == "PYTORCH_PROFILER"
    assert listed["loading_mechanism"] == {
        "type": "IFRAME",
        "module_path": PREFIX + "/static/index.js",
    }
    entry = served.get(PREFIX + "/static/index.js")
    assert (entry.status_code, entry.content_type) == (200, "text/javascript; charset=utf-8")
    assert b"render" in entry.data
    page = served.get("/data/plugin_entry.html?name=pytorch_profiler")
    assert b'import("./static/index.js")' in page.data


def test_routes_through_tensorboard(served: Client, caplog: pytest.LogCaptureFixture) -> None:
    assert wait_for_runs(served)["runs"] == []
    assert served.get(PREFIX + "/diagnosis").status_code == 200
    assert served.get(PREFIX + "/overview?run=a&worker=b&span=c").status_code == 404
    for path in ("/nothing", "/static/../plugin.py", "/static/assets/nothing-12345678.js"):
        assert json.loads(served.get(PREFIX + path).data)["error"]["code"] in (
            "not_found",
            "frontend_missing",
        )
    assert served.post(PREFIX + "/runs").status_code == 405
    assert "In 3.0, this warning will become an error" not in caplog.text


def test_active_wherever_there_is_a_logdir() -> None:
    assert load(logdir="/nowhere/at/all").is_active()
    assert load(logdir_spec="a:/x,b:/y").is_active()
    assert not load().is_active()


def test_the_constructor_touches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    monkeypatch.setattr(
        "torch_tb_profiler.plugin.catalogue_of", lambda *_: started.append("catalogue")
    )
    load(logdir="/nowhere")
    assert started == []


def test_the_specification_wins_over_the_logdir(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    class Nothing:
        def start(self) -> None:
            asked.append("started")

    def catalogue_of(logdir: str, settings: Any, spec: str, remarks: Any) -> Nothing:
        asked.append((logdir, spec, settings.workers, settings.perfetto_url))
        return Nothing()

    monkeypatch.setattr("torch_tb_profiler.plugin.catalogue_of", catalogue_of)
    plugin = load(
        logdir="",
        logdir_spec="a:/x",
        torch_profiler_workers=1,
        torch_profiler_perfetto_url="https://perfetto.example",
    )
    assert plugin.get_plugin_apps() is plugin.get_plugin_apps()
    assert asked == [("", "a:/x", 1, "https://perfetto.example"), "started"]


def test_a_flag_that_is_taken_is_left_to_its_owner(caplog: pytest.LogCaptureFixture) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--perfetto_url", default="theirs")
    with caplog.at_level(logging.WARNING):
        ProfilerLoader().define_flags(parser)
    assert parser.parse_args([]).perfetto_url == "theirs"
    assert "--perfetto_url" in caplog.text
    assert len(FLAGS) == 4


@pytest.mark.parametrize(
    "failure", [ImportError("No module named 'msgspec'"), ValueError("numpy.dtype size changed")]
)
def test_a_broken_installation_costs_the_tab_only(
    failure: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = builtins.__import__

    def broken(name: str, *rest: Any) -> Any:
        if name == "torch_tb_profiler.plugin":
            raise failure
        return real(name, *rest)

    monkeypatch.delitem(sys.modules, "torch_tb_profiler.plugin", raising=False)
    monkeypatch.setattr(builtins, "__import__", broken)
    with caplog.at_level(logging.ERROR):
        assert ProfilerLoader().load(base_plugin.TBContext(flags=flags(), logdir="/x")) is None
    assert "The PyTorch profiler plugin is off" in caplog.text
    assert str(failure) in caplog.text


def test_the_loader_imports_nothing_of_the_plugin_early() -> None:
    import subprocess

    program = (
        "import sys, torch_tb_profiler.plugin_loader;print(sorted(m for m in sys.modules if"
        " m.startswith('torch_tb_profiler') or m in ('numpy.linalg', 'pandas', 'msgspec')))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert set(eval(printed)) <= {
        "torch_tb_profiler",
        "torch_tb_profiler._version",
        "torch_tb_profiler.plugin_loader",
        "numpy.linalg",
    }
