"""``/what_if``: the usual changes, those asked for, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace
from werkzeug.test import Client

from tests.builders.drawn import events, trace_of
from tests.views import hand_made
from tests.web.served import WrittenCatalogue, body, client, error_of
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.what_if.changes import CHANGES, MOST, read_changes
from torch_tb_profiler.analysis.what_if.model import pattern
from torch_tb_profiler.runs import simulations
from torch_tb_profiler.runs.model import OpenedInsight
from torch_tb_profiler.runs.simulations import Simulations
from torch_tb_profiler.settings import Settings

DRAWING = """
main    [ProfilerStep#1                    ](ProfilerStep#2                    )
main     [aten::mm][aten::item            ] [aten::mm][aten::item            ]
main      <run #1>  <cudaStreamSynchronize>  <run #2>  <cudaStreamSynchronize>
gpu 7             {gemm #1         }                 {gemm #2         }
"""
"""Two steps of 36 µs, of which a kernel takes 18: the host waits for it."""
WHERE = {"run": "run", "worker": "w0", "span": "1"}


def client_of(drawing: str) -> Client:
    trace = trace_of(events(drawing) if drawing else [])
    opened = replace(hand_made.opened(derive(trace)), trace=trace)
    return client(WrittenCatalogue(opened))


def asked(drawing: str = DRAWING, **query: str) -> dict[str, Any]:
    response = client_of(drawing).get("/what_if", query_string=WHERE | query)
    assert response.status_code == 200, body(response)
    found: dict[str, Any] = json.loads(body(response))
    return found


def test_the_usual_changes_are_ranked_by_what_they_save() -> None:
    found = asked()
    assert (found["steps"], found["measured_ns"], found["replay_error"]) == (2, 36_000, 0)
    saved = found["presets"]["saved_ns"]
    assert saved == sorted(saved, reverse=True)
    assert found["presets"]["change"][0] == "no-sync"
    assert found["prediction"] is None


def test_nothing_is_simulated_without_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Simulations, "of", lambda *_: pytest.fail("made a graph"))
    assert asked()["presets"]["change"]


def test_one_change() -> None:
    found = asked(change="scale:kernel=gemm,factor=0.5")["prediction"]
    assert found["changes"] == [
        {"change": "scale:kernel=gemm,factor=0.5", "words": "Time of kernel gemm × 0.5"}
    ]
    assert (found["measured_ns"], found["predicted_ns"]) == (36_000, 27_000)
    kinds = found["kinds"]
    kernel = kinds["kind"].index("kernel")
    assert (kinds["measured_ns"][kernel], kinds["predicted_ns"][kernel]) == (18_000, 9_000)
    assert (sum(found["kinds"]["measured_ns"]), sum(found["kinds"]["predicted_ns"])) == (
        36_000,
        27_000,
    )
    assert found["steps"]["saved"] == [0.25, 0.25]


def test_several_changes_are_simulated_together() -> None:
    """A kernel for which nobody waits any more saves less than it does alone."""
    alone, free, both = (
        asked(change=text)["prediction"]["predicted_ns"]
        for text in (
            "scale:kernel=gemm,factor=0.5",
            "no-sync",
            "no-sync;scale:kernel=gemm,factor=0.5",
        )
    )
    assert both < min(alone, free)
    assert 36_000 - both < (36_000 - alone) + (36_000 - free)


def test_only_the_selected_steps() -> None:
    found = asked(change="host:factor=2", steps="1")
    assert (found["steps"], found["prediction"]["steps"]["name"]) == (1, ["ProfilerStep#2"])


def test_a_recording_of_nothing_has_no_steps_to_predict() -> None:
    found = asked("", change="no-sync")
    assert (found["steps"], found["measured_ns"], found["replay_error"]) == (0, None, None)
    assert (found["presets"]["change"], found["prediction"]) == ([], None)


def test_the_host_alone_can_be_simulated() -> None:
    found = asked("main [aten::mm   ]", change="host:factor=0.5")["prediction"]
    assert found["predicted_ns"] * 2 == found["measured_ns"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("faster", "No change is called 'faster'."),
        ("host:speed=2", "The change host has no parameter 'speed'."),
        ("host:factor=nan", "factor of the change host is 'nan'."),
        ("host:factor=-1", "Give a number from 0 to 1000."),
        ("peak:share=0", "Give a number above 0 and at most 1."),
        ("scale:factor=2", "The change scale needs one of: kernel,"),
        ("scale:kind=sleep", "No kind is called 'sleep'."),
        ("no-stragglers", "needs the traces of several ranks"),
        ("no-sync;", "No change is called 'no-sync;'."),
        (";".join(["graph"] * (MOST + 1)), f"at most {MOST} are simulated together"),
    ],
)
def test_what_is_no_change_is_refused(change: str, expected: str) -> None:
    response = client_of(DRAWING).get("/what_if", query_string=WHERE | {"change": change})
    assert response.status_code == 400
    assert expected in error_of(response).error.message


def test_names_may_hold_what_separates_changes() -> None:
    name = "f(T) [with T = float; U = int, factor]"
    first, second = read_changes(f"scale:kernel={name},factor=2;host")
    assert first.values["kernel"] == name
    assert (first.values["factor"], second.change.name) == ("2", "host")


def test_globs() -> None:
    assert pattern("a*[b]?c")("a...[b].c")
    assert not pattern("a*[b]?c")("a...b.c")
    # Takes hours with an expression that goes back.
    assert not pattern("*a" * 40 + "b")("a" * 4096)


def test_every_change_is_declared() -> None:
    declared = {change["name"]: change for change in asked()["catalogue"]}
    assert set(declared) == {change.name for change in CHANGES.values() if not change.of_run}
    assert [name for name, change in declared.items() if change["selects"]] == ["scale"]
    assert all(
        parameter["about"] for change in declared.values() for parameter in change["parameters"]
    )


def test_large_graphs_are_not_kept_together(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = trace_of(events(DRAWING))
    facts = derive(trace)
    opened, insight = replace(hand_made.opened(facts), trace=trace), build_insight(trace, facts)
    a, b = (OpenedInsight(opened, insight, key) for key in "ab")
    kept = Simulations(Settings())
    first = kept.of(a)
    kept.of(b)
    assert kept.of(a) is first
    monkeypatch.setattr(simulations, "MOST_SPANS", trace["spans"].n)
    kept = Simulations(Settings())
    first = kept.of(a)
    assert kept.of(a) is first
    kept.of(b)
    assert kept.of(a) is not first
