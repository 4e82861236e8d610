"""Two recordings of work of another size, or of one call under another name: what `diff` says first, and what made the change."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.analysis.diff.compared import side_of
from tests.builders import loop
from tests.builders.drawn import trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.diff.compare import Comparison, compare
from torch_tb_profiler.views.diff.payload import Recording, diff_payload
from torch_tb_profiler.views.diff.wire import DiffPayload

Event = dict[str, Any]
Call = tuple[str, list[list[int]], str, float, float]
"""An operator, its input shapes, its kernel, host time and kernel time in µs."""


def recording(calls: list[Call], length: float, steps: int = 12) -> list[Event]:
    """Steps of these calls one after the other, then a wait for the device; µs."""
    found: list[Event] = []
    for k in range(steps):
        begin = loop.FIRST_US + k * (length + 1000)
        found.append(loop.span("user_annotation", f"ProfilerStep#{k}", 1, 1, begin, length))
        at = free = begin + 5
        for number, (name, dims, kernel, host, device) in enumerate(calls):
            args = {"Input Dims": dims, "Input type": ["float"] * len(dims)}
            found.append(loop.span("cpu_op", name, 1, 1, at, host, **args))
            if kernel:
                link = 100 * k + number + 1
                free = max(free, at + host)
                found += [
                    loop.span(
                        "cuda_runtime", "cudaLaunchKernel", 1, 1, at + 1, 2, correlation=link
                    ),
                    # A little longer in some steps, as real ones are.
                    loop.span(
                        "kernel",
                        kernel,
                        0,
                        7,
                        free,
                        device + k % 3,
                        correlation=link,
                        stream=7,
                        device=0,
                    ),
                ]
                free += device + k % 3
            at += host + 1
        if free > at:
            found.append(
                loop.span("cuda_runtime", "cudaDeviceSynchronize", 1, 1, at, free + 2 - at)
            )
    return found


def compared(a: list[Event], b: list[Event]) -> tuple[Comparison, DiffPayload]:
    found = compare(side_of(trace_of(a)), side_of(trace_of(b)))
    place = Recording("r", "w", "s", "r", {})
    return found, diff_payload(found, place, place)


def sums_up(payload: DiffPayload) -> bool:
    """Whether the causes come to the change, and none to more."""
    whole = payload.verdict.delta_ns or 0
    sizes = [cause.delta_ns for cause in payload.causes]
    return sum(sizes) == whole and all(abs(size) <= abs(whole) for size in sizes)


def test_a_relabelled_call_is_no_cause() -> None:
    """whatif_7: `gemm` of 5 ms moved from `aten::mm` into a compiled region; the step is 100 µs longer."""
    shapes = [[64, 64]]
    mm = recording([("aten::mm", shapes, "gemm", 200, 5000)], 5300)
    region = recording([("Torch-Compiled Region: 0/0", shapes, "gemm", 300, 5000)], 5400)
    _, payload = compared(mm, region)
    assert payload.verdict.delta_ns == 100_000
    assert sums_up(payload)
    assert "5.00 ms" not in payload.verdict.because
    assert "+100 µs" in payload.verdict.because


@pytest.mark.parametrize(("batch", "length"), [(8192, 59_000), (2048, 14_750)])
def test_work_of_another_size_is_said_first_and_compared_per_sample(
    batch: int, length: float
) -> None:
    """whatif_8: many calls on a parameter, whose shapes stay, and one that takes all of the device's time."""
    others: list[Call] = [("aten::detach", [[512, 512]], "", 3, 0)] * 20
    times = batch // 1024
    one, other = (
        recording(
            [("aten::mm", [[rows, 512], [512, 512]], "gemm", 20, rows / 1024 * 1000), *others], wall
        )
        for rows, wall in ((1024, 7_900), (batch, length))
    )
    found, payload = compared(one, other)
    verdict = payload.verdict
    assert verdict.sentence.startswith(
        f"The work differs: a step does {times} times that of one before"
    )
    assert "Per sample, steps are 6.6 % shorter" in verdict.sentence
    assert found.test.share == pytest.approx(length / times / 7_900 - 1)
    assert verdict.changed is True
    assert sums_up(payload)
    back = compared(other, one)[1].verdict
    assert "Per sample, steps are 7.1 % longer" in back.sentence


