"""``docs/guide/sql.md``: behind what people wrote, the questions with their statements and the tables for people."""

from __future__ import annotations

from tests.generate.frames import MARK
from torch_tb_profiler.sql.examples import EXAMPLES
from torch_tb_profiler.sql.listing import ListedTable, listed
from torch_tb_profiler.sql.tables import SCHEMAS


def page(written: str) -> str:
    """The page as it should be."""
    parts = [f"{written.partition(MARK)[0]}{MARK}\n", "## Questions\n"]
    for example in EXAMPLES:
        parts += [
            f"### {example.question}\n",
            f"As {example.like}.\n",
            f"```sql\n{example.statement}\n```\n",
        ]
    parts += ["## Tables\n"]
    for schema, about in SCHEMAS.items():
        tables = [table for table in listed() if table.schema == schema]
        if schema == "main":
            parts += [f"{about}.\n", *map(_table, tables)]
        else:
            names = ", ".join(f"`{schema}.{table.name}`" for table in tables)
            parts += [f"### `{schema}`\n", f"{about}: {names}.\n"]
    return "\n".join(parts)


def _table(table: ListedTable) -> str:
    lines = [
        f"### `{table.name}`\n",
        f"{table.doc}\n",
        "| column | type | unit or meaning | what it holds |",
    ]
    lines += ["| --- | --- | --- | --- |"]
    lines += [f"| `{c.name}` | {c.type} | {c.unit or '-'} | {c.doc} |" for c in table.columns]
    return "\n".join([*lines, ""])
