"""What follows from ``tables/registry.py``: the methods of ``api/table_methods.py`` and the lists of the documentation."""

from __future__ import annotations

import inspect
import re

from torch_tb_profiler.tables.registry import TABLES, Listed

WIDTH = 100
MARKS = "<!-- tables -->", "<!-- end of tables -->"
"""Around what is generated within a page."""
_HEAD = '''"""The tables of traces and runs in Python. Generated from ``tables/registry.py`` by ``python -m tests.generate --write``;
do not edit it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal, Protocol

from torch_tb_profiler.api.trace_context import Steps, TraceContext

if TYPE_CHECKING:
    from pandas import DataFrame


class OneTrace(Protocol):
    """The tables of one trace."""

    @property
    def context(self) -> TraceContext: ...
'''
_CLASS = '''

class {name}(ABC):
    """{doc}"""

    @abstractmethod
    def _table(self, name: str, steps: Steps = None, **options: Any) -> DataFrame:
        """The table of a name, of ``steps`` or of those that are selected."""
'''


def methods(_: str) -> str:
    """The file ``api/table_methods.py``."""
    computed = [table for table in TABLES.values() if table.module]
    classes = (
        ("Tables", "Those of one trace or of several.", [t for t in computed if t.needs != "run"]),
        ("RunTables", "Those of all ranks of a run.", [t for t in computed if t.needs == "run"]),
    )
    return _HEAD + "".join(
        _CLASS.format(name=name, doc=doc) + "".join(map(_method, tables))
        for name, doc, tables in classes
    )


def _method(table: Listed) -> str:
    function = table.computed.function
    options = list(inspect.signature(function).parameters.values())[1:]
    parameters = ["self", *(_parameter(table, option) for option in options)]
    passed = [f'"{table.name}"', *(f"{option.name}={option.name}" for option in options)]
    doc = inspect.getdoc(function) or ""
    if not table.attribute and not table.whole:
        parameters.append("steps: Steps = None")
        passed.insert(1, "steps")
        doc += "" if "Raises:" in doc else "\n\nRaises:"
        doc += "\n    IndexError: there is no such step."
    indented = doc.replace("\n", "\n        ").replace("        \n", "\n")
    end = "\n        " if "\n" in doc else ""
    call = _wrapped("        return self._table(", passed, ")")
    return (
        ("\n    @property\n" if table.attribute else "\n")
        + _wrapped(f"    def {table.name}(", parameters, ") -> DataFrame:")
        + f'\n        """{indented}{end}"""\n{call}\n'
    )


def _parameter(table: Listed, option: inspect.Parameter) -> str:
    kind = option.annotation
    if option.name == "by":
        kind = f"Literal[{', '.join(map(_quoted, table.groups))}]"
    kind = kind.replace("TableSource", "OneTrace")
    default = _quoted(option.default) if isinstance(option.default, str) else option.default
    return f"{option.name}: {kind} = {default}"


def _quoted(text: str) -> str:
    return f'"{text}"'


def _wrapped(head: str, parts: list[str], tail: str) -> str:
    """As the formatter breaks it."""
    line = f"{head}{', '.join(parts)}{tail}"
    if len(line) <= WIDTH:
        return line
    margin = " " * (len(head) - len(head.lstrip()))
    inner = f"{margin}    {', '.join(parts)}"
    if len(inner) > WIDTH:
        inner = "".join(f"{margin}    {part},\n" for part in parts).rstrip("\n")
    return f"{head}\n{inner}\n{margin}{tail}"


def within(page: str, text: str, marks: tuple[str, str] = MARKS) -> str:
    """The page with a text between its marks."""
    first, last = map(re.escape, marks)
    return re.sub(
        f"({first}).*?({last})", lambda found: f"{found[1]}{text}{found[2]}", page, flags=re.S
    )


def python_list() -> str:
    """Of ``docs/api.md`` the table of all tables."""
    rows = ["\n| | table |\n| --- | --- |\n"]
    for table in TABLES.values():
        if table.module:
            options = list(inspect.signature(table.computed.function).parameters.values())[1:]
            given = ", ".join(
                f'{o.name}="{o.default}"' if isinstance(o.default, str) else f"{o.name}={o.default}"
                for o in options
            )
            doc = (inspect.getdoc(table.computed.function) or "").partition("\n\n")[0]
            of = "run" if table.needs == "run" else ""
            call = "" if table.attribute else f"({given})"
            rows.append(
                f"| `{of}.{table.name}{call}` | {' '.join(doc.split()).replace('``', '`')} |\n"
            )
    return "".join(rows)
