"""Make JSON of text that almost is, as profilers on real machines write it.

============================ =========================
found                        becomes
============================ =========================
bytes that are not UTF-8     U+FFFD
a raw newline in a string    its escape
``C:\\Users`` in a string      the backslash doubled
bare ``NaN``, ``Infinity``   ``null``
bare ``N/A``                 ``null``
nesting beyond ``MAX_DEPTH`` ``null``
============================ =========================
"""

from __future__ import annotations

import re

from torch_tb_profiler.store.defects import BAD_UTF8, REPAIRED, DefectCounts

MAX_DEPTH = 48

STRING = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_PIECES = re.compile(STRING + rb"|-?\b(?:NaN|nan|Infinity|inf)\b|\bN/A\b", re.DOTALL)
_ESCAPE = re.compile(rb'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')
_CONTROL = re.compile(rb"[\x00-\x1f]")
_TOKENS = re.compile(STRING + rb'|["{}\[\]]', re.DOTALL)


def repair(text: bytes, counts: DefectCounts) -> bytes:
    """The text with everything of the table above mended but nesting; each mended piece is counted."""
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        text = text.decode("utf-8", "replace").encode("utf-8")
        counts.add(BAD_UTF8)
    mended = 0

    def mend(match: re.Match[bytes]) -> bytes:
        nonlocal mended
        piece = match.group()
        better = _mend_string(piece) if piece[:1] == b'"' else b"null"
        mended += better is not piece
        return better

    out = _PIECES.sub(mend, text)
    counts.add(REPAIRED, mended)
    return out


def _mend_string(piece: bytes) -> bytes:
    out = piece
    if b"\\" in out:
        out = _ESCAPE.sub(lambda m: m.group() if m.group(1) is not None else b"\\\\", out)
    if _CONTROL.search(out):
        out = _CONTROL.sub(lambda m: b"\\u%04x" % m.group()[0], out)
    return piece if out == piece else out


def value_end(text: bytes, start: int) -> int:
    """The position after the object or array that begins at ``start``; −1 when the text ends before it does.

    Strings are skipped as JSON has them; a text with broken strings gives a wrong answer, which the decoder then refuses.
    """
    depth = 0
    for match in _TOKENS.finditer(text, start):
        token = match.group()
        if token in b"{[":
            depth += 1
        elif token in b"}]":
            depth -= 1
            if depth <= 0:
                return match.end()
        elif token == b'"':
            return -1
    return -1


def shallow(text: bytes, counts: DefectCounts) -> bytes:
    """The value with everything nested deeper than ``MAX_DEPTH`` replaced by ``null``."""
    out: list[bytes] = []
    depth, kept = 0, 0
    for match in _TOKENS.finditer(text):
        token = match.group()
        if token in b"{[":
            depth += 1
            if depth == MAX_DEPTH + 1:
                out.append(text[kept:match.start()] + b"null")
        elif token in b"}]":
            if depth == MAX_DEPTH + 1:
                kept = match.end()
            depth -= 1
    counts.add(REPAIRED)
    return b"".join(out) + text[kept:]
