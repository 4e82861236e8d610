"""What is said of a mistake that is easily made: the choices, and where to find what was looked
for.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import pytest

import torch_tb_profiler
from tests.api.traces import write
from torch_tb_profiler.api.frames import RunFrames, TraceFrames
from torch_tb_profiler.errors import (
    BadRequest,
    MissingPackage,
    NotFound,
    ProfilerError,
    SourceError,
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFrames:
    frames = torch_tb_profiler.open(
        write(tmp_path_factory.mktemp("run"), "rank0", "rank1"), use_cache=False
    )
    assert isinstance(frames, RunFrames)
    return frames


MISTAKES: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "by": (
        lambda one: one.operators(by="shap"),
        BadRequest,
        "by='shap' is not known. Take one of: name, shape, stack.",
    ),
    "sort_by": (
        lambda one: one.key_averages().table(sort_by="self_cuda"),
        BadRequest,
        "rows cannot be sorted by that. Take one of: count, cpu_memory_usage,",
    ),
    "sort_by of no text": (
        lambda one: one.key_averages().table(sort_by=3),
        BadRequest,
        "sort_by=3: rows cannot be sorted by that. Take one of: ",
    ),
    "metric": (
        lambda one: one.export_stacks("x", "cpu"),
        BadRequest,
        "metric='cpu' is not known. Take one of: self_cpu_time_total, ",
    ),
    "device": (
        lambda one: one.memory_alive(device="GPU 7"),
        NotFound,
        "There is no memory device 'GPU 7'. The trace has none. PyTorch's profiler writes them with ",
    ),
    "time": (lambda one: one.memory_alive(0.5), TypeError, "integer"),
    "step": (lambda one: one.operators(steps=9), IndexError, "step 9 does not exist; there are 2"),
    "steps": (
        lambda one: one.operators(steps=[0, 1]),
        TypeError,
        "a first and a last one like (2, 4)",
    ),
    "path": (
        lambda one: torch_tb_profiler.open("nowhere/at/all"),
        SourceError,
        "does not exist. Give a trace file, a run folder or a logdir.",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_answered_with_the_choices(mistake: str, run: RunFrames) -> None:
    ask, kind, text = MISTAKES[mistake]
    with pytest.raises(kind) as caught:
        ask(run[0])
    assert text in str(caught.value)


def test_what_is_of_one_trace_is_found_there(run: RunFrames) -> None:
    for name in ("key_averages", "export_stacks", "facts"):
        with pytest.raises(
            AttributeError, match=rf"'{name}' belongs to one trace: run\[0\]\.{name}"
        ):
            getattr(run, name)
    with pytest.raises(AttributeError, match="object has no attribute 'operator'"):
        _ = run.operator
    with pytest.raises(IndexError, match="there is no trace 2; there are 2"):
        _ = run[2]
    with pytest.raises(NotFound, match="There is no worker 'rank9'"):
        _ = run["rank9"]
    assert run[-1].worker == "rank1"


def test_an_error_while_a_table_is_made_stays_itself(
    run: RunFrames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunFrames, "workers", property(lambda self: self.nothing_of_the_name))
    with pytest.raises(AttributeError, match="nothing_of_the_name"):
        _ = run.workers


@pytest.mark.parametrize(
    "error", [BadRequest("A.", "B.", more=1), MissingPackage("A.", "B."), ProfilerError("A. B.")]
)
def test_an_error_says_what_to_do_and_can_be_sent(error: ProfilerError) -> None:
    assert str(error) == "A. B."
    sent = pickle.loads(pickle.dumps(error))
    assert (str(sent), sent.payload(), type(sent)) == (str(error), error.payload(), type(error))


def test_traces_can_be_sent_to_other_processes(run: RunFrames, tmp_path: Path) -> None:
    findings = run.findings
    for sent in (pickle.loads(pickle.dumps(run)), copy.deepcopy(run)):
        assert isinstance(sent, RunFrames)
        pandas.testing.assert_frame_equal(sent.events, run.events)
        pandas.testing.assert_frame_equal(sent.findings, findings)
    one = pickle.loads(pickle.dumps(run[0].in_steps(1)))
    assert isinstance(one, TraceFrames)
    assert one.steps["step"].tolist() == [1]
    averages = run[0].key_averages()
    assert pickle.loads(pickle.dumps(averages)).table() == averages.table()
