"""The questions that are asked of any place: each planted at any size, place and depth, and healthy programs that stay silent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.findings.cases import Findings, item, made, rules, span
from tests.builders.shaped import Shaped

QUESTIONS = {"costly_order", "discarded_work", "growing_work", "repeated_input", "same_again"}
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


@settings(max_examples=15, deadline=None)
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


@settings(max_examples=10, deadline=None)
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


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 9), SIZES, st.integers(1, 3), st.booleans())
def test_work_on_repeated_input_is_found(times: int, rows: int, depth: int, windows: bool) -> None:
    shape = [rows + 100, 16 * times]

    def piece(program: Shaped) -> None:
        source = [1, 1] if windows else [1, 0]
        program.call(
            "aten::contiguous",
            50,
            [shape, []],
            ["", "0"],
            strides=[source],
            beneath=[("aten::clone", [shape, []], [source, []])],
        )
        program.call("aten::exp", 200, [shape], trains=True)
        program.call("aten::sum", 100, [shape, []], trains=True)

    one = item(found(piece, depth), "repeated_input")
    assert one["line"] == FRAME
    assert one["words"]["what"] == "aten::contiguous"
    assert one["share"] > 0.4


def test_a_bias_is_no_repeated_input() -> None:
    def piece(program: Shaped) -> None:
        beneath = [("aten::copy_", [[500, 64], [500, 64]], [[64, 1], [0, 1]])]
        program.call("aten::linear", 300, [[500, 32], [64, 32], [64]], beneath=beneath, trains=True)

    assert not asked(found(piece))


@settings(max_examples=15, deadline=None)
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


@settings(max_examples=10, deadline=None)
@given(SIZES, st.integers(2, 4), st.integers(1, 3))
def test_a_module_called_again_on_the_same_input_is_found(
    rows: int, calls: int, depth: int
) -> None:
    def piece(program: Shaped) -> None:
        program.call("aten::randn", 5, [[], [], []], [f"[{rows}, 51]"])
        for number in range(calls):
            with program.frame("nn.Module: Body_0"):
                with program.frame("nn.Module: Linear_5"):
                    program.call("aten::linear", 150, [[rows, 51], [50, 51], [50]], trains=True)
                program.call("aten::tanh", 50, [[rows, 50]], trains=True)
            with program.frame(f"nn.Module: Head_{number}"):
                program.call("aten::linear", 9, [[rows, 50], [number + 2, 50]], trains=True)

    one = item(found(piece, depth), "same_again")
    assert one["words"]["what"] == "Body"
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


@settings(max_examples=10, deadline=None)
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


@settings(max_examples=10, deadline=None)
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
