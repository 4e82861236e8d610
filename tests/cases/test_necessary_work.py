"""What is necessary is no loss; one step does not speak for all; and a part of the time hides no whole."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.analysis.findings.cases import launched, span, steps
from tests.builders.drawn import Event, trace_of
from tests.examples import examples
from tests.views.findings.claims import broken_alone
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.views.findings.payload import Source, findings_payload
from torch_tb_profiler.views.findings.wire import Finding, FindingsPayload

MS = 1000.0
OPERATORS = ("aten::mm", "aten::add", "aten::bmm", "aten::gelu")


def answer(entries: list[Event]) -> FindingsPayload:
    """What is said of a trace; it breaks no law of claims."""
    trace = trace_of(entries)
    facts = derive(trace)
    found = findings_payload(Source(trace, facts, build_insight(trace, facts), "worker", "1"))
    assert not broken_alone(msgspec.to_builtins(found))
    return found


def sure(found: FindingsPayload) -> list[Finding]:
    return [one for one in found.findings if one.certainty in ("certain", "likely")]


def _frame(name: str, begin: float, length: float, number: int) -> Event:
    return span("python_function", name, begin, length, **{"Python id": number})


def _inference(lengths: Sequence[float], function: str, mark: str, calls: int) -> list[Event]:
    """Steps of some ms, each one frame with operators in it."""
    entries: list[Event] = []
    now = 1000.0
    for number, length in enumerate(lengths):
        whole = length * MS
        entries += [
            span("user_annotation", mark.format(number), now, whole),
            _frame(f"serve.py(29): {function}", now + 50, whole - 100, number + 1),
        ]
        each = (whole - 300) / calls
        entries += [
            span("cpu_op", OPERATORS[i % 4], now + 100 + i * each, each - 1) for i in range(calls)
        ]
        now += whole
    return entries


@examples(20)
@given(
    st.lists(st.floats(20, 40), min_size=5, max_size=20),
    st.sampled_from(("forward", "generate", "decode", "__call__", "run_model")),
    st.sampled_from(("decode", "ProfilerStep#{}")),
    st.integers(1, 30),
)
def test_what_a_program_without_modules_is_there_for_is_not_taken_away(
    lengths: list[float], function: str, mark: str, calls: int
) -> None:
    found = answer(_inference(lengths, function, mark, calls))
    assert not sure(found)
    assert "Without" not in found.detail
    assert "Nothing to save" not in found.headline


@examples(20)
@given(
    st.floats(20, 80),
    st.floats(0.02, 0.1),
    st.integers(10, 30),
    st.sampled_from(("forward", "generate", "step")),
)
def test_steps_that_grow_as_a_whole_are_told_and_nothing_is_saved(
    first: float, growth: float, number: int, function: str
) -> None:
    lengths = [first * (1 + growth * step) for step in range(number)]
    found = answer(_inference(lengths, function, "ProfilerStep#{}", 12))
    assert not sure(found)
    [grows] = [one for one in found.findings if one.rule == "growing_work"]
    told = {one.label: one.value for one in grows.numbers}
    assert told["Longer per step"] == pytest.approx(first * growth * MS * MS, rel=0.02)
    assert "longer than the one before" in found.detail


def _attention(dropout: float, fused: bool, now: float) -> tuple[list[Event], float]:
    """Attention whose products take 1 ms each, a softmax of 1 ms and dropout of so many ms.

    Times are whole nanoseconds, as profilers write them: of finer ones, begin and length are rounded each for itself, and the last call
    of some ends after the one that holds it.
    """
    plain = dropout > 0
    parts = [("aten::bmm", MS), ("aten::mul", MS), ("aten::_softmax", MS)]
    parts += [("aten::dropout", round(dropout * MS, 3))] if plain else []
    parts += [("aten::bmm", MS)]
    whole = sum(length for _, length in parts)
    entries: list[Event] = []
    if fused and not plain:
        name = "aten::_scaled_dot_product_flash_attention_for_cpu"
        return [span("cpu_op", name, now, MS)], now + MS
    if fused:
        entries.append(span("cpu_op", "aten::_scaled_dot_product_attention_math", now, whole))
    for name, length in parts:
        entries.append(span("cpu_op", name, now, length))
        if name == "aten::dropout":
            entries.append(span("cpu_op", "aten::bernoulli_", now + 10, length * 0.8))
        now += length
    return entries, now


@examples(20)
@given(st.booleans(), st.floats(2, 20), st.integers(2, 6), st.integers(2, 5), st.booleans())
@example(fused=True, dropout=2.50390625, layers=2, count=4, active=True)
@example(fused=True, dropout=2.50390625, layers=2, count=2, active=True)
def test_dropout_without_a_backward_pass_is_the_cause(
    fused: bool, dropout: float, layers: int, count: int, active: bool
) -> None:
    entries: list[Event] = []
    now, bounds = 1000.0, []
    for _ in range(count):
        begin = now
        for _ in range(layers):
            more, now = _attention(dropout if active else 0.0, fused, now + 5)
            entries += more
        bounds.append((begin, now))
    found = answer([*entries, *steps(*bounds)])
    rules = {one.rule for one in found.findings}
    assert ("machinery_without_use" in rules) is active
    # With dropout SDPA takes its plain path on a CPU.
    assert ("eager_attention" in rules) is (not active and not fused)
    if active:
        first = found.findings[0]
        assert first.rule == "machinery_without_use"
        assert "eval()" in first.action
        gone = dropout + (fused and 2.0)
        assert first.recoverable_ns == pytest.approx(layers * gone * MS * MS, rel=0.05)


@examples(15)
@given(st.integers(1, 3), st.integers(2, 6), st.floats(1, 10))
@example(passes=3, layers=2, length=1.0)
def test_of_nested_checkpoints_one_is_for_nothing(passes: int, layers: int, length: float) -> None:
    """A layer is one operator; checkpoints within each other run it once more, without gradients, each."""
    node = "autograd::engine::evaluate_function: CheckpointFunctionBackward"
    entries: list[Event] = []
    now, bounds = 1000.0, []
    # Whole nanoseconds: nodes that end together lie within each other.
    each = round(length * MS, 3)
    for _ in range(3):
        begin = now
        for _ in range(layers):
            entries.append(span("cpu_op", "aten::addmm", now, each))
            now += each + 1
        for _ in range(layers):
            whole = passes * each + 20
            for depth in range(passes):
                entries.append(
                    span("cpu_op", node, now + depth * (each + 1), whole - depth * (each + 1))
                )
                own = {} if depth < passes - 1 else {"Sequence number": 7, "Fwd thread id": 0}
                entries.append(
                    span("cpu_op", "aten::addmm", now + depth * (each + 1) + 1, each - 2, **own)
                )
            now += whole + 1
        bounds.append((begin, now))
    found = answer([*entries, *steps(*bounds)])
    [again] = [one for one in found.findings if one.rule == "recompute"]
    assert again.recoverable_ns == pytest.approx(layers * each * MS, rel=0.05)
    assert ("in another" in again.sentence) is (passes > 1)
    assert ("twice", "three times", "four times")[passes - 1] in again.sentence


@examples(15)
@given(
    st.integers(6, 16),
    st.floats(0.55, 0.8),
    st.floats(0.4, 1.5),
    st.sampled_from(("aten::copy_", "aten::cat", "aten::relu")),
    st.floats(0, 1, exclude_max=True),
)
@example(count=14, share=0.75, excess=0.5, name="aten::copy_", place=0)
def test_a_call_that_was_preempted_once_is_not_first(
    count: int, share: float, excess: float, name: str, place: float
) -> None:
    hit = int(place * count)
    entries: list[Event] = []
    now, bounds = 1000.0, []
    for step in range(count):
        begin = now
        own = MS * (1 + (100 * excess if step == hit else 0))
        for called, length in (
            ("aten::_linalg_svd", 100 * share * MS),
            (name, own),
            ("aten::mm", 50 * (1 - share) * MS),
            ("aten::tanh", 50 * (1 - share) * MS),
        ):
            entries.append(span("cpu_op", called, now + 5, length))
            now += length + 10
        bounds.append((begin, now))
    found = answer([*entries, *steps(*bounds)])
    assert "_linalg_svd" in found.headline
    timed = [one for one in found.findings if one.recoverable_ns]
    assert all(one.often.startswith("once") for one in timed if name in one.sentence)


@examples(15)
@given(
    st.integers(2, 5),
    st.integers(3, 4),
    st.floats(0.5, 0.75),
    st.floats(4, 9),
    st.sampled_from(("weights", "table", "lookup")),
)
def test_what_all_steps_do_is_not_hidden_by_what_it_takes_more_in_some(
    every: int, rounds: int, share: float, times: float, function: str
) -> None:
    """In each step a function reads JSON, in every n-th so many times as long."""
    entries: list[Event] = []
    now, bounds = 1000.0, []
    for step in range(every * rounds):
        begin = now
        length = 200 * share * MS * (times if step % every == every - 1 else 1)
        rest = 200 * (1 - share) * MS
        entries += [
            span("cpu_op", "aten::addmm", now + 5, rest * 0.9),
            _frame(f"train.py(31): {function}", now + rest, length, 2 * step + 1),
            _frame("json/__init__.py(274): load", now + rest + 50, length - 100, 2 * step + 2),
        ]
        now += rest + length + 10
        entries.append(span("cpu_op", "aten::mul", now, 50))
        now += 60
        bounds.append((begin, now))
    found = answer([*entries, *steps(*bounds)])
    assert "Reading JSON" in found.headline
    assert "train.py:31" in found.detail
    assert "nothing recorded" not in found.headline
    assert found.told.part_ns is not None
    assert found.told.whole_ns is not None
    assert found.told.part_ns <= found.told.whole_ns


@examples(15)
@given(st.integers(3, 5), st.integers(2, 4), st.floats(1.5, 4))
def test_a_loader_that_stalls_now_and_then_is_told_with_its_mean(
    every: int, rounds: int, times: float
) -> None:
    """GPU work of 8 ms per step and ``.item()``; in every n-th step the loader takes so many times as long as a step."""
    entries: list[Event] = []
    now, bounds = 1000.0, []
    fetch = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
    for step in range(every * rounds):
        begin = now
        wait = 8 * MS * times if step % every == every - 1 else 30.0
        entries.append(span("user_annotation", fetch, now + 5, wait))
        now += wait + 10
        for part in range(4):
            number = step * 4 + part + 1
            entries.append(span("cpu_op", "aten::mm", now, 20))
            entries += launched(
                f"gemm_{part}", number, now + 5, begin + wait + 50 + part * 2000, 1990
            )
            now += 30
        end = begin + wait + 50 + 8000
        entries.append(span("user_annotation", "Optimizer.step#SGD.step", now - 10, 5))
        entries.append(span("cpu_op", "aten::_local_scalar_dense", now, end - now + 10))
        entries.append(span("cuda_runtime", "cudaStreamSynchronize", now + 5, end - now))
        now = end + 30
        bounds.append((begin, now))
    found = answer([*entries, *steps(*bounds)])
    assert found.headline.startswith("Loading data takes")
    assert f"{rounds} of {every * rounds} steps" in found.detail
    # What is drawn is a step that has it.
    assert f"one of {every * rounds}" in found.about
    assert found.told.subject
    assert int(found.told.subject.steps) % every == every - 1
    first = found.findings[0]
    assert first.rule == "input_bound"
    assert first.recoverable_ns == pytest.approx(8 * times * MS * MS, rel=0.05)
    assert first.recoverable_mean_ns == pytest.approx(8 * times * MS * MS / every, rel=0.05)
    # A host that ran ahead would load meanwhile: that saves the same time, and none beside.
    ahead = [one for one in found.findings if one.rule == "host_synchronisation"]
    assert [one.holds for one in ahead] == [0] * len(ahead)
    assert all(f"that of “{first.title}”" in one.sentence for one in ahead)


@examples(15)
@given(st.lists(st.floats(5, 60), min_size=4, max_size=10), st.floats(0.2, 0.9))
def test_of_a_step_of_which_nothing_was_recorded_nothing_is_saved(
    lengths: list[float], share: float
) -> None:
    """Marks on the program's thread, and work on others that nothing ties to it."""
    entries: list[Event] = []
    now = 1000.0
    for number, length in enumerate(lengths):
        whole = length * MS
        entries.append(span("user_annotation", f"ProfilerStep#{number}", now, whole))
        entries.append(span("cpu_op", "fusion.2", now + 100, share * whole, tid=2))
        now += whole + 5
    found = answer(entries)
    for one in sure(found):
        assert one.recoverable_ns is not None
        assert one.acted_ns is not None
        assert one.recoverable_ns < 0.95 * max(lengths) * MS * MS
    assert "would take about" not in found.detail


