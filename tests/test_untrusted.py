"""What others wrote is opened, decoded and printed without doing what its writer may have meant it to do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.units import NARROW_SPACE
from torch_tb_profiler.untrusted import (
    DEEPEST,
    LONGEST_SHOWN,
    ForeignFile,
    decoded,
    printable,
    printable_json,
    read_file,
    readable,
    said,
)

UNSEEN = "\ufe00\ufe0f\u034f\u115f\u3164\uffa0\u2800\u180b\U000e0041\U000e0100\U000e01ef"
"""Shown as nothing, though printable by Python."""
HOSTILE = st.text(
    st.characters()
    | st.sampled_from("\x1b\x9b\x07\r\n\t\x00\x7f\u202e\u2066\u200b\u2028\ud800\ufeff" + UNSEEN)
)
_STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")


def _is_unseen(character: str) -> bool:
    """What Unicode ignores by default, and the empty pattern of Braille."""
    return (
        re.match(
            "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]",
            character,
        )
        is not None
    )


def steers(character: str) -> bool:
    return unicodedata.category(character) in _STEERING


@pytest.mark.parametrize("length", [0, LONGEST_SHOWN, LONGEST_SHOWN + 1, 100_000])
def test_a_sentence_of_others_is_cut(length: int) -> None:
    shown = said("x" * length)
    assert shown.startswith("x" * min(length, LONGEST_SHOWN))
    assert len(shown) == length if length <= LONGEST_SHOWN else shown.endswith("x …")
    assert len(shown) <= LONGEST_SHOWN + 2


@given(HOSTILE)
def test_nothing_that_is_printed_steers_a_terminal(text: str) -> None:
    shown = printable(text)
    assert len(shown) == len(text)
    assert not any(map(steers, shown))
    assert not set(shown) & set(UNSEEN)
    kept = [c for c in text if (c.isprintable() and not _is_unseen(c)) or c == NARROW_SPACE]
    assert [c for c in shown if c != "?"] == [c for c in kept if c != "?"]
    lines = printable(text, lines=True)
    assert not any(map(steers, lines.replace("\r\n", "").replace("\n", "").replace("\t", "")))
    assert lines.count("\n") == text.count("\n")
    assert "\n" not in said(text)


@given(st.recursive(HOSTILE, lambda inner: st.lists(inner) | st.dictionaries(HOSTILE, inner)))
def test_json_that_is_printed_keeps_its_value(value: Any) -> None:
    plain = json.dumps(value, ensure_ascii=False, indent=1)
    shown = printable_json(plain)
    assert json.loads(shown) == json.loads(plain)
    assert not any(map(steers, shown.replace("\n", "")))


@given(HOSTILE)
def test_readable_texts_can_be_sent(text: str) -> None:
    readable(text).encode()


def _deep(levels: int) -> st.SearchStrategy[str]:
    pairs = st.lists(st.sampled_from(["[]", "{}"]), min_size=levels, max_size=levels)
    return pairs.map(
        lambda chosen: (
            "".join("[" if pair == "[]" else '{"]}":' for pair in chosen)
            + "1"
            + "".join(pair[1] for pair in reversed(chosen))
        )
    )


@given(st.integers(0, DEEPEST).flatmap(_deep))
def test_few_levels_are_decoded(text: str) -> None:
    assert decoded(text.encode()) == json.loads(text)


@given(
    st.sampled_from([2 * DEEPEST + 1, 1000, 100_000]).flatmap(lambda n: st.just("[" * n)),
    st.booleans(),
)
def test_many_levels_are_refused(opened: str, closed: bool) -> None:
    with pytest.raises(ValueError, match="levels"):
        decoded((opened + "]" * len(opened) * closed).encode())


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('[]{}"\\a', max_size=5), inner),
)


@given(_VALUES)
def test_brackets_in_texts_are_no_levels(value: Any) -> None:
    assert decoded(json.dumps(value).encode()) == value


@given(st.binary(max_size=200) | st.text('[]{}":,\\1eE+-.tn u00d8', max_size=60).map(str.encode))
def test_any_bytes_are_a_value_or_refused(text: bytes) -> None:
    with suppress(ValueError):
        decoded(text)


@pytest.mark.skipif(os.name != "posix", reason="pipes and links")
def test_only_small_regular_files_are_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert read_file(file, 5) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes"):
        read_file(file, 4)
    (tmp_path / "link").symlink_to(file)
    assert read_file(tmp_path / "link", 5) == b"12345"
    with pytest.raises(ForeignFile, match="symbolic link"):
        read_file(tmp_path / "link", 5, links=False)
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero"), Path("/dev/null")):
        with pytest.raises(OSError, match="no regular file"):
            read_file(path, 5)
    # A file of the system, which says that it has no bytes.
    with pytest.raises(OSError, match="more than 4 bytes"):
        read_file("/proc/self/status", 4)


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o620, 0o602, 0o666])
def test_what_others_may_write_is_not_our_own(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    file.chmod(mode)
    if mode & 0o022:
        with pytest.raises(ForeignFile, match=f"{mode:04o}"):
            read_file(file, 5, own=True)
    else:
        assert read_file(file, 5, own=True) == b"x"


@pytest.mark.processes
def test_types_that_several_threads_use_first() -> None:
    """Without being prepared they crash msgspec, within few tries."""
    done = subprocess.run(
        [sys.executable, "-c", _FIRST_USES], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr


_FIRST_USES = """
import sys, threading
import msgspec
from torch_tb_profiler.untrusted import decoded
sys.setswitchinterval(1e-6)
for n in range(40):
    inner = [msgspec.defstruct(f"I{n}_{i}", [("a", int, 0)]) for i in range(10)]
    kind = msgspec.defstruct(f"T{n}", [(f"f{i}", list[each]) for i, each in enumerate(inner)])
    text = msgspec.json.encode({f"f{i}": [{"a": 1}] for i in range(10)})
    threads = [threading.Thread(target=decoded, args=(text, kind)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print("alive")
"""
