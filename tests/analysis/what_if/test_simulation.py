"""Replays and changes counted off drawings; a column is a microsecond."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.builders.drawn import events, trace_of
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.what_if import model
from torch_tb_profiler.analysis.what_if.changes import CHANGES, PRESETS, read_change
from torch_tb_profiler.analysis.what_if.simulation import Simulation
from torch_tb_profiler.analysis.what_if.table import edits
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.store.insight_schema import PathCause

DEVICE_BOUND = """
main    [ProfilerStep#1                                      ]
main     [aten::mm][aten::mm]         [aten::item          ]
main      <run #1>  <run #2>           <cudaStreamSynchronize>
gpu 7             {a #1           }{b #2               }
"""
HOST_BOUND = """
main    [ProfilerStep#1                     ]
main     [aten::mm   ] [aten::add           ]
main       <launch #1>   <launch #2>
gpu 7          {a #1}         {b #2}
"""


def simulation(drawing: str, **names: str) -> Simulation:
    trace = trace_of(events(drawing, names))
    facts = derive(trace)
    return Simulation(trace, facts, build_insight(trace, facts))


def step(of: Simulation, *changes: str) -> float:
    """Predicted length of the first step, µs."""
    applied = [read_change(text) for text in changes]
    prediction, path = of.predict(edits(applied), np.array([0]))
    scale = prediction.measured[0] / prediction.replayed[0]
    assert path.sum() * scale == pytest.approx(prediction.predicted[0], rel=1e-6)
    return float(prediction.predicted[0]) / 1000


def test_nothing_changed_is_what_was_measured() -> None:
    for drawing in (DEVICE_BOUND, HOST_BOUND):
        simulated = simulation(drawing)
        table = simulated.scene.facts["steps"]
        assert step(simulated) == (table["end"][0] - table["start"][0]) / 1000


@pytest.mark.parametrize("kept", [0, 60, 1 << 27])
def test_what_changes_choose_is_kept_within_bounds(
    kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a graph that is asked again answers as a new one does."""
    monkeypatch.setattr(model, "_KEPT_BYTES", kept)
    again = simulation(HOST_BOUND)
    for one, other in pairwise(PRESETS):
        for changes in ((one,), (one, other)):
            assert step(again, *changes) == step(simulation(HOST_BOUND), *changes)
    chosen = [again.scene.once(key, lambda: None) for key in list(again.scene._chosen)]
    assert sum(model._bytes(each) for each in chosen) <= max(kept, model._bytes(chosen[-1]))


def test_kernels_behind_a_full_queue_shorten_the_step() -> None:
    assert step(simulation(DEVICE_BOUND), "scale:kernel=b,factor=2") == 54 + 21
    # The host comes to its call 17 columns before b ends: that much and no more can be saved.
    assert step(simulation(DEVICE_BOUND), "scale:kernel=*,factor=0.5") == 54 - 17


def test_kernels_of_a_slow_host_do_not() -> None:
    assert step(simulation(HOST_BOUND), "scale:kernel=*,factor=0") == 37


def test_host_time_of_a_slow_host_does() -> None:
    # All of the host is inside aten::add from column 15 on, 22 columns, of them half goes.
    assert step(simulation(HOST_BOUND), "scale:operator=aten::add,factor=0.5") == 37 - 11


def test_without_a_synchronization_the_step_ends_with_the_device() -> None:
    drawing = """
main    [ProfilerStep#1                                      ]
main     <run #1>  <cudaStreamSynchronize  >  [aten::mm     ]
gpu 7             {a #1                 }
"""
    # Without the call the host ends in column 29, and a in column 33.
    assert step(simulation(drawing), "no-sync") == 33


def test_a_batch_that_is_ready_takes_no_time() -> None:
    drawing = """
main    [ProfilerStep#1                ]
main     [load             ] [aten::mm ]
"""
    simulated = simulation(drawing, load="enumerate(DataLoader)#_Iter.__next__")
    assert step(simulated, "dataloader-ready") == 33 - 20


def test_work_that_waited_for_another_stream_follows_it() -> None:
    drawing = """
main    [ProfilerStep#1      ]
main     <a #1><b #2>
gpu 7        {a #1              }
gpu 20                            {ncclKernel #2}
"""
    simulated = simulation(drawing)
    saved = step(simulated) - step(simulated, "scale:kernel=a,factor=0.5")
    assert saved == pytest.approx(20 / 2, rel=0.05)


def test_a_thread_that_waits_goes_on_when_the_other_ends() -> None:
    drawing = """
main    [ProfilerStep#1                         ]
main     [aten::mm]/f.py(1): backward          /
worker               [MmBackward0] [AddBackward]
"""
    simulated = simulation(drawing)
    assert step(simulated, "scale:operator=MmBackward0,factor=0") == 41 - 13


def test_a_thread_that_begins_with_a_wait_begins_when_it_did_without_it() -> None:
    drawing = """
worker  <run #1>
main      <cudaStreamSynchronize  >[aten::mm     ]
gpu 7            {a #1           }
"""
    simulated = simulation(drawing)
    changed = edits([read_change("no-sync")])
    assert simulated.replayed.tolist() == [42_000]
    # From its begin at 2 the thread goes on with the operator, and the work ends at 26.
    assert simulated.lengths(simulated.changed(changed)).tolist() == [26_000]


def test_what_was_before_the_first_step_lasts_as_long_as_it_did() -> None:
    drawing = """
main    [load ]<l #1>[ProfilerStep#1]
main                   <l #2>
gpu 7                {a #1      }{b #2      }
"""
    simulated = simulation(drawing)
    assert simulated.replayed.tolist() == [24_000]
    for text in ("host:factor=0.5", "scale:kernel=a,factor=0.5", "scale:kernel=a,factor=1.5"):
        assert simulated.lengths(simulated.changed(edits([read_change(text)]))).tolist() == [24_000]
    half = simulated.changed(edits([read_change("scale:kernel=*,factor=0.5")]))
    assert simulated.lengths(half).tolist() == [18_000]


def test_what_several_changes_save_together_is_not_their_sum() -> None:
    simulated = simulation(DEVICE_BOUND)
    texts = ("scale:kernel=*,factor=0.5", "scale:kernel=b,factor=0.2")
    alone = [54 - step(simulated, text) for text in texts]
    assert max(alone) <= 54 - step(simulated, *texts) < sum(alone)


def test_the_path_after_a_change_is_a_new_one() -> None:
    simulated = simulation(DEVICE_BOUND)
    applied = [read_change("scale:kernel=*,factor=0")]
    _, path = simulated.predict(edits(applied), np.array([0]))
    assert path[PathCause.KERNEL] == 0
    assert path[PathCause.OPERATOR] + path[PathCause.RUNTIME] > 0


def test_slack_is_how_much_later_an_event_could_end() -> None:
    simulated = simulation("""
main    [ProfilerStep#1                                 ]
main     <l #1><m #2>   <cudaStreamSynchronize   >
gpu 7        {a #1                  }
gpu 20             {b #2    }
""")
    table, spans = simulated.slack_table(), simulated.scene.trace["spans"]
    end = simulated.scene.facts["steps"]["end"][0]
    for name, slack in (("a", 0), ("b", end - 21_000)):
        row = [simulated.scene.trace.strings[n] for n in spans["name"].tolist()].index(name)
        own = (table["track"] == spans["track"][row]) & (
            table["time"] == spans["start"][row] + spans["dur"][row]
        )
        # a lets the host go on; b only must end with the step.
        assert table["slack"][own].tolist() == [slack]


@pytest.mark.parametrize("name", list(CHANGES))
def test_every_change_has_words_and_meanings(name: str) -> None:
    change = CHANGES[name]
    assert change.words
    assert set(change.about) == set(change.defaults)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("faster", "no change is called"),
        ("host:speed=2", "has no parameter 'speed'"),
        ("host:factor=much", "Give a number"),
        ("host:factor=-1", "Give a number"),
        ("peak:share=0", "above 0"),
        ("scale:factor=0.5", "needs one of"),
        ("scale:kind=wood", "No kind is called"),
    ],
)
def test_a_change_that_cannot_be_is_refused(text: str, says: str) -> None:
    with pytest.raises(BadRequest, match=f"(?i){says}"):
        read_change(text)


def test_names_of_kernels_may_hold_commas() -> None:
    values = read_change("scale:kernel=void f<2, float>(int),factor=0.25").values
    assert (values["kernel"], values["factor"]) == ("void f<2, float>(int)", "0.25")


def test_presets_are_changes() -> None:
    assert [str(read_change(text)).partition(":")[0] for text in PRESETS] == [
        text.partition(":")[0] for text in PRESETS
    ]
