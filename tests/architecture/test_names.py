"""Rooms say what they hold, and no module takes the name of a standard one."""

from __future__ import annotations

import pytest

from tests.architecture import names, tree
from tests.architecture.debts import unpaid


def test_no_room_is_called_by_a_word_that_says_nothing() -> None:
    assert names.banned(tree.files()) == []


def test_no_module_shadows_a_standard_one() -> None:
    assert unpaid("shadow", names.shadowing(tree.python_package())) == []


@pytest.mark.parametrize(
    "path",
    [
        "torch_tb_profiler/utils/x.py",
        "torch_tb_profiler/store/helpers.py",
        "fe/src/common/x.ts",
        "fe/src/base/misc.test.ts",
    ],
)
def test_a_banned_name_is_found(path: str) -> None:
    assert names.banned([path]) == [path]


def test_a_word_that_contains_one_is_no_such_name() -> None:
    assert names.banned(["torch_tb_profiler/store/cores.py", "docs/misc/x.md"]) == []


@pytest.mark.parametrize(
    "path",
    [
        "torch_tb_profiler/views/operator.py",
        "torch_tb_profiler/io/__init__.py",
        "torch_tb_profiler/sources/gzip.py",
    ],
)
def test_a_shadow_is_found(path: str) -> None:
    assert names.shadowing([path]) == {path: 1}


def test_a_name_of_our_own_is_no_shadow() -> None:
    assert (
        names.shadowing(
            [
                "torch_tb_profiler/views/operators.py",
                "torch_tb_profiler/__init__.py",
                "torch_tb_profiler/__main__.py",
            ]
        )
        == {}
    )
