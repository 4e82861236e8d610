"""Short names that are alike: the words that tell them apart."""

from __future__ import annotations

from torch_tb_profiler.analysis.figures.unique_labels import unique_labels


def test_alike_names_get_the_words_in_which_the_full_ones_differ() -> None:
    full = [
        "void at::vec_kernel<4, AUnaryFunctor<float, MulFunctor<float>>>(int)",
        "void at::vec_kernel<4, BinaryFunctor<float, float, MulFunctor<float>>>(int)",
        "void at::other<float>()",
    ]
    assert unique_labels(full, ["vec<Mul>", "vec<Mul>", "other"]) == [
        "vec<Mul> …AUnaryFunctor…",
        "vec<Mul> …BinaryFunctor…",
        "other",
    ]


def test_one_kernel_in_several_rows_keeps_its_name() -> None:
    assert unique_labels(["void f<1>()", "void f<1>()"], ["f", "f"]) == ["f", "f"]


def test_a_word_that_comes_once_more_tells_too() -> None:
    assert unique_labels(["f<int, int>", "f<int>"], ["f", "f"]) == ["f …int…", "f"]


def test_as_many_words_as_it_takes() -> None:
    full = ["f<a, x>", "f<a, y>", "f<b, x>", "f<b, y>"]
    told = unique_labels(full, ["f"] * 4)
    assert len(set(told)) == 4
    assert told[0] == "f …a…x…"
