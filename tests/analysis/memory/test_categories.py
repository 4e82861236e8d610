"""What blocks are for by their lives: one rule after the other, and bands that add up to the curve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.memory.recorded import built, case, insight
from tests.analysis.memory.simulated import RECORDS, as_events
from tests.builders.drawn import trace_of
from tests.builders.loop import span
from tests.builders.snapshots import pickled
from tests.builders.splitting import (
    BACKWARD,
    DATA,
    FORWARD,
    MODULE,
    OPTIMIZER,
    Splitting,
    train,
)
from tests.examples import examples
from tests.importers.reading import Stream
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.memory.window import by_category, curve_in
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.categories import BLOCK_CATEGORIES, CATEGORY_RULES
from torch_tb_profiler.store.insight import Insight

LOOP = """
main [enumerate(DataLoader)#it] [aten::zeros] [autograd::engine::evaluate_function: Mm] [Optimizer.step#Adam] [Optimizer.zero_grad#Adam] [aten::ones]
"""
DATALOADER, LINEAR, EVALUATE, STEP, ZERO, NEXT = 6, 35, 60, 105, 135, 165
"""Columns, and so microseconds, within these spans of the drawing."""


def told(found: Insight) -> list[tuple[int, str, str]]:
    """(bytes, category, rule) of each block by size; empty texts are unknown."""
    table = found["allocations"]
    sizes, categories, rules = (table[name].tolist() for name in ("bytes", "category", "rule"))
    return sorted(
        (
            size,
            BLOCK_CATEGORIES[category] if category >= 0 else "",
            CATEGORY_RULES[rule][1] if rule >= 0 else "",
        )
        for size, category, rule in zip(sizes, categories, rules, strict=True)
    )


def life(begin: int, end: int | None) -> tuple[str, str]:
    """The category and the rule of one block of the loop."""
    release = f"\nmain {end} gpu0 a -64" if end else ""
    ((_, category, rule),) = told(insight(f"main {begin} gpu0 a +64{release}", LOOP))
    return category, rule


@pytest.mark.parametrize(
    ("begin", "end", "wanted"),
    [
        (DATALOADER, LINEAR, ("input", "loaded")),
        (DATALOADER, DATALOADER + 2, ("temporary", "within a phase")),
        (LINEAR, EVALUATE, ("activation", "released in backward")),
        (LINEAR, LINEAR + 2, ("temporary", "within a phase")),
        (LINEAR, STEP, ("", "")),
        (LINEAR, None, ("kept", "past its step")),
        (EVALUATE, ZERO, ("gradient", "held for the optimizer")),
        (EVALUATE, None, ("gradient", "held for the optimizer")),
        (EVALUATE, EVALUATE + 3, ("temporary", "within a phase")),
        (STEP, None, ("optimizer_state", "kept by the optimizer")),
        (STEP, STEP + 2, ("temporary", "within a phase")),
        (STEP, NEXT, ("", "")),
        (NEXT, None, ("kept", "past its step")),
    ],
)
def test_a_block_is_told_by_its_life(begin: int, end: int | None, wanted: tuple[str, str]) -> None:
    assert life(begin, end) == wanted


def test_a_gradient_may_be_released_before_any_optimizer_runs() -> None:
    drawing = "main [aten::mm] [autograd::engine::evaluate_function: Mm] [Optimizer.zero_grad#Adam]"
    ((_, *found),) = told(insight("main 20 gpu0 a +64\nmain 75 gpu0 a -64", drawing))
    assert found == ["gradient", "held for the optimizer"]


def test_a_recording_without_phases_or_steps_tells_nothing() -> None:
    assert told(insight("main 3 gpu0 a +64\nmain 9 gpu0 a -64", "main [aten::mm      ]")) == [
        (64, "", "")
    ]


def test_what_an_optimizer_step_may_still_release_is_no_state() -> None:
    drawing = "main [aten::zeros] [Optimizer.step#Adam      ]"
    assert told(insight("main 25 gpu0 a +64", drawing)) == [(64, "kept", "past its step")]


STEPS = """
main [ProfilerStep#1                                        ][ProfilerStep#2                                        ]
main [aten::mm][autograd::engine::evaluate_function: A     ] [aten::mm] [autograd::engine::evaluate_function: B    ]
"""
BORDER = STEPS.split("\n")[1].index("[ProfilerStep#2")
LATEST = BORDER + 55


@examples(40)
@given(st.integers(6, LATEST), st.none() | st.integers(7, LATEST))
def test_what_its_step_does_not_release_is_kept_and_never_temporary(
    begin: int, end: int | None
) -> None:
    if end is not None and end <= begin:
        return
    release = f"\nmain {end} gpu0 a -64" if end else ""
    ((_, category, _),) = told(insight(f"main {begin} gpu0 a +64{release}", STEPS))
    if end is None or (begin < BORDER <= end):
        assert category == "kept"
    else:
        assert category in ("temporary", "activation", "")


MODULES = """
main [aten::randn ] /nn.Module: Linear_0      /  [aten::add] [autograd::engine::evaluate_function: Mm] [aten::ones]
main                    [aten::addmm]
"""


def test_modules_tell_inputs_from_activations() -> None:
    first = MODULES.split("\n")[1]
    randn, linear, add, backward, last = (
        first.index(name) for name in ("aten::r", "Linear", "aten::a", "engine", "aten::o")
    )
    found = insight(
        f"""
        main {randn} gpu0 a +1
        main {linear} gpu0 b +2
        main {add} gpu0 c +4
        main {backward} gpu0 a -1
        main {backward + 1} gpu0 c -4
        main {last} gpu0 b -2
        """,
        MODULES,
    )
    assert told(found) == [
        (1, "input", "ahead of the modules"),
        (2, "activation", "held through backward"),
        (4, "activation", "released in backward"),
    ]


def of(device: Splitting) -> Insight:
    trace = read_trace(Stream(pickled(device.snapshot())), Settings())
    return built(trace, derive(trace))


def test_stacks_of_a_snapshot_tell_what_the_program_did() -> None:
    device, kept = train()
    found = of(device)
    table = found["allocations"]
    alive = np.flatnonzero(table["release"] < 0)
    for category, addresses in kept.items():
        rows = alive[np.isin(table["address"][alive], list(addresses))]
        assert len(rows) == len(addresses)
        assert set(table["category"][rows].tolist()) == {BLOCK_CATEGORIES.index(category)}
    gone = np.flatnonzero(table["release"] >= 0)
    own = found.strings.many(table["frames"][gone])
    wanted = {"dataloader": {"input"}, "Engine": {"temporary", "gradient"}}
    for word, categories in wanted.items():
        said = [row for row, text in zip(gone.tolist(), own, strict=True) if word in text]
        assert said
        assert {BLOCK_CATEGORIES[table["category"][row]] for row in said} <= categories
    layers = [row for row, text in zip(gone.tolist(), own, strict=True) if "/w/layer" in text]
    assert {BLOCK_CATEGORIES[table["category"][row]] for row in layers} == {
        "activation",
        "temporary",
    }


def test_what_was_there_before_the_buffer_is_told_by_its_stack() -> None:
    device = Splitting()
    frames: tuple[str, ...]
    for frames in (MODULE, OPTIMIZER, FORWARD):
        device.alloc(1000, frames)
    device.entries.clear()
    for frames in (DATA, FORWARD, BACKWARD, OPTIMIZER):
        device.free(device.alloc(50, frames), frames)
    assert [row[1:] for row in told(of(device)) if row[0] == 1000] == [
        ("kept", "past its step"),
        ("optimizer_state", "kept by the optimizer"),
        ("parameter", "built by a module"),
    ]


def test_a_category_that_the_program_named_is_recorded() -> None:
    device = Splitting()
    device.alloc(1000, FORWARD)
    device.entries[-1]["user_metadata"] = "Optimizer States"
    assert told(of(device)) == [(1000, "optimizer_state", "")]


NAMES = ("aten::mm", "autograd::engine::evaluate_function: Mm", "Optimizer.step#Adam")


@examples(60)
@given(RECORDS, st.lists(st.tuples(st.integers(0, 90), st.sampled_from(NAMES)), max_size=8))
def test_bands_add_up_to_the_curve_and_are_what_one_counts(
    listed: list[tuple[int, int, int, bool]], calls: list[tuple[int, str]]
) -> None:
    spans = [
        span("cpu_op", name, 100, 1, begin, 2)
        for begin, name in {begin - begin % 3: name for begin, name in calls}.items()
    ]
    trace = trace_of([*as_events([], listed), *spans])
    found = built(trace, derive(trace))
    if not found.about["memory_begin_categories"]:
        return
    curve, table = found["memory_curve"], found["allocations"]
    bands = by_category(found, 0, np.arange(-1, curve.n))
    begin = int(found["memory_devices"]["begin"][0])
    assert bands.sum(axis=0).tolist() == [begin, *curve["allocated"].tolist()]
    for number in range(len(BLOCK_CATEGORIES)):
        own = table["category"] == number
        for record in range(-1, curve.n):
            begun = own & (table["record"] <= record)
            ended = own & (table["release"] >= 0) & (table["release"] <= record)
            grown = curve["bytes"][table["record"][begun]].sum()
            shrunk = curve["bytes"][table["release"][ended]].sum()
            assert bands[number, record + 1] == grown + shrunk


def test_few_points_of_a_long_curve_keep_its_extremes() -> None:
    draw = np.random.default_rng(3)
    size = draw.integers(-1000, 1000, 4000)
    written = "\n".join(
        f"main {i} gpu0 - {change:+d} {10**7 + total}"
        for i, (change, total) in enumerate(zip(size, np.cumsum(size), strict=True))
    )
    long = insight(written)
    few, all_ = (curve_in(long, 0, (0, 10**9), points) for points in (16, 10**4))
    assert (few.peak, few.peak_time) == (all_.peak, all_.peak_time)
    assert (few.allocated.max(), few.allocated.min()) == (
        all_.allocated.max(),
        all_.allocated.min(),
    )
    assert few.allocated[-1] == all_.allocated[-1]
    assert few.thinned


def test_categories_of_a_device_without_blocks_are_none() -> None:
    _, _, found = case("main 1 gpu0 - +5 5\nmain 2 gpu0 - -5 0")
    assert by_category(found, 0, np.array([0, 1])).shape == (0, 2)


def test_what_grows_from_layer_to_layer_to_the_end_is_kept() -> None:
    """A forward pass that keeps the output of each layer, and releases its other blocks as it goes."""
    spans = "[enumerate(DataLoader)#it] " + "[aten::linear    ] " * 6 + "[enumerate(DataLoader)#it]"
    line = f"main {spans}"
    begins = [at for at in range(len(line)) if line.startswith("[aten::linear", at)]
    written = []
    for number, at in enumerate(begins):
        written.append(f"main {at + 1} gpu0 {chr(97 + number)} +{64 + number}")
        written.append(f"main {at + 3} gpu0 z +8")
        written.append(f"main {at + 6} gpu0 z -8")
    end = begins[-1] + 12
    written += [
        f"main {end} gpu0 {chr(97 + number)} -{64 + number}" for number in range(len(begins))
    ]
    found = told(insight("\n".join(written), line))
    kinds = {size: rule for size, _, rule in found}
    # Nothing tells what the last layer keeps from what it only uses.
    assert {kinds[64 + number] for number in range(5)} == {"to the end of its phase"}
    assert kinds[8] == "within a phase"
