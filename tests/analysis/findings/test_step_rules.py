"""Rules of steps that differ: what compiles again, what only some do, what grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.analysis.findings.cases import Findings, item, launched, made, rules, span
from tests.builders.drawn import Event
from tests.examples import examples
from torch_tb_profiler.units import format_count

FORWARD = (("aten::linear", 300.0), ("aten::relu", 100.0), ("aten::mse_loss", 80.0))
QUICK = examples(12)


def loop(bodies: Sequence[Sequence[tuple[str, float]]], category: str = "cpu_op") -> list[Event]:
    """Steps of calls that follow each other, µs; a call without a name is time in which nothing is recorded; one whose
    name is a Python frame is one.
    """
    entries: list[Event] = []
    now = 0.0
    for number, body in enumerate(bodies):
        begin = now
        now += 5
        for name, length in body:
            kind = "python_function" if ".py(" in name else category
            if name:
                entries.append(span(kind, name, now, length))
            now += length + 2
        entries.append(span("user_annotation", f"ProfilerStep#{number + 3}", begin, now - begin))
    return entries


def compiled(number: int, length: float = 900) -> list[tuple[str, float]]:
    """A compilation, and the region that it makes."""
    return [
        ("_compile.compile_inner (dynamo_timed)", length),
        (f"Torch-Compiled Region: 0/{number}", 20),
    ]


@QUICK
@given(
    name=st.sampled_from(
        (
            "_compile.compile_inner (dynamo_timed)",
            "_compile.compile_inner",
            "entire_frame_compile",
            "torch/_dynamo/convert_frame.py(2522): __call__",
            "torch/jit/_trace.py(700): trace",
            "triton/compiler/compiler.py(226): compile",
        )
    ),
    length=st.floats(100, 5000),
)
def test_compiling_in_every_step_is_named_with_its_time(name: str, length: float) -> None:
    inner = (
        name if "convert_frame" not in name else "torch/_dynamo/convert_frame.py(5): compile_inner"
    )
    body = [*FORWARD[:1], (name, length), *FORWARD[1:]]
    entries = loop([body] * 6)
    if inner != name:
        entries += [
            span("python_function", inner, one["ts"] + 1, length / 2)
            for one in entries
            if one["name"] == name
        ]
    one = item(made(entries), "recompiles")
    assert one["recoverable_ns"] == pytest.approx(length * 1000, rel=0.02)
    assert one["numbers"]["in_steps"] == one["numbers"]["compilations"] == 6


def test_the_frame_and_the_sizes_that_change_are_told() -> None:
    entries = loop([[*FORWARD, *compiled(number)] for number in range(4, 10)])
    regions = [entry for entry in entries if entry["name"].startswith("Torch-Compiled")]
    for number, region in enumerate(regions):
        dims: Any = [[64, 64], [100 + number, 64]]
        entries.append(
            span("cpu_op", "CompiledFunction", region["ts"] + 1, 10, **{"Input Dims": dims})
        )
    one = item(made(entries), "recompiles")
    assert one["words"]["ids"] == "0/4 to 0/9"
    assert one["words"]["sizes"].startswith("input 2 of the compiled graph is [100, 64], [101, 64]")


def test_without_autograd_the_first_operator_of_a_region_tells_the_sizes() -> None:
    entries = loop([[*FORWARD, *compiled(number)] for number in range(4, 10)])
    regions = [entry for entry in entries if entry["name"].startswith("Torch-Compiled")]
    for number, region in enumerate(regions):
        dims: Any = [[8, 64], [100 + number, 64]]
        entries.append(span("cpu_op", "aten::mm", region["ts"] + 1, 10, **{"Input Dims": dims}))
    one = item(made(entries), "recompiles")
    assert one["words"]["sizes"].startswith("input 2 of aten::mm is [100, 64], [101, 64]")


def test_compiling_at_first_alone_is_no_recompilation() -> None:
    first = [*FORWARD, *compiled(0, 9000)]
    others = [[*FORWARD, ("Torch-Compiled Region: 0/0", 20)]] * 5
    assert "recompiles" not in rules(made(loop([first, *others])))
    assert "recompiles" not in rules(made(loop([first, *others[:1]])))


def test_looking_whether_to_compile_is_no_compiling() -> None:
    body = [*FORWARD, ("TorchDynamo Cache Lookup", 90), ("Torch-Compiled Region: 0/0", 20)]
    assert "recompiles" not in rules(made(loop([body] * 6)))


def test_without_steps_one_frame_must_be_compiled_thrice() -> None:
    def found(*numbers: str) -> Findings:
        entries = []
        for place, number in enumerate(numbers):
            name = "_compile.compile_inner (dynamo_timed)"
            entries.append(span("cpu_op", name, 2000 * place, 900))
            entries.append(
                span("cpu_op", f"Torch-Compiled Region: {number}", 2000 * place + 910, 20)
            )
        return made(entries)

    assert "recompiles" in rules(found("0/0", "0/1", "0/2"))
    assert "recompiles" not in rules(found("0/0", "1/0", "2/0"))


@QUICK
@given(
    every=st.integers(2, 5),
    length=st.floats(300, 20_000),
    place=st.integers(0, 3),
    name=st.sampled_from(("train.py(40): evaluate", "aten::sort")),
)
def test_work_of_every_nth_step_is_named(every: int, length: float, place: int, name: str) -> None:
    usual = list(FORWARD)
    longer = [*usual[:place], (name, length), *usual[place:]]
    bodies = [longer if (at + 1) % every == 0 else usual for at in range(3 * every)]
    one = item(made(loop(bodies)), "periodic_steps")
    word = {2: "second", 3: "third", 4: "fourth", 5: "fifth"}[every]
    assert one["words"]["every_takes"] == f"every {word} step takes"
    assert one["recoverable_ns"] == pytest.approx(length * 1000, rel=0.05)
    assert one["numbers"]["longer"] == pytest.approx(length * 1000, rel=0.05)
    assert one["words"]["extra"] == name.removeprefix("train.py(40): ")


def test_steps_without_a_rule_are_counted() -> None:
    usual = list(FORWARD)
    longer = [*usual, ("train.py(9): keep", 4000.0)]
    bodies = [longer if at in (2, 3, 8) else usual for at in range(10)]
    one = item(made(loop(bodies)), "periodic_steps")
    assert one["words"]["every_takes"] == "3 of 10 steps take"


def test_an_operator_that_is_called_more_often_is_an_extra_stretch() -> None:
    """Validation calls what training calls, without a name of its own."""
    usual = list(FORWARD)
    longer = [*usual, *usual[:2] * 8]
    bodies = [longer if at % 4 == 3 else usual for at in range(12)]
    one = item(made(loop(bodies)), "periodic_steps")
    assert one["words"]["every_takes"] == "every fourth step takes"
    assert one["words"]["extra"] == "aten::linear"
    assert one["recoverable_ns"] == pytest.approx(8 * 404 * 1000, rel=0.05)


@QUICK
@given(share=st.floats(0.05, 1.0), every=st.integers(2, 4))
def test_modules_in_some_steps_are_evaluation_and_possible_to_save(
    share: float, every: int
) -> None:
    bodies = [
        [*FORWARD, *[("train.py(9): check", 8000.0)] * (at % every == every - 1)]
        for at in range(3 * every)
    ]
    entries = loop(bodies)
    checks = [one for one in entries if one["name"] == "train.py(9): check"]
    for check in checks:
        length = check["dur"] * share - 2
        entries.append(span("python_function", "nn.Module: Net_0", check["ts"] + 1, length))
    one = item(made(entries), "periodic_steps")
    assert (one["certainty"] == "theoretical") == (length >= check["dur"] / 2)


def test_what_some_steps_launch_is_gone_too() -> None:
    """A device that is never idle: validation costs its kernels and not its launches."""
    entries, number, now = [], 0, 0.0
    for step in range(9):
        begin, kernels = now, ["train"] * 4 + ["valid"] * (12 if step % 3 == 2 else 0)
        for place, kernel in enumerate(kernels):
            number += 1
            called = begin + 10 + 5 * place
            entries += launched(kernel, number, called, now + 20, 100)
            now += 101
        if "valid" in kernels:
            entries.append(span("user_annotation", "validate", begin + 29, 62))
        entries.append(span("user_annotation", f"ProfilerStep#{step}", begin, 200))
        now = max(now, begin + 201)
    one = item(made(entries), "periodic_steps")
    assert one["words"]["every_takes"] == "every third step takes"
    assert one["words"]["extra"] == "validate"
    assert one["recoverable_ns"] == pytest.approx(12 * 101_000, rel=0.15)


def test_two_things_of_different_steps_are_both_told() -> None:
    """Logging in every second step, a checkpoint in every fourth."""
    log, keep = ("train.py(9): log", 2000.0), ("train.py(20): keep", 9000.0)
    bodies = [[*FORWARD, *[log] * (at % 2), *[keep] * (at % 4 == 2)] for at in range(12)]
    found = [one for one in made(loop(bodies))["found"] if one["rule"] == "periodic_steps"]
    assert {one["words"]["extra"] for one in found} == {"log", "keep"}


@QUICK
@given(st.integers(4, 12), st.floats(2000, 20_000), st.sampled_from((0.1, 0.3, 0.7, 1.0)))
@example(steps=4, length=2000.0, share=1.0)
def test_what_some_steps_call_from_elsewhere_is_of_these_steps_alone(
    steps: int, length: float, share: float
) -> None:
    """Each step sorts once: every second one in a function that all of them call, the others beside it, for a share of that
    time.
    """
    function, sort = "train.py(40): evaluate", "aten::sort"
    inside = [*FORWARD, (function, length + 4)]
    beside = [*FORWARD, (function, 4), (sort, share * length)]
    entries = loop([inside if at % 2 else beside for at in range(steps)])
    entries += [
        span("cpu_op", sort, one["ts"] + 2, length)
        for one in entries
        if one["name"] == function and one["dur"] > 4
    ]
    found = [one for one in made(entries)["found"] if one["rule"] == "periodic_steps"]
    # Steps whose own calls take as long as those of the others are no longer for them.
    assert [one["numbers"]["some"] for one in found] == [steps // 2] * (share < 0.5)
    assert all(one["words"]["every_takes"] == "every second step takes" for one in found)


@QUICK
@given(counts=st.lists(st.integers(1, 9), min_size=8, max_size=8, unique=True))
def test_what_each_step_does_as_often_as_it_happens_to_is_not_of_some(counts: list[int]) -> None:
    bodies = [[*FORWARD, *[("aten::sub", 300.0)] * n] for n in counts]
    assert "periodic_steps" not in rules(made(loop(bodies)))


@pytest.mark.parametrize("name", ["Optimizer.step#SGD.step", "enumerate(DataLoader)#x.__next__"])
def test_accumulated_gradients_and_batches_are_by_design(name: str) -> None:
    usual = list(FORWARD)
    bodies = [[*usual, (name, 900.0)] if at % 4 == 3 else usual for at in range(12)]
    assert "periodic_steps" not in rules(made(loop(bodies)))


@QUICK
@given(jitter=st.lists(st.floats(0.7, 1.4), min_size=10, max_size=10))
def test_steps_that_do_the_same_differ_by_chance(jitter: list[float]) -> None:
    bodies = [[(name, length * share) for name, length in FORWARD] for share in jitter]
    assert "periodic_steps" not in rules(made(loop(bodies)))


def test_larger_batches_now_and_then_are_no_work_of_their_own() -> None:
    bodies = [
        [(name, length * (5 if at % 2 else 1)) for name, length in FORWARD] for at in range(10)
    ]
    assert "periodic_steps" not in rules(made(loop(bodies)))


@QUICK
@given(more=st.integers(1, 6), at_first=st.integers(1, 10), steps=st.integers(9, 14))
def test_calls_that_become_more_grow(more: int, at_first: int, steps: int) -> None:
    bodies = [[*FORWARD, *[("aten::sub", 40.0)] * (at_first + more * at)] for at in range(steps)]
    one = item(made(loop(bodies)), "growing_work")
    assert one["words"]["what"] == "aten::sub"
    assert one["words"]["grows"].startswith(f"it is called {more} times more")
    whole = 40_000 * (at_first + more * (steps - 1) / 2 - max(more, 1))
    assert one["recoverable_ns"] <= 42_000 * (at_first + more * (steps - 1) / 2)
    assert one["recoverable_ns"] >= 0.9 * whole - 40_000


def test_a_function_that_becomes_longer_is_named() -> None:
    bodies = [[*FORWARD, ("drift.py(12): watch", 200.0 + 90 * at)] for at in range(10)]
    one = item(made(loop(bodies)), "growing_work")
    assert one["words"]["what"] == "watch"


def test_of_functions_in_each_other_the_program_s_own_is_named() -> None:
    entries = loop([[*FORWARD, ("log.py(6): write", 200.0 + 90 * at)] for at in range(10)])
    entries += [
        span("python_function", "json/encoder.py(3): encode", one["ts"] + 1, one["dur"] - 2)
        for one in entries
        if one["name"].startswith("log.py")
    ]
    assert item(made(entries), "growing_work")["words"]["what"] == "write"


def test_time_at_the_begin_of_a_step_is_shown_by_its_mark() -> None:
    bodies = [[("", 9000 if at % 3 == 2 else 5), *FORWARD] for at in range(12)]
    one = item(made(loop(bodies)), "own_code")
    assert one["words"]["what"] == "time without a record"
    assert (min(one["rows"]) >= 0, len(one["hit"])) == (True, 4)
    # Time alone is not known to grow by what the program does.
    grown = made(loop([[("", 300.0 + 200 * at), *FORWARD] for at in range(10)]))
    assert rules(grown)["growing_work"] is None


@QUICK
@given(first=st.integers(3, 20), more=st.integers(2, 9))
def test_a_list_of_tensors_that_grows_is_input_that_grows(first: int, more: int) -> None:
    entries = loop([[*FORWARD, ("aten::cat", 400.0)] for _ in range(8)])
    cats = [one for one in entries if one["name"] == "aten::cat"]
    for number, one in enumerate(cats):
        dims: Any = [[[100 * (first + more * number), 4], [100, 4]], []]
        one["args"] = {"Input Dims": dims, "Input type": ["TensorList", "Scalar"]}
    grown = item(made(entries), "growing_work")
    assert grown["words"]["what"] == "aten::cat"
    assert grown["words"]["grows"].startswith(f"it is given {format_count(400 * more)} ")


@QUICK
@given(sizes=st.booleans(), often=st.floats(0.5, 2))
def test_without_sizes_an_operator_that_takes_ever_longer_grows(sizes: bool, often: float) -> None:
    """With sizes nothing is larger, and the memory is shared with others."""
    bodies = [[*FORWARD, ("aten::cat", 200 * (1 + often * at))] for at in range(10)]
    entries = loop(bodies)
    if sizes:
        entries = [
            one | {"args": {"Input Dims": [[8, 8]], "Input type": ["float"]}}
            if one["cat"] == "cpu_op"
            else one
            for one in entries
        ]
    found = rules(made(entries))["growing_work"]
    assert (found is not None) != sizes


def test_what_takes_longer_beside_calls_that_become_more_grows_with_them() -> None:
    """A list that is stacked and read as a whole: its operators are given more, which is not recorded."""
    bodies = [
        [*FORWARD, *[("aten::mean", 20.0)] * (20 + at), ("aten::std", 400.0 + 100 * at)]
        for at in range(8)
    ]
    one = item(made(loop(bodies)), "growing_work")
    assert one["words"]["what"] == "aten::std"
    assert one["words"]["grows"].startswith("it takes 100 µs longer")


def test_a_machine_that_becomes_slower_is_no_growing_program() -> None:
    share = [1 + 0.1 * at for at in range(10)]
    bodies = [[(name, length * one) for name, length in FORWARD] for one in share]
    # That steps grow is told, and nothing to save.
    assert rules(made(loop(bodies)))["growing_work"] is None


@QUICK
@given(jitter=st.permutations(list(range(10))))
def test_steps_in_any_order_do_not_grow(jitter: list[int]) -> None:
    share = [1 + 0.02 * one for one in jitter]
    bodies = [[(name, length * one) for name, length in FORWARD] for one in share]
    bodies[-1] = bodies[0]
    if sorted(jitter) != jitter:
        assert "growing_work" not in rules(made(loop(bodies)))


def remembered(kept: Sequence[bool], size: int = 4096, steps: int = 8) -> Findings:
    """Steps that allocate in ``aten::linear``, and release unless ``kept``; the level before is 16 blocks."""
    entries = loop([FORWARD] * steps)
    level, address = 16 * size, 1 << 20
    begins = [one["ts"] for one in entries if one["name"] == "aten::linear"]
    for number, begin in enumerate(begins):
        address += size
        level += size
        entries.append(memory(begin + 10, size, address, level))
        if not kept[number % len(kept)]:
            level -= size
            entries.append(memory(begin + 350, -size, address, level))
    return made(entries)


def memory(time: float, size: int, address: int, level: int) -> Event:
    """A record of the host's allocator."""
    arguments = {
        "Device Type": 0,
        "Device Id": -1,
        "Addr": address,
        "Bytes": size,
        "Total Allocated": level,
        "Total Reserved": 0,
    }
    return {
        "ph": "i",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "pid": 100,
        "tid": 1,
        "s": "t",
        "ts": time,
        "args": arguments,
    }


