"""Regular expressions that are compiled when they are first asked."""

from __future__ import annotations

import re

import pytest

from torch_tb_profiler.patterns import regex


def test_it_answers_as_a_compiled_expression() -> None:
    deferred, compiled = regex(r"(?P<name>a+)b", re.IGNORECASE), re.compile(r"(?P<name>a+)b", re.I)
    assert deferred.pattern == compiled.pattern
    assert deferred.flags == compiled.flags
    assert deferred.findall("xAAb ab") == compiled.findall("xAAb ab")
    assert deferred.sub("-", "xAAb ab") == "x- -"
    match = deferred.search("xaab")
    assert match
    assert match["name"] == "aa"


def test_a_wrong_one_fails_when_it_is_asked() -> None:
    wrong = regex("(")
    with pytest.raises(re.error):
        wrong.match("a")
