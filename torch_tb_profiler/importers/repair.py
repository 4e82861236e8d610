"""Repair text that is almost JSON, as profilers on real machines write it.

============================ =========================
text                         becomes
============================ =========================
bytes that are not UTF-8     U+FFFD
a raw newline in a string    its escape
half of a surrogate pair     U+FFFD
``C:\\Users`` in a string      the backslash doubled
bare ``NaN``, ``Infinity``   ``null``
bare ``N/A``                 ``null``
nesting beyond ``MAX_DEPTH`` ``null``
============================ =========================
"""

from __future__ import annotations

import re
import sys

from torch_tb_profiler.store.defects import BAD_UTF8, REPAIRED, DefectCounts

MAX_DEPTH = 48

_ALL = rb"*+" if sys.version_info >= (3, 11) else rb"*"
"""A possessive repeat, where Python has it."""
STRING = rb'"[^"\\]*(?:\\.[^"\\]*)' + _ALL + rb'(?:"|(?P<open>\\?\Z))'
"""A string, or one cut off by the end of the text (group ``open``): it never backtracks."""
WHOLE_STRING = re.compile(STRING, re.DOTALL)
_PIECES = re.compile(STRING + rb"|-?\b(?:NaN|nan|Infinity|inf)\b|\bN/A\b", re.DOTALL)
_ESCAPE = re.compile(rb'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')
_REPLACEMENT = "\ufffd".encode()
_SURROGATE = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_CONTROL = re.compile(rb"[\x00-\x1f]")
TOKENS = re.compile(STRING + rb"|[{}\[\]]", re.DOTALL)


def repair(text: bytes, counts: DefectCounts) -> bytes:
    """The text with everything in the table above repaired except nesting; repairs are counted."""
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        before = text.count(_REPLACEMENT)
        text = text.decode("utf-8", "replace").encode("utf-8")
        counts.add(BAD_UTF8, text.count(_REPLACEMENT) - before)
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
        out = _SURROGATE.sub(lambda m: _REPLACEMENT if len(m.group()) == 6 else m.group(), out)
    if _CONTROL.search(out):
        out = _CONTROL.sub(lambda m: b"\\u%04x" % m.group()[0], out)
    return piece if out == piece else out


def value_end(text: bytes, start: int, limit: int) -> int:
    """The end of the object or array that begins at ``start``; −1 if not before ``limit``.

    With broken strings the answer may be wrong; the decoder then refuses the text.
    """
    depth = 0
    for match in TOKENS.finditer(text, start, limit):
        token = match.group()
        if token in b"{[":
            depth += 1
        elif token in b"}]":
            depth -= 1
            if depth <= 0:
                return match.end()
    return -1


def opens(text: bytes, start: int, end: int) -> bool:
    """Whether text[start:end], its strings being whole, opens more brackets than it closes."""
    depth = 0
    for match in TOKENS.finditer(text, start, end):
        if match.lastgroup is not None:
            return False
        token = match.group()
        depth += (token in b"{[") - (token in b"}]")
    return depth > 0


def shallow(text: bytes, counts: DefectCounts) -> bytes:
    """The value with everything deeper than ``MAX_DEPTH`` replaced by ``null``."""
    out: list[bytes] = []
    depth, copied_to = 0, 0
    for match in TOKENS.finditer(text):
        token = match.group()
        if token in b"{[":
            depth += 1
            if depth == MAX_DEPTH + 1:
                out.append(text[copied_to : match.start()] + b"null")
        elif token in b"}]":
            if depth == MAX_DEPTH + 1:
                copied_to = match.end()
            depth -= 1
    counts.add(REPAIRED)
    return b"".join(out) + text[copied_to:]
