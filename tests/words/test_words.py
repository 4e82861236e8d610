"""Texts speak one English: no phrase of the old dialect, and one word per thing."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from tests.generate import ROOT
from tests.words import listing
from tests.words.listing import is_phrase, phrases

DEFINITIONS = "torch_tb_profiler/views/definitions.json"
BANNED = {
    r"had back|could be saved|can be saved|regained": "recoverable",
    r"\bas a rule\b|\busually\b": "typically",
    r"\bdear(er|est)\b|\bcostliest\b": "most expensive",
    r"\blaid at\b|\bcharged to\b": "attributed to",
    r"\bthe surround(ings)?\b": "TensorBoard",
    r"\bof the profiler$|^of the profiler\b": "profiler overhead",
    r"\bas at first\b|\ball as by default\b": "reset",
    r"\blooked at\b|\bto look at it\b": "shown, opened, read",
    r"no computing|keep Tensor Cores from": "n/a, misaligned",
    r"of which (it is|nothing can be read)": "whose …, cached, unreadable",
    r"\bfloating[- ]point operations per second\b": "FLOP/s",
    r"\bin between of\b|\bwhat stands in\b|\bstands for itself\b": "plain words",
    r"\bthe (nearest|costliest) few\b": "top",
    r"\bGPU works\b|\bworks, copies included\b": "GPU active",
    r"\bcopies included\b": "incl. copies",
    r"\bcores of matrices\b|\bmatrix units\b": "matrix cores",
    r"\bpicture elements?\b": "pixel",
    r"\bsurely\b|\bmoreover\b|\bhitherto\b|\bthereof\b|\bwhereof\b": "plain words",
}
"""Phrase → what says the same."""


def banned(text: str) -> list[str]:
    """The phrases in a text that have a better one."""
    return [
        f"{match[0]!r} in {line!r}: {better}"
        for pattern, better in BANNED.items()
        for line in text.splitlines()
        if (match := re.search(pattern, line, re.IGNORECASE))
    ]


@pytest.mark.slow
def test_no_banned_phrase_in_the_package() -> None:
    found = phrases(listing.python())
    assert len(found) > 1000
    assert banned("\n".join(found)) == []


@pytest.mark.slow
def test_no_banned_phrase_in_the_page() -> None:
    try:
        found = phrases(listing.page())
    except (subprocess.CalledProcessError, FileNotFoundError):
        pytest.skip("Node.js or the page's packages are not installed: npm ci --prefix fe")
    assert len(found) > 500
    assert banned("\n".join(found)) == []


def test_no_banned_phrase_in_a_definition() -> None:
    entries = json.loads((ROOT / DEFINITIONS).read_text(encoding="utf-8"))
    assert banned("\n".join(entry["text"] for entry in entries)) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Up to {} could be had back", True),
        ("{:.1f} ms", False),
        ("aten::mm of it", False),
        ("SELECT a FROM b", False),
        ("button primary", True),
    ],
)
def test_what_is_a_phrase(text: str, expected: bool) -> None:
    assert is_phrase(text) is expected


def test_a_banned_phrase_is_found() -> None:
    assert len(banned("As a rule this is fine.\nIt could be had back.")) == 2
