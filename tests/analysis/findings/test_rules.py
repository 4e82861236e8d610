"""Every rule is a file, or a part of the file of its question: nothing else lists it."""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from functools import cache
from importlib import import_module
from pathlib import Path
from string import Formatter
from typing import Any, get_args

import pytest

from tests.generate.rules import page
from tests.views.findings.claims import OF_DEVICES, OF_NVIDIA
from torch_tb_profiler.analysis.findings import rules
from torch_tb_profiler.analysis.findings.rule import WORDS, FindingView, Rule, Unit, words_of
from torch_tb_profiler.analysis.findings.rules import RULES
from torch_tb_profiler.analysis.reasons import questions
from torch_tb_profiler.views.words.texts import filled

ROOT = Path(__file__).resolve().parents[3]
NAMES = {
    "device",
    "multiprocessor",
    "matrix_cores",
    "step",
    "several",
    "allocator_setting",
    "gain",
    "share",
    "worker",
    "holds",
    "is",
    "at",
    "which_steps",
}
"""What every text may name, and the worker of a straggler."""


def _named(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def _texts(rule: Rule) -> tuple[str, ...]:
    return (rule.title, rule.sentence, rule.attempt, rule.caveat)


def test_every_file_has_the_rules_of_its_words() -> None:
    rooms = (*rules.__path__, *questions.__path__)
    files = {path.stem for room in rooms for path in Path(room).glob("*.py")} - {"__init__"}
    assert files == {path.stem for path in WORDS.glob("*.json")}
    for file in files:
        [module] = {RULES.modules[key] for key in words_of(file)}
        assert set(import_module(module).QUESTION) == set(words_of(file))
    assert len({rule.place for rule in RULES.values()}) == len(RULES)


@cache
def _keys(path: str) -> set[str]:
    """Every literal in the code of some modules: words are put into a claim by their names."""
    files = sorted(ROOT.glob(path))
    assert files
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))]
    return {one.value for one in nodes if isinstance(one, ast.Constant) if type(one.value) is str}


@pytest.mark.parametrize("key", RULES)
def test_its_texts_are_whole_sentences_of_words_that_it_gives(key: str) -> None:
    rule = RULES[key]
    details = dict(rule.details)
    module = _keys(f"{RULES.modules[key].replace('.', '/')}.py")
    numbers = {*rule.numbers, *module, *_keys("torch_tb_profiler/analysis/findings/*.py")}
    assert not rule.title.endswith(".")
    for text in details.values():
        assert text.endswith(".")
    for text in _texts(rule):
        assert _named(text) <= NAMES | numbers
    for key, text in details.items():
        assert _named(text) <= NAMES | numbers | {key}
    assert set(rule.views) <= set(get_args(FindingView))
    assert rule.views
    assert {unit for _, unit in rule.numbers.values()} <= set(get_args(Unit))
    assert all(url.startswith("https://docs.pytorch.org/") for _, url in rule.links)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_no_verb_behind_the_workers_is_of_one_alone(rule: Rule) -> None:
    """There may be several: the verb is a word that agrees with them (``{holds}``)."""
    of_one = re.compile(r"\{worker\} (?:is|was|has|\w+s)\b")
    assert not [text for text in _texts(rule) if of_one.search(text)]


@pytest.mark.parametrize("recorded", ["host", "device", "device amd", "device nvidia"])
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_what_a_rule_says_fits_what_was_recorded(rule: Rule, recorded: str) -> None:
    """Of a host alone no word of devices; of other vendors' none of NVIDIA's."""
    of_a_device = rule.of_device or rule.of_memory
    if recorded == "host" and of_a_device:
        return
    words = defaultdict(lambda: "one", device="accelerator", recorded=recorded)
    written = (*_texts(rule), rule.action, rule.fact, rule.cause, rule.without, rule.remark)
    texts = [filled(text, words) for text in (*written, *dict(rule.details).values())]
    assert all(text.endswith(".") for text in texts[1:4])
    texts += [rule.edit, *(text for text, _ in rule.links)]
    if recorded != "device nvidia":
        pattern = OF_DEVICES if recorded == "host" else OF_NVIDIA
        assert not [text for text in texts if pattern.search(text)]
    assert not [text for text in (rule.title, rule.caveat) if "<" in text]


def test_no_key_of_the_words_stands_twice() -> None:
    for path in WORDS.glob("*.json"):
        json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_each_once)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len({key for key, _ in pairs}) == len(pairs), [key for key, _ in pairs]
    return dict(pairs)


def test_the_definitions_are_those_of_the_files() -> None:
    written = (ROOT / "docs" / "definitions.md").read_text(encoding="utf-8")
    assert page(written) == written, "run: python -m tests.generate --write"
    for key in RULES:
        assert f"\n### finding_{key} — " in written


def test_nothing_else_knows_a_rule_by_its_name() -> None:
    for path in (ROOT / "torch_tb_profiler").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"findings\.rules(\.| import (?!RULES$))", text, re.MULTILINE), path
    for room in ("analysis/findings", "views", "web", "api", "cli"):
        for path in (ROOT / "torch_tb_profiler" / room).rglob("*.py"):
            if path.parent.name != "rules":
                text = path.read_text(encoding="utf-8")
                assert not [key for key in RULES if f'"{key}"' in text], path
    for path in (ROOT / "fe/src").rglob("*.ts*"):
        if ".test." not in path.name:
            assert not re.search(r"\brule [=!]==? ", path.read_text(encoding="utf-8")), path
