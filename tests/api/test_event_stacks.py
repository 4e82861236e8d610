"""Columns ``stack`` and ``scope`` of ``.events``, against a plain walk outwards and PyTorch's list of events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import torch_tb_profiler
from tests.examples import examples

SAMPLES = Path(__file__).parents[2] / "samples"


def walked(names: list[str], frames: list[int], row: int) -> str | None:
    """The names of the frames around an event, innermost first."""
    found = []
    while (row := frames[row]) >= 0:
        found.append(names[row])
    return ";".join(found) or None


def check(trace: Any) -> pd.DataFrame:
    events: pd.DataFrame = trace.events
    names, frames = events["name"].tolist(), events["frame"].fillna(-1).astype(int).tolist()
    for row, (role, stack) in enumerate(zip(events["role"], events["stack"], strict=True)):
        expected = None if role == "python" else walked(names, frames, row)
        assert (None if pd.isna(stack) else stack) == expected
    scopes = {one.event: one.scope for one in trace.function_events if one.event >= 0}
    for event, scope in zip(events["event"], events["scope"], strict=True):
        if event in scopes:
            assert (None if pd.isna(scope) else scope) == scopes[event]
    return events


@pytest.mark.parametrize("name", ["cnn_workers_0", "inference"])
def test_of_a_sample(name: str) -> None:
    events = check(torch_tb_profiler.open(SAMPLES / name))
    assert events["stack"].notna().any()
    assert 7 in set(events["scope"].dropna())


def span(name: str, category: str, begin: int, length: int, **args: Any) -> dict[str, Any]:
    place = {"ph": "X", "pid": 1, "tid": 1, "ts": begin, "dur": length}
    return {"name": name, "cat": category, **place, "args": args}


@examples(40)
@given(
    st.lists(st.sampled_from(["f", "g", "aten::mm", "region"]), min_size=1, max_size=12),
    st.integers(1, 3),
)
def test_of_drawn_nestings(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], times: int
) -> None:
    events = []
    for turn in range(times):
        for depth, name in enumerate(names):
            category = {"f": "python_function", "g": "python_function", "region": "user_annotation"}
            text = f"/w/net.py({depth}): {name}" if name in "fg" else name
            begin = turn * 1000 + depth
            events.append(span(text, category.get(name, "cpu_op"), begin, 900 - 2 * depth))
    path = tmp_path_factory.mktemp("nested") / "a.pt.trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    check(torch_tb_profiler.open(str(path), use_cache=False))


def test_what_is_written_is_kept_and_functions_of_the_graph_have_their_scope(
    tmp_path: Path,
) -> None:
    engine = "autograd::engine::evaluate_function: MmBackward0"
    events = [
        span("/w/net.py(3): step", "python_function", 0, 100),
        span("aten::mm", "cpu_op", 10, 5, **{"Call stack": "net.py(9): forward;main.py(1): main"}),
        span("aten::add", "cpu_op", 20, 5),
        span(engine, "cpu_op", 30, 20),
        span("MmBackward0", "cpu_op", 31, 10),
        span("TBackward0", "cpu_op", 60, 5, **{"Fwd thread id": 1}),
        span("region", "user_annotation", 70, 5),
    ]
    path = tmp_path / "a.pt.trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    frame = torch_tb_profiler.open(str(path), use_cache=False).events
    found = dict(zip(frame["name"], zip(frame["stack"], frame["scope"], strict=True), strict=True))
    assert found["aten::mm"][0] == "net.py(9): forward;main.py(1): main"
    assert found["aten::add"][0] == "/w/net.py(3): step"
    scopes = {name: scope for name, (_, scope) in found.items() if not pd.isna(scope)}
    assert scopes == {"MmBackward0": 1, "TBackward0": 1, "region": 7}
