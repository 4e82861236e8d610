"""Functions of Python as profilers name them."""

from __future__ import annotations

import re

import msgspec

from torch_tb_profiler.patterns import regex

_TEXT = regex(
    r"<built-in (?:function|method) (?P<built_in>\S+?)(?: of .+)?>"
    r"|(?:(?P<file>.+?)\((?P<line>\d+)\)|(?P<opened>.+?\.py|<ipython-input[^>]*>)): (?P<function>.+)",
    re.DOTALL,
)
_MOST_DIGITS = 18


class PythonFrame(msgspec.Struct, frozen=True):
    """A function in a file, or one that is written in C.

    ::

        torch/serialization.py(12): save         a line of a file
        main.py: main                            without the line, which told nothing (``facts/stacks.py``)
        <frozen importlib._bootstrap>(9): load   of no file; ``file`` is what stands there
        <built-in method sum of Tensor at 0x7>   ``file`` is empty

    Attributes:
        line: the number in the file; None unknown.
    """

    function: str
    file: str = ""
    line: int | None = None

    @classmethod
    def of(cls, text: str) -> PythonFrame | None:
        """The function that a name is of; None of an operator, a kernel or a module."""
        match = _TEXT.fullmatch(text)
        if match is None:
            return None
        if match["built_in"]:
            return cls(match["built_in"])
        # Python refuses to read a number of thousands of digits, and no file has so many lines.
        digits = match["line"]
        line = int(digits) if digits and len(digits) <= _MOST_DIGITS else None
        return cls(match["function"], match["file"] or match["opened"], line)

    @property
    def is_source(self) -> bool:
        """Whether somebody wrote it: in a file of Python, or a cell of a notebook."""
        return self.file.endswith(".py") or self.file.startswith("<ipython-input")

    @property
    def place(self) -> str:
        """``serialization.py:12``, the file without its folders; ``main.py`` where no line is known."""
        name = self.file.replace("\\", "/").rsplit("/", 1)[-1]
        return name if self.line is None else f"{name}:{self.line}"

    @property
    def without_line(self) -> str:
        """``torch/serialization.py: save``."""
        return f"{self.file}: {self.function}"

    @property
    def short(self) -> str:
        """``save at serialization.py:12``, without the line ``main of main.py``."""
        return f"{self.function} {'of' if self.line is None else 'at'} {self.place}"


def function_name(text: str) -> str:
    """The function of a frame, ``collect`` of ``<built-in function collect>`` and ``save`` of ``torch/serialization.py(12): save``;
    any other name as it is.
    """
    frame = PythonFrame.of(text)
    return frame.function if frame else text
