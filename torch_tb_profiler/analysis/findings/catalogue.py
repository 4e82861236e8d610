"""The catalogue: calls that are slow in a known way, and the call or option that exists instead, with its source.

The rows are data (``catalogue.json``, one object each with the attributes of ``Fix``). A row gives words and a fix to a
cause that was found; it claims nothing by itself. A call is known by a frame of its library,
``torch/serialization.py(…): save``, by a function in C, ``<built-in function collect>``, or by an operator,
``aten::nonzero``. Line numbers are left out before a name is compared; the first row that matches counts.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import msgspec

from torch_tb_profiler.analysis.findings.candidate import Certainty
from torch_tb_profiler.store.python_frames import PythonFrame


class Fix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A known call.

    Attributes:
        pattern: a regular expression that matches its frame or operator.
        example: a name, as profilers write it, that the pattern is for.
        what: what engineers call it: a noun, or a verb with -ing, that a sentence can begin with.
        attempt: what to write instead, one or two sentences.
        source: (title, address) of the page that says so.
        certainty: how sure it is that its time goes.
    """

    pattern: str
    example: str
    what: str
    attempt: str
    source: tuple[str, str]
    certainty: Certainty = "likely"


@cache
def fixes() -> tuple[Fix, ...]:
    """All rows, in the order in which they are asked; read on first use."""
    text = Path(__file__).with_suffix(".json").read_bytes()
    return msgspec.json.decode(text, type=tuple[Fix, ...])


def known_fix(name: str) -> Fix | None:
    """What is known of a frame or an operator."""
    frame = PythonFrame.of(name)
    text = frame.without_line if frame and frame.file else name
    return next((fix for fix in fixes() if re.search(fix.pattern, text)), None)
