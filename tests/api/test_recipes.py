"""The recipes of ``docs/guide/recipes.md`` run as they stand there, each where its package is installed."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.api.test_scalars import curves

pytestmark = pytest.mark.slow
BLOCK = re.compile(r"(?:<!-- needs: (\w+) -->\n)?```(python|sh)\n(.*?)```", re.S)
PAGE = Path(__file__).parents[2] / "docs/guide/recipes.md"
RECIPES = {
    f"{language}-{number}": (needed, language, text)
    for number, (needed, language, text) in enumerate(BLOCK.findall(PAGE.read_text("utf-8")))
}
STEP_MS = [38.77599, 58.735383, 58.876132, 66.40611]
STEPS = [3, 4, 5, 6]


@pytest.fixture(scope="module")
def reported(repository: Path, built_page: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with traces and a report."""
    folder = tmp_path_factory.mktemp("reported")
    shutil.copytree(repository / "samples/cnn_workers_0", folder / "log")
    ran("torch-tb-profiler report ./log -o profiler-report.html", "sh", folder)
    return folder


@pytest.fixture
def here(reported: Path, tmp_path: Path) -> Path:
    """A copy of that folder, for a test of its own to write to."""
    return shutil.copytree(reported, tmp_path / "here")


def ran(text: str, language: str, folder: Path) -> None:
    command = [sys.executable, "-c", text] if language == "python" else ["bash", "-ec", text]
    settings = {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "GIT_PYTHON_REFRESH": "quiet"}
    tracking = {"MLFLOW_TRACKING_URI": f"file:{folder}/mlruns", "MLFLOW_ALLOW_FILE_STORE": "true"}
    scripts = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **settings, **tracking, "PATH": scripts}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def recipe(words: str) -> tuple[str, str]:
    """The one block that has these words, if what it needs is installed."""
    [(needed, language, text)] = [found for found in RECIPES.values() if words in found[2]]
    if needed:
        pytest.importorskip(needed)
    return text, language


def test_weights_and_biases(here: Path) -> None:
    ran(*recipe("wandb.init"), here)
    [history] = here.glob("wandb/offline-run-*/*.wandb")
    kept = history.read_bytes()
    assert [str(ms).encode() in kept for ms in STEP_MS] == [True] * 4
    [page] = here.glob("wandb/offline-run-*/files/media/html/profiler/*.html")
    assert "<script" in page.read_text("utf-8")


def test_mlflow(here: Path) -> None:
    ran(*recipe("mlflow.start_run"), here)
    [curve] = here.glob("mlruns/0/*/metrics/profiler/step_time_ms")
    points = [line.split()[1:] for line in curve.read_text().splitlines()]
    assert [(float(ms), int(step)) for ms, step in points] == list(zip(STEP_MS, STEPS, strict=True))
    assert len(list(here.glob("mlruns/0/*/artifacts/profiler-report.html"))) == 1


def test_a_dashboard(here: Path) -> None:
    ran(*recipe("--to csv"), here)
    rows = list(csv.DictReader((here / "steps.csv").read_text().splitlines()))
    assert [int(row["wall_ns"]) / 1e6 for row in rows] == STEP_MS
    ran(*recipe("--what scalars\n"), here)
    assert [step for step, _ in curves(here / "log/scalars")["profiler/step_time_ms"]] == STEPS


def test_a_comparison_every_night(here: Path) -> None:
    ran(*recipe("[ -e "), here)
    ran(*recipe("baseline compare nightly"), here)
    assert 'failures="0"' in (here / "nightly.xml").read_text()


def test_each_recipe_has_its_test() -> None:
    assert len(RECIPES) == 6