LAYER = st.tuples(st.sampled_from(["linear", "conv", "attention"]), st.floats(50, 2000))


def layers(drawn: list[tuple[str, float]], samples: int, tokens: int, scale: float) -> list[Call]:
    calls: list[Call] = [
        ("aten::linear", [[samples, tokens, 64], [96, 64], [96]], "gemm_in", 20, 500 * scale)
    ]
    for number, (kind, device) in enumerate(drawn):
        dims = {
            "linear": [[samples * tokens, 64], [64, 128]],
            "conv": [[samples, 3, tokens, 8], [16, 3, 3, 3]],
            "attention": [[samples, 4, tokens, 16], [samples, 4, 16, tokens]],
        }[kind]
        calls.append((f"aten::{kind}_{number}", dims, f"kernel_{number}", 20, device * scale))
    return calls


@examples(30)
@example([("attention", 2000.0)] * 4, (4, 32, 16, 64), 1.0)
@given(
    st.lists(LAYER, min_size=1, max_size=4),
    st.sampled_from(
        [(4, 32, 16, 16), (32, 4, 16, 16), (6, 9, 16, 16), (4, 4, 16, 64), (4, 32, 16, 64)]
    ),
    st.floats(0.7, 1.4),
)
def test_any_work_is_compared_by_its_factor(
    drawn: list[tuple[str, float]], sizes: tuple[int, int, int, int], slower: float
) -> None:
    factor = sizes[1] * sizes[3] / sizes[0] / sizes[2]
    # Longer than its device works, also where it is shortened.
    length = 2 * sum(device for _, device in drawn) + 3000
    one = recording(layers(drawn, sizes[0], sizes[2], 1.0), length)
    other = recording(layers(drawn, sizes[1], sizes[3], factor), length * factor * slower)
    found, payload = compared(one, other)
    assert found.test.work is not None
    assert found.test.work.factor == pytest.approx(factor)
    assert found.test.share == pytest.approx(slower - 1, abs=1e-3)
    assert sums_up(payload)


@pytest.mark.parametrize("wide", [128, 256])
def test_wider_layers_are_no_more_samples(wide: int) -> None:
    def model(width: int) -> list[Event]:
        dims = [[32, width], [width, width]]
        return recording([("aten::mm", dims, "gemm", 20, 1000 * width / 64)] * 3, 13_000)

    found, payload = compared(model(64), model(wide))
    assert found.test.work is None
    assert payload.notes[0].startswith("Input shapes differ: only 0 %")


@examples(30)
@given(
    st.lists(st.floats(20, 2000), min_size=1, max_size=5),
    st.sets(st.integers(0, 4)),
    st.floats(0, 300),
)
@pytest.mark.slow
def test_relabelling_changes_nothing(times: list[float], moved: set[int], more: float) -> None:
    """Calls under other names, of the same kernels: the change is that of what else became longer."""
    length = sum(times) + 1000
    calls: list[Call] = [(f"aten::op{i}", [[8]], f"kernel{i}", 10, t) for i, t in enumerate(times)]
    renamed = [
        (f"Torch-Compiled Region: {i}/0", *call[1:]) if i in moved else call
        for i, call in enumerate(calls)
    ]
    _, payload = compared(recording(calls, length), recording(renamed, length + more))
    assert sums_up(payload)
    _, plain = compared(recording(calls, length), recording(calls, length + more))
    assert [(c.category, c.delta_ns) for c in payload.causes] == [
        (c.category, c.delta_ns) for c in plain.causes
    ]
