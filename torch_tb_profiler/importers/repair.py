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

from torch_tb_profiler.importers.brackets import too_deep
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.defects import BAD_UTF8, REPAIRED, DefectCounts

MAX_DEPTH = 48

_ALL = rb"*+" if sys.version_info >= (3, 11) else rb"*"
"""A possessive repeat, where Python has it."""
STRING = rb'"[^"\\]*(?:\\.[^"\\]*)' + _ALL + rb'(?:"|(?P<open>\\?\Z))'
"""A string, or one cut off by the end of the text (group ``open``): it never backtracks."""
WHOLE_STRING = regex(STRING, re.DOTALL)
_PIECES = regex(
    # Most strings are fine: many at a time, with what is between them.
    rb'(?P<fine>(?:"[^"\\\x00-\x1f]*"[^"NnIi-]*){1,64})|'
    + STRING
    + rb"|-?\b(?:NaN|nan|Infinity|inf)\b|\bN/A\b",
    re.DOTALL,
)
_ESCAPE = regex(rb'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')
_REPLACEMENT = "\ufffd".encode()
_SURROGATE = regex(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_CONTROL = regex(rb"[\x00-\x1f]")


def repair(text: bytes, counts: DefectCounts) -> bytes:
    """The text with everything in the table above repaired except nesting; repairs are counted."""
    text = as_utf8(text, counts)
    mended = 0

    def mend(match: re.Match[bytes]) -> bytes:
        nonlocal mended
        piece = match.group()
        if match.lastgroup == "fine":
            return piece
        better = _mend_string(piece) if piece[:1] == b'"' else b"null"
        mended += better is not piece
        return better

    out = _PIECES.sub(mend, text)
    counts.add(REPAIRED, mended)
    return out


def as_utf8(text: bytes, counts: DefectCounts) -> bytes:
    """The text with U+FFFD in place of what is not UTF-8; what was replaced is counted."""
    try:
        text.decode("utf-8")
        return text
    except UnicodeDecodeError:
        before = text.count(_REPLACEMENT)
        text = text.decode("utf-8", "replace").encode("utf-8")
        counts.add(BAD_UTF8, text.count(_REPLACEMENT) - before)
        return text


def _mend_string(piece: bytes) -> bytes:
    out = piece
    if b"\\" in out:
        out = _ESCAPE.sub(lambda m: m.group() if m.group(1) is not None else b"\\\\", out)
        out = _SURROGATE.sub(lambda m: _REPLACEMENT if len(m.group()) == 6 else m.group(), out)
    if _CONTROL.search(out):
        out = _CONTROL.sub(lambda m: b"\\u%04x" % m.group()[0], out)
    return piece if out == piece else out


def shallow(text: bytes, counts: DefectCounts) -> bytes:
    """The value with everything deeper than ``MAX_DEPTH`` replaced by ``null``."""
    out: list[bytes] = []
    copied_to = 0
    for start, end in too_deep(text, MAX_DEPTH):
        out.append(text[copied_to:start] + b"null")
        copied_to = end
    counts.add(REPAIRED)
    return b"".join(out) + text[copied_to:]