def test_memory_that_every_step_keeps_is_named_with_its_operator() -> None:
    one = item(remembered([True]), "memory_growth")
    assert one["numbers"]["per_step"] == 4096
    assert one["words"]["holders"].startswith("aten::linear")
    assert one["recoverable_ns"] is None


@pytest.mark.parametrize("kept", [[False], [True, False, False, False, False, False, False, False]])
def test_memory_that_is_released_or_kept_once_does_not_grow(kept: list[bool]) -> None:
    assert "memory_growth" not in rules(remembered(kept))


def test_a_trace_says_why_it_ran_out_of_memory() -> None:
    body = memory(30, 4096, 1 << 20, 8192)
    failed = memory(40, 0, 0, 0) | {
        "name": "[OutOfMemory]",
        "args": {"Bytes": 1 << 30, "Device Free": 512, "Device Type": 0, "Device Id": -1},
    }
    one = item(made([*loop([FORWARD] * 3), body, failed]), "out_of_memory")
    assert one["words"]["failed"] == "1.00 GiB were asked for; 512 B were free"
    assert one["numbers"]["allocated"] == 8192
    assert one["recoverable_ns"] is None


def test_a_cold_step_tells_what_is_known_of_it() -> None:
    """What compiles is told with its time; of an unknown reason nothing is."""
    first = [*FORWARD, *compiled(0, 9000)]
    others = [[*FORWARD, ("Torch-Compiled Region: 0/0", 20)]] * 6
    one = item(made(loop([first, *others])), "cold_step")
    assert one["numbers"]["compiling"] == 9_000_000
    assert "setting_up" not in one["numbers"]
    found = made(loop([[(name, 9 * length) for name, length in FORWARD], *[FORWARD] * 6]))
    if "cold_step" in rules(found):
        assert not {"compiling", "setting_up"} & set(item(found, "cold_step")["numbers"])
