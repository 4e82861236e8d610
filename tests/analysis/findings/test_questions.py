"""The questions that are asked of any place: each planted at any size, place and depth, and healthy programs that stay silent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.findings.cases import Findings, item, launched, made, rules, span, steps
from tests.builders.shaped import Shaped
from tests.examples import examples

QUESTIONS = {
    "costly_order",
    "discarded_work",
    "growing_work",
    "large_intermediate",
    "many_small_calls",
    "padded_input",
    "repeated_input",
    "same_again",
    "sparse_product",
}
SIZES = st.integers(3, 60)
FRAME = "train/parts.py(7): work"
Piece = Callable[[Shaped], None]


def found(piece: Piece, depth: int = 1, rest: float = 100, steps: int = 3) -> Findings:
    """What is found in a program that does ``piece`` in each step, ``depth`` frames deep, beside ordinary layers of ``rest`` µs."""
    program = Shaped()
    for _ in range(steps):
        with program.step():
            layers(program, rest)
            _nested(program, piece, depth)
            program.call("aten::mse_loss", 5, [[16, 77], [16, 77]], trains=True)
            program.backward()
            program.update([50, 51], [50])
    return made(program.listed)


def _nested(program: Shaped, piece: Piece, depth: int) -> None:
    if not depth:
        piece(program)
        return
    with program.frame(FRAME if depth == 1 else f"train/outer.py({depth}): outer"):
        _nested(program, piece, depth - 1)


def layers(program: Shaped, length: float) -> None:
    """Two layers on a batch, as any network has them."""
    program.call("aten::randn", 5, [[], [], []], ["[16, 77]"])
    for number in range(2):
        with program.frame(f"nn.Module: Linear_{number}"):
            program.call("aten::linear", length / 4, [[16, 77], [77, 77], [77]], trains=True)
        program.call("aten::relu", length / 8, [[16, 77]], trains=True)


def asked(findings: Findings) -> set[str]:
    """The questions that have an answer."""
    return QUESTIONS & set(rules(findings))


def _cut(shape: list[int], axis: int, size: int) -> tuple[list[list[int]], list[str]]:
    return [shape, [], [], [], []], ["", str(axis), "0", str(size), "1"]


@examples(15)
@given(SIZES, SIZES, st.integers(1, 3), st.sampled_from(["slice", "select", "diagonal", "index"]))
def test_what_is_thrown_away_is_found(rows: int, width: int, depth: int, part: str) -> None:
    rows, width = 10 * rows, 10 * width + 1
    width = rows if part == "diagonal" else width
    shape = [rows, width]
    parts: dict[str, tuple[Any, list[str], float]] = {
        "slice": (*_cut(shape, 1, width // 4), width // 4 / width),
        "select": ([shape, [], []], ["", "0", "0"], 1 / rows),
        "diagonal": ([shape, [], [], []], ["", "0", "0", "1"], 1 / rows),
        "index": ([shape, [[rows // 3]]], [], rows // 3 / rows),
    }
    dims, concrete, read = parts[part]

    def piece(program: Shaped) -> None:
        program.call("aten::mm", 200, [[rows, 9], [9, width]], trains=True)
        program.call("aten::tanh", 100, [shape], trains=True)
        types = ["float", ["long int"]] if part == "index" else []
        program.call(f"aten::{part}", 2, dims, concrete, types=types, trains=True)

    one = item(found(piece, depth), "discarded_work")
    assert one["numbers"]["read"] == pytest.approx(read, abs=0.01)
    assert one["words"]["part"] == f"aten::{part}"
    assert one["line"] == FRAME
    # Of 300 µs and as long a backward the rest.
    assert one["recoverable_ns"] == pytest.approx(600e3 * (1 - read), rel=0.05)


@examples(10)
@given(SIZES, st.sampled_from(["all read", "both halves", "read before the part", "most of it"]))
def test_what_is_read_elsewhere_is_not_thrown_away(rows: int, why: str) -> None:
    shape = [10 * rows, 40]

    def piece(program: Shaped) -> None:
        program.call("aten::mm", 200, [[10 * rows, 9], [9, 40]], trains=True)
        if why == "both halves":
            program.call("aten::slice", 2, *_cut(shape, 1, 20), trains=True)
            program.call("aten::slice", 2, [shape, [], [], [], []], ["", "1", "20", "40", "1"])
            return
        program.call("aten::slice", 2, *_cut(shape, 1, 30 if why == "most of it" else 4))
        if why != "most of it":
            program.call("aten::sum", 20, [shape, []], trains=True)

    assert "discarded_work" not in asked(found(piece))


@examples(15)
@given(
    st.integers(2, 9),
    SIZES,
    st.integers(1, 3),
    st.sampled_from(["expanded", "windows", "repeat"]),
    st.booleans(),
)
def test_work_on_repeated_input_is_found(
    times: int, rows: int, depth: int, kind: str, writes: bool
) -> None:
    """``clone`` makes its copy, ``copy_`` writes into one that was made: what it reads comes second."""
    shape = [rows + 100, 16 * times]
    source, name = [1, 1] if kind == "windows" else [1, 0], "aten::contiguous"
    of, told = [shape, []], ["", "0"]
    if kind == "repeat":
        name, of, told = "aten::repeat", [[rows + 100, 16], []], ["", f"[1, {times}]"]
    inner = [("aten::clone", [shape, []], [source, []])]
    if writes:
        inner = [("aten::copy_", [shape, shape, []], [[16 * times, 1], source, []])]

    def piece(program: Shaped) -> None:
        program.call(name, 50, of, told, strides=[source], beneath=inner)
        program.call("aten::exp", 200, [shape], trains=True)
        program.call("aten::sum", 100, [shape, []], trains=True)

    one = item(found(piece, depth), "repeated_input")
    assert one["line"] == FRAME
    assert one["words"]["what"] == name
    assert one["share"] > 0.4


@examples(10)
@given(SIZES, st.booleans())
def test_a_copy_of_what_is_stored_once_repeats_nothing(rows: int, transposed: bool) -> None:
    shape = [100, 16 * rows]
    source = [1, 100] if transposed else [16 * rows, 1]

    def piece(program: Shaped) -> None:
        beneath = [("aten::copy_", [shape, shape, []], [[1, 0], source, []])]
        program.call("aten::contiguous", 50, [shape, []], ["", "0"], beneath=beneath)
        program.call("aten::exp", 200, [shape], trains=True)
        program.call("aten::sum", 100, [shape, []], trains=True)

    assert "repeated_input" not in asked(found(piece))


def test_a_bias_is_no_repeated_input() -> None:
    def piece(program: Shaped) -> None:
        beneath = [("aten::copy_", [[500, 64], [500, 64]], [[64, 1], [0, 1]])]
        program.call("aten::linear", 300, [[500, 32], [64, 32], [64]], beneath=beneath, trains=True)

    assert not asked(found(piece))


@examples(15)
@given(st.integers(1, 8), st.integers(5, 20), st.booleans(), st.booleans())
def test_a_costly_order_of_products_is_found(
    small: int, large: int, left: bool, batch: bool
) -> None:
    n = 20 * large
    more = [4] if batch else []
    thin, name = [*more, small, n], "aten::bmm" if batch else "aten::mm"
    square = [*more, n, n]

    def piece(program: Shaped) -> None:
        program.call(name, 400, [square, square], trains=True)
        second = [thin, square] if left else [square, [*more, n, small]]
        program.call(name, 30, second, trains=True)

    one = item(found(piece), "costly_order")
    now, other = n**3 + small * n**2, 2 * small * n**2
    assert one["numbers"]["less"] == pytest.approx(now / other)
    assert one["recoverable_ns"] == pytest.approx(860e3 * (1 - other / now), rel=0.03)


@examples(12)
@given(st.integers(1, 6), st.integers(8, 20), st.booleans(), st.sampled_from(["add", "add_"]))
def test_a_sum_of_a_product_of_low_rank_is_a_costly_order(
    rank: int, size: int, scaled: bool, name: str
) -> None:
    n = 20 * size

    def piece(program: Shaped) -> None:
        program.call("aten::mm", 200, [[n, rank], [rank, n]], trains=True)
        if scaled:
            program.call("aten::mul", 50, [[n, n], []], trains=True)
        program.call(f"aten::{name}", 100, [[n, n], [n, n], []], trains=True)
        program.call("aten::mm", 150, [[4, n], [n, n]], trains=True)

    one = item(found(piece), "costly_order")
    less = n / 8
    assert one["numbers"]["less"] == pytest.approx(less)
    # The product with the sum stays.
    gone = 2 * (300 + 50 * scaled) * (1 - 1 / less)
    assert one["recoverable_ns"] == pytest.approx(1e3 * gone, rel=0.05)


@examples(10)
@given(SIZES, st.integers(5, 20), st.booleans())
def test_a_copy_of_which_a_part_is_read_is_thrown_away(
    rows: int, part: int, elsewhere: bool
) -> None:
    """Which rows an index takes is not recorded: the next call reads what it made."""
    shape = [100 * rows, 7]

    def piece(program: Shaped) -> None:
        program.call("aten::index", 300, [shape, []], types=["float", ""])
        program.call("aten::slice", 2, *_cut(shape, 0, part))
        if elsewhere:
            program.call("aten::sum", 20, [shape, []])

    findings = found(piece)
    assert ("discarded_work" in asked(findings)) != elsewhere
    if not elsewhere:
        one = item(findings, "discarded_work")
        assert one["numbers"]["read"] == pytest.approx(part / shape[0])
        assert one["recoverable_ns"] == pytest.approx(300e3 * (1 - part / shape[0]), rel=0.05)


def test_products_with_something_between_or_in_the_best_order_are_fine() -> None:
    def nonlinear(program: Shaped) -> None:
        program.call("aten::mm", 400, [[300, 300], [300, 300]], trains=True)
        program.call("aten::relu", 10, [[300, 300]], trains=True)
        program.call("aten::mm", 30, [[4, 300], [300, 300]], trains=True)

    def best(program: Shaped) -> None:
        program.call("aten::mm", 40, [[4, 300], [300, 300]], trains=True)
        program.call("aten::mm", 40, [[4, 300], [300, 300]], trains=True)

    assert not asked(found(nonlinear))
    assert not asked(found(best))


def _body(program: Shaped, rows: int) -> None:
    with program.frame("nn.Module: Body_0"):
        for number in range(2):
            with program.frame(f"nn.Module: Linear_{5 + number}"):
                program.call("aten::linear", 150, [[rows, 50], [50, 50], [50]], trains=True)
            program.call("aten::relu", 50, [[rows, 50]], trains=True)


@examples(10)
@given(SIZES, st.integers(2, 4), st.integers(1, 3), st.booleans())
def test_a_module_called_again_on_the_same_input_is_found(
    rows: int, calls: int, depth: int, inside: bool
) -> None:
    """In one forward pass it is likely the same input, between two it may be another one from outside."""

    def twice(program: Shaped) -> None:
        program.call("aten::randn", 5, [[], [], []], [f"[{rows}, 51]"])
        for number in range(calls):
            with program.frame("nn.Module: Body_0"):
                with program.frame("nn.Module: Linear_5"):
                    program.call("aten::linear", 150, [[rows, 51], [50, 51], [50]], trains=True)
                program.call("aten::tanh", 50, [[rows, 50]], trains=True)
            with program.frame(f"nn.Module: Head_{number}"):
                program.call("aten::linear", 9, [[rows, 50], [number + 2, 50]], trains=True)

    def piece(program: Shaped) -> None:
        if not inside:
            return twice(program)
        with program.frame("nn.Module: Net_0"):
            return twice(program)

    one = item(found(piece, depth), "same_again")
    assert one["words"]["what"] == "Body"
    assert one["certainty"] == ("likely" if inside else "theoretical")
    assert one["numbers"]["calls"] == calls - 1
    assert one["recoverable_ns"] == pytest.approx(400e3 * (calls - 1), rel=0.05)


def test_a_network_of_equal_layers_repeats_nothing() -> None:
    def deep(program: Shaped) -> None:
        for number in range(8):
            with program.frame(f"nn.Module: Linear_{5 + number}"):
                program.call("aten::linear", 100, [[64, 50], [50, 50], [50]], trains=True)
            program.call("aten::relu", 40, [[64, 50]], trains=True)

    def recurrent(program: Shaped) -> None:
        for _ in range(5):
            _body(program, 64)

    assert not asked(found(deep))
    assert not asked(found(recurrent))


@examples(10)
@given(SIZES, st.integers(2, 8), st.sampled_from(["unbind", "split", "chunk", "stack", "again"]))
def test_a_module_called_on_each_part_of_a_tensor_repeats_nothing(
    rows: int, calls: int, divided: str
) -> None:
    """Parts are cut at once, or in each round put together of what was cut; cut again, they are the same."""
    whole, each = [calls, rows, 51], [rows, 51]

    def piece(program: Shaped) -> None:
        program.call("aten::randn", 5, [[], [], []], [str(whole)])
        for _ in range(1 + (divided == "again")):
            name = "unbind" if divided in ("stack", "again") else divided
            program.call(f"aten::{name}", 5, [whole, []], ["", "0"])
            for _ in range(1 if divided == "again" else calls):
                if divided == "stack":
                    program.call("aten::stack", 5, [each, []], ["", "0"])
                read = [1, *each] if divided == "stack" else each
                with program.frame("nn.Module: Body_0"), program.frame("nn.Module: Linear_5"):
                    program.call("aten::linear", 300, [read, [50, 51], [50]])

    assert ("same_again" in asked(found(piece))) == (divided == "again")


@examples(10)
@given(SIZES, st.booleans())
def test_what_is_the_same_in_each_step_is_found(size: int, kept: bool) -> None:
    """Of numbers alone for sure, of a tensor that is kept perhaps."""
    shape = [10 * size, 10 * size]

    def piece(program: Shaped) -> None:
        if not kept:
            program.call("aten::ones", 20, [[], []], [str(shape)])
        program.call("aten::tril", 200, [shape, []], ["", "0"])
        program.call("aten::exp", 100, [shape])

    one = item(found(piece), "same_again")
    assert one["certainty"] == ("theoretical" if kept else "likely")
    assert one["words"]["what"] == "work"


def test_what_is_drawn_anew_is_not_the_same() -> None:
    def piece(program: Shaped) -> None:
        program.call("aten::randn", 20, [[], [], []], ["[200, 200]"])
        program.call("aten::exp", 300, [[200, 200]])

    assert not asked(found(piece))


@examples(10)
@given(st.integers(1, 50), st.integers(1, 9), st.permutations(list(range(8))))
def test_elements_that_become_more_grow_and_in_any_other_order_do_not(
    first: int, more: int, order: list[int]
) -> None:
    """The time of each call tells nothing: it is the same in all steps."""

    def program(sizes: list[int]) -> Findings:
        own = Shaped()
        for size in sizes:
            with own.step():
                layers(own, 100)
                with own.frame(FRAME):
                    own.call("aten::sort", 300, [[first + more * size, 64], []])
                own.call("aten::mse_loss", 5, [[16, 77], [16, 77]], trains=True)
                own.backward()
        return made(own.listed)

    grown = more * 7 >= 0.1 * first
    found_in_order = rules(program(list(range(8))))
    assert ("growing_work" in found_in_order) == grown
    if order != sorted(order):
        assert "growing_work" not in rules(program(order))


@examples(8)
@given(
    st.integers(8, 40),
    st.lists(
        st.sampled_from(["select", "mul", "add", "tanh", "exp"]),
        min_size=2,
        max_size=6,
        unique=True,
    ),
    st.sampled_from(["functions", "one module", "modules"]),
    st.booleans(),
    st.integers(0, 3),
)
def test_a_python_loop_of_small_calls_is_found(
    rounds: int, body: list[str], over: str, trains: bool, depth: int
) -> None:
    """At any depth, of any length, with or without a backward pass; over bare operators, one module, or a module for each element."""
    rounds = max(rounds, 40 // len(body))

    def loop(program: Shaped) -> None:
        with program.frame("nn.Module: Bands_0"):
            for number in range(rounds):
                if over == "modules":
                    program.call("aten::select", 1, [[16, 40], [], []], ["", "1", "0"])
                for name in body:
                    program.call(f"aten::{name}", 2, [[16]], trains=trains)
                if over != "functions":
                    with program.frame(f"nn.Module: Conv1d_{number if over == 'modules' else 0}"):
                        program.call("aten::conv1d", 4, [[16, 1], [4, 1]], trains=trains)

    answer = item(found(loop, depth), "many_small_calls")
    assert answer["numbers"]["rounds"] >= min(rounds, 8)
    calls = rounds * (len(body) + {"functions": 0, "one module": 1, "modules": 2}[over])
    assert answer["numbers"]["operators"] == calls
    assert answer["recoverable_ns"] <= answer["acted_ns"]


@examples(10)
@given(st.integers(8, 40), st.sampled_from(["layers", "long calls", "optimizer"]))
def test_layers_and_calls_that_work_are_no_loop(rounds: int, why: str) -> None:
    def piece(program: Shaped) -> None:
        begin = program.now
        for number in range(rounds):
            if why == "layers":
                with program.frame(f"nn.Module: Block_{number}"):
                    for name in ("linear", "relu"):
                        program.call(f"aten::{name}", 4, [[16, 40], [40, 40]], trains=True)
                program.call("aten::add", 2, [[16, 40], [16, 40]], trains=True)
            else:
                program.call("aten::select", 1, [[16, 40], [], []], ["", "1", "0"])
                program.call("aten::mul", 200 if why == "long calls" else 2, [[16, 40]])
        if why == "optimizer":
            inside = span("user_annotation", "Optimizer.step#Own.step", begin, program.now - begin)
            program.listed.append(inside)

    assert "many_small_calls" not in rules(found(piece))


@examples(8)
@given(st.integers(16, 40), st.integers(2, 6), st.integers(1, 12))
def test_a_loop_over_the_parameters_is_told_as_such(
    parameters: int, length: int, pause: int
) -> None:
    """Elementwise calls for one parameter after the other, when their gradients are there; without frames, too."""
    entries = []
    begin = 1
    for _ in range(parameters):
        entries.append(span("cpu_op", "torch::autograd::AccumulateGrad", begin, 5))
        begin += 10
    for _ in range(parameters):
        for name in ("mul_", "add_"):
            entries.append(span("cpu_op", f"aten::{name}", begin, length))
            begin += length + pause
    answer = item(made([*steps((0, begin + 100)), *entries]), "many_small_calls")
    assert answer["numbers"]["rounds"] == parameters
    assert answer["words"]["parameters"]
    assert "_foreach_" in answer["words"]["attempt"]


def test_two_places_of_a_program_s_own_are_both_told() -> None:
    program = Shaped()
    for _ in range(4):
        with program.step():
            layers(program, 400)
            program.call("aten::mse_loss", 5, [[16, 77], [16, 77]], trains=True)
            program.backward()
            for name, length in (("a.py(3): log", 500), ("b.py(9): check", 200)):
                with program.frame(name):
                    program.now += length
    entries = [span("python_function", "train.py(1): main", -1, program.now + 2), *program.listed]
    mine = [one for one in made(entries)["found"] if one["rule"] == "own_code"]
    assert [one["words"]["what"] for one in mine] == ["calling log", "calling check"]
    assert [one["line"] for one in mine] == ["a.py(3): log", "b.py(9): check"]


@examples(10)
@given(st.integers(8, 40), st.integers(8, 40), st.integers(1, 3), st.booleans())
def test_a_large_tensor_that_is_summed_at_once_is_found(
    rows: int, columns: int, depth: int, powers: bool
) -> None:
    large = [rows, columns, 24]

    def piece(program: Shaped) -> None:
        program.call("aten::sub", 200, [[rows, 1, 24], [1, columns, 24]], trains=True)
        if powers:
            program.call("aten::pow", 100, [large, []], ["", "2"], trains=True)
        program.call("aten::sum", 100, [large, []], ["", "[-1]"], trains=True)

    one = item(found(piece, depth), "large_intermediate")
    assert one["words"]["shape"] == str(large)
    assert one["line"] == FRAME
    assert one["numbers"]["times"] == min(rows, columns)


@examples(10)
@given(st.sampled_from(["read again", "not linear", "not summed", "as large"]))
def test_a_large_tensor_that_is_needed_is_fine(why: str) -> None:
    large = [30, 30, 24]

    def piece(program: Shaped) -> None:
        small = [large] if why == "as large" else [[30, 1, 24]]
        program.call("aten::sub", 200, [*small, [1, 30, 24]], trains=True)
        name = "aten::tanh" if why == "not linear" else "aten::abs"
        program.call(name, 100, [large], trains=True)
        if why == "not summed":
            program.call("aten::linear", 100, [large, [24, 24]], trains=True)
            return
        program.call("aten::sum", 100, [large, []], ["", "[-1]"], trains=True)
        if why == "read again":
            program.call("aten::mean", 100, [large, []], ["", "[0]"], trains=True)

    assert "large_intermediate" not in asked(found(piece))


@examples(15)
@given(st.lists(st.integers(3, 90), min_size=2, max_size=9), st.booleans(), st.booleans())
def test_padding_is_found(sizes: list[int], written: bool, fits: bool) -> None:
    longest = max(sizes)
    length = longest + 1 if fits else 3 * longest + 1
    batch = [len(sizes), length]

    def piece(program: Shaped) -> None:
        if written:
            program.call("aten::zeros", 5, [[], []], [str(batch)])
        for size in sizes:
            if written:
                program.call("aten::select", 2, [batch, [], []], ["", "0", "0"])
                program.call("aten::slice", 2, *_cut([length], 0, size))
                program.call("aten::copy_", 2, [[size], [size]])
            else:
                program.call("aten::pad", 2, [[size], [], [], []], ["", f"[0, {length - size}]"])
        if not written:
            program.call("aten::stack", 5, [[[length]] * len(sizes), []])
        program.call("aten::embedding", 100, [[50, 7], batch], trains=True)
        program.call("aten::linear", 400, [[*batch, 7], [9, 7]], trains=True)

    findings = found(piece)
    assert ("padded_input" in asked(findings)) != fits
    if not fits:
        one = item(findings, "padded_input")
        assert one["numbers"]["padding"] == pytest.approx(1 - longest / length)
        assert one["recoverable_ns"] == pytest.approx(1e6 * (1 - longest / length), rel=0.05)


def test_what_is_thrown_away_on_a_device_is_its_work() -> None:
    program = Shaped()
    for number in range(3):
        with program.step(), program.frame(FRAME):
            begin = program.now
            program.call("aten::mm", 10, [[500, 9], [9, 400]])
            program.call("aten::slice", 2, *_cut([500, 400], 1, 40))
            program.listed += launched("gemm", number + 1, begin + 2, begin + 5, 900)
            wait = span("cuda_runtime", "cudaDeviceSynchronize", begin + 16, 895, correlation=99)
            program.listed.append(wait)
            program.now = begin + 930
    one = item(made(program.listed), "discarded_work")
    assert one["recoverable_ns"] == pytest.approx(0.9 * 900e3, rel=0.02)


@pytest.mark.parametrize("slow", [1, 8])
def test_a_place_that_is_slow_in_one_step_alone_is_only_possible(slow: int) -> None:
    """One call of many is preempted."""
    program = Shaped()
    for number in range(8):
        with program.step():
            layers(program, 400)
            program.call("aten::mse_loss", 5, [[16, 77], [16, 77]], trains=True)
            program.backward()
            with program.frame("log.py(3): write"):
                program.call("aten::std", 4000 if slow == 8 or number == 4 else 20, [[16, 77]])
    one = item(made(program.listed), "own_code")
    assert one["line"] == "log.py(3): write"
    assert one["certainty"] == ("theoretical" if slow == 1 else "likely")


@pytest.mark.parametrize(("every", "likely"), [(1, False), (3, True)])
def test_a_forward_pass_without_gradients_is_told_where_no_frame_tells(
    every: int, likely: bool
) -> None:
    """In each step it may be needed, as a teacher's; in some it is evaluation."""
    program = Shaped()
    for number in range(9):
        with program.step():
            program.call("aten::linear", 300, [[16, 77], [77, 77]], trains=True)
            program.call("aten::relu", 30, [[16, 77]], trains=True)
            program.backward()
            program.call("aten::argmax", 5, [[16, 77]])
            if number % every == 0:
                program.call("aten::linear", 1500, [[90, 77], [77, 77]])
                program.call("aten::relu", 80, [[90, 77]])
    one = item(made(program.listed), "own_code")
    assert one["words"]["what"] == "a forward pass without gradients"
    assert "aten::linear, aten::relu" in one["words"]["kind"]
    assert (one["certainty"] == "likely") == likely


