"""The notebook beside the samples runs from top to bottom, and its kept outputs are those of a run."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.samples.notebook import NOTEBOOK, code_cells, run, run_all

pytestmark = pytest.mark.slow

LIMIT = 100_000


@pytest.fixture(scope="module")
def notebook() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return loaded


@pytest.fixture(scope="module")
def outputs(
    notebook: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> list[list[dict[str, Any]]]:
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        # Those of PyTorch, where it is installed.
        warnings.simplefilter("ignore")
        patch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        return run_all(notebook, NOTEBOOK.parent)


def text(outputs: list[dict[str, Any]]) -> str:
    return "".join(
        "".join(output.get("text") or output["data"]["text/plain"]) for output in outputs
    )


def test_every_cell_runs(notebook: dict[str, Any], outputs: list[list[dict[str, Any]]]) -> None:
    assert len(outputs) == len(code_cells(notebook)) > 10
    shown = "\n".join(map(text, outputs))
    for words in (
        "aten::addmm",
        "ProfilerStep#7",
        "ridge at",
        "model FLOPs utilization",
        "rank5",
        "Mean 55.7 → 37.9 ms",
        "Self CPU time total",
    ):
        assert words in shown, words


def test_the_kept_outputs_are_those_of_a_run(
    notebook: dict[str, Any], outputs: list[list[dict[str, Any]]]
) -> None:
    kept = [cell["outputs"] for cell in code_cells(notebook)]
    assert [[output["output_type"] for output in cell] for cell in kept] == [
        [output["output_type"] for output in cell] for cell in outputs
    ]
    # A recording of one's own takes other times, and one cell shows what is found by rules that are
    # still being refined.
    told = [
        place
        for place, cell in enumerate(kept)
        if "ProfilerStep#7" in text(cell) or "Self CPU time total" in text(cell)
    ]
    assert len(told) == 2
    assert [text(kept[place]) for place in told] == [text(outputs[place]) for place in told]


def test_it_is_a_notebook_without_traces_of_a_machine(notebook: dict[str, Any]) -> None:
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert NOTEBOOK.stat().st_size < LIMIT
    assert [cell["execution_count"] for cell in code_cells(notebook)] == list(
        range(1, len(code_cells(notebook)) + 1)
    )
    assert "Traceback" not in NOTEBOOK.read_text(encoding="utf-8")


def test_a_cell_that_fails_fails_the_run(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        run_all({"cells": [{"cell_type": "code", "source": ["1 / 0"]}]}, tmp_path)
    assert Path.cwd() != tmp_path
    assert run("x = 2\nprint(x)\nx + 1", {}, "cell") == [
        {"output_type": "stream", "name": "stdout", "text": ["2\n"]},
        {
            "output_type": "execute_result",
            "execution_count": None,
            "metadata": {},
            "data": {"text/plain": ["3"]},
        },
    ]