@examples(15)
@given(st.floats(1, 5), st.floats(50, 20_000), st.sampled_from(("add", "triton_poi_fused_0")))
def test_a_kernel_that_takes_next_to_nothing_is_no_answer(
    kernel: float, quiet: float, name: str
) -> None:
    """The last step ends long after the one kernel: typically the profiler is being stopped."""
    whole = 1.5 * MS + quiet * MS
    entries = [
        *steps((1000.0, 1000.0 + whole)),
        span("cpu_op", "aten::add", 1100, 1300),
        *launched(name, 1, 1200, 1300, kernel),
    ]
    found = answer(entries)
    assert found.headline.startswith("Nothing was recorded for the last")
    assert "profiler" in found.detail


@examples(12)
@given(st.integers(10, 14), st.floats(3, 20), st.booleans())
@example(count=10, quiet=3.0, regular=True)
def test_time_without_a_record_now_and_then_is_the_machines_unless_it_comes_regularly(
    count: int, quiet: float, regular: bool
) -> None:
    """Steps of 10 ms; some last longer, by time in which nothing is recorded; it is told from a third of such a step on."""
    hits = (1, 5, 9) if regular else (1, 2, 6)
    entries: list[Event] = []
    now, bounds = 1000.0, []
    for step in range(count):
        begin = now
        entries.append(span("cpu_op", "aten::addmm", now + 5, 5 * MS))
        now += 5 * MS + 10 + (quiet * MS if step in hits else 0)
        entries.append(span("cpu_op", "aten::gelu", now, 5 * MS))
        now += 5 * MS + 10
        bounds.append((begin, now))
    found = answer([*entries, *steps(*bounds)])
    [one] = [one for one in found.findings if one.rule == "own_code"]
    # A pause has 5 µs more between its operators, and each step 20 µs.
    told = regular and 3 * (quiet * MS + 5) >= quiet * MS + 10 * MS + 20
    assert one.certainty == ("likely" if told else "theoretical")
    assert ("without a record" in found.headline) is told
    assert f"in 3 of {count} steps" in one.sentence
    assert "every step" not in f"{one.sentence} {found.detail}"


@examples(12)
@given(st.floats(6, 40), st.integers(3, 6), st.sampled_from(("all_reduce", "all_gather")))
def test_communication_is_never_the_work_itself(length: float, count: int, kind: str) -> None:
    """Most of each step is a collective of gloo that nothing could run beside."""
    entries: list[Event] = []
    now, bounds = 1000.0, []
    for _ in range(count):
        begin = now
        entries.append(span("cpu_op", "aten::mm", now + 5, 4 * MS))
        now += 4 * MS + 10
        entries.append(span("user_annotation", f"gloo:{kind}", now, length * MS))
        now += length * MS + 10
        bounds.append((begin, now))
    found = answer([*entries, *steps(*bounds)])
    assert found.headline.startswith(("Communication takes", "Waiting for a rank takes"))
    assert "the work itself" not in found.detail