def test_functions_within_the_model_that_train_nothing_are_told() -> None:
    """A hook that looks at each output."""
    program = Shaped()
    for _ in range(3):
        with program.step():
            with program.frame("nn.Module: Net_0"):
                program.call("aten::linear", 300, [[16, 77], [77, 77]], trains=True)
                with program.frame("watch.py(4): look"):
                    program.call("aten::std", 200, [[16, 77]])
            program.call("aten::mse_loss", 5, [[16, 77], [16, 77]], trains=True)
            program.backward()
    one = item(made(program.listed), "own_code")
    assert one["line"] == "watch.py(4): look"
    assert one["recoverable_ns"] == pytest.approx(201e3, rel=0.02)


@st.composite
def networks(draw: st.DrawFn) -> list[tuple[str, int, float]]:
    """Layers of a network: their kind, width and time."""
    kinds = st.sampled_from(["linear", "relu", "norm", "residual", "attention", "chunk", "loss"])
    layer = st.tuples(kinds, st.integers(4, 60), st.floats(20, 400))
    return draw(st.lists(layer, min_size=3, max_size=14))


def _layer(program: Shaped, number: int, kind: str, rows: int, width: int, time: float) -> None:
    x = [rows, width]
    if kind == "linear":
        with program.frame(f"nn.Module: Linear_{10 + number}"):
            program.call("aten::linear", time, [x, [width, width], [width]], trains=True)
    elif kind == "norm":
        dims = [x, [], [width], [width], []]
        program.call("aten::layer_norm", time, dims, ["", f"[{width}]"], trains=True)
    elif kind == "attention":
        q = [4, rows, 2, width]
        for part in ("q", "k", "v"):
            with program.frame(f"nn.Module: Linear_{100 * number + ord(part)}"):
                program.call("aten::linear", time / 4, [x, [width, width], [width]], trains=True)
        program.call("aten::scaled_dot_product_attention", time, [q, q, q], trains=True)
    elif kind == "chunk":
        for begin, end in ((0, width // 2), (width // 2, width)):
            concrete = ["", "1", str(begin), str(end), "1"]
            program.call("aten::slice", 2, [x, [], [], [], []], concrete, trains=True)
            program.call("aten::sigmoid", time / 4, [[rows, end - begin]], trains=True)
    elif kind == "residual":
        program.call("aten::add", time, [x, x, []], trains=True)
    else:
        program.call(
            "aten::relu" if kind == "relu" else "aten::mse_loss", time, [x, x], trains=True
        )


@examples(40)
@given(networks(), st.integers(4, 70), st.booleans(), st.integers(3, 7))
def test_healthy_networks_are_asked_in_vain(
    drawn: list[tuple[str, int, float]], rows: int, framed: bool, steps: int
) -> None:
    program = Shaped()
    for _ in range(steps):
        with program.step():
            program.call("aten::randn", 5, [[], [], []], [f"[{rows}, 3]"])
            for number, (kind, width, time) in enumerate(drawn):
                if framed:
                    with program.frame(f"nn.Module: Block_{number}"):
                        _layer(program, number, kind, rows, width, time)
                else:
                    _layer(program, number, kind, rows, width, time)
            program.backward()
            program.update(*([width, width] for _, width, _ in drawn))
    assert not asked(made(program.listed))


ODD = st.sampled_from(["", "-1", "9", "[2, 2]", "[]", "nan", "True", "x", "9223372036854775807"])
NAMES = "slice select narrow diagonal index gather pad zeros sort repeat view permute conv2d mm t flatten cat sum randperm trace"


@examples(60)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(NAMES.split()),
            st.lists(st.lists(st.integers(0, 5), max_size=4), max_size=4),
            st.lists(ODD, max_size=5),
        ),
        max_size=12,
    )
)
def test_any_arguments_are_survived(drawn: list[tuple[str, list[list[int]], list[str]]]) -> None:
    program = Shaped()
    for _ in range(2):
        with program.step():
            for name, dims, concrete in drawn:
                program.call(f"aten::{name}", 50, dims, concrete)
            program.call("aten::relu", 50, [[3, 3]], trains=True)
            program.backward()
    made(program.listed)
