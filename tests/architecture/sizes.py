"""Lines of files and of functions, in Python (syntax tree) and TypeScript (brackets after comments
and texts are blanked).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

FILE_LIMIT = 400
FUNCTION_LIMIT = 60

_NOT_A_FUNCTION = frozenset({"if", "for", "while", "switch", "catch", "with"})
_BEFORE_BODY = re.compile(r"\)\s*(?::[^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)?)?$")
_NAME = re.compile(r"([\w$]+)\s*(?:<[^<>(){}]*>)?\s*$")
_ARROW_NAME = re.compile(r"([\w$]+)\s*(?::[^=]*)?=\s*(?:async\s*)?(?:\([^()]*\)|[\w$]+)[^=]*$")
_SUITE = re.compile(r"\bdescribe(?:\.\w+)?\([^\n]*,\s*(?:async\s*)?\(\)\s*$")
_OPEN, _CLOSE = "({[", ")}]"


def long_files(files: Mapping[str, str]) -> dict[str, int]:
    """Files over the limit → lines."""
    return {p: n for p, t in files.items() if (n := len(t.splitlines())) > FILE_LIMIT}


def long_functions(files: Mapping[str, str]) -> dict[str, int]:
    """``path:name`` of functions over the limit → lines."""
    found: dict[str, int] = {}
    for path, text in files.items():
        for name, lines in (
            python_functions(text) if path.endswith(".py") else typescript_functions(text)
        ):
            if lines > FUNCTION_LIMIT:
                found[f"{path}:{name}"] = max(lines, found.get(f"{path}:{name}", 0))
    return found


def python_functions(text: str) -> Iterator[tuple[str, int]]:
    """(name, lines) of every function and method, from ``def`` to its last line."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def typescript_functions(text: str) -> Iterator[tuple[str, int]]:
    """(name, lines) of every function, method and arrow function with a bracketed body."""
    code = blanked(text)
    pairs = _pairs(code)
    opening = {end: start for start, end in pairs.items()}
    for start, end in pairs.items():
        name = _function_name(code, start, opening)
        if name is not None:
            yield name, code.count("\n", start, end) + 1


def _pairs(code: str) -> dict[int, int]:
    stack: list[int] = []
    pairs: dict[int, int] = {}
    for i, c in enumerate(code):
        if c in _OPEN:
            stack.append(i)
        elif c in _CLOSE:
            while stack:
                start = stack.pop()
                if _OPEN.index(code[start]) == _CLOSE.index(c):
                    pairs[start] = i
                    break
    return pairs


def _function_name(code: str, start: int, opening: Mapping[int, int]) -> str | None:
    """Name of the function whose body opens at ``start``; ``None`` when no function's does (a test
    suite is a list, not a function).
    """
    before = code[max(0, start - 400) : start].rstrip()
    if code[start] in "{(" and before.endswith("=>"):
        if _SUITE.search(before[:-2]):
            return None
        named = _ARROW_NAME.search(before[:-2])
        return named[1] if named else "=>"
    parenthesis = _BEFORE_BODY.search(before)
    if code[start] != "{" or parenthesis is None:
        return None
    close = max(0, start - 400) + parenthesis.start()
    if close not in opening:
        return None
    named = _NAME.search(code[max(0, opening[close] - 200) : opening[close]])
    if named is None:
        return "function"
    return None if named[1] in _NOT_A_FUNCTION else named[1]


def blanked(text: str) -> str:
    """The text with comments and quoted texts turned into spaces, so that brackets in them do not
    count.

    An apostrophe in JSX text opens no string that ends on another line, so a quote without its end
    on the line is left alone.
    """
    pattern = re.compile(
        r"""/\*.*?\*/|(?<!:)//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|\$\{[^{}`]*\}|[^`\\])*`""",
        re.S,
    )
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
