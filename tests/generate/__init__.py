"""What is committed and made by a program: ``python -m tests.generate`` says what is stale and ends
with 1, ``--write`` brings it up to date.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tests.generate import (
    changes,
    columns,
    commands,
    definitions,
    frames,
    groups,
    models,
    replies,
    routes,
    rules,
    sql,
    tables,
    typescript,
)

ROOT = Path(__file__).resolve().parents[2]

GENERATED: Mapping[str, Callable[[str], str]] = {
    "docs/definitions.md": rules.page,
    "docs/columns.md": lambda _: columns.text(),
    "docs/api.md": frames.page,
    "docs/command_line.md": commands.page,
    "torch_tb_profiler/api/table_methods.py": tables.methods,
    "docs/critical_path.md": changes.page,
    "docs/guide/sql.md": sql.page,
    "docs/performance_models.md": lambda _: models.text(),
    "fe/src/api/types.gen.ts": lambda _: typescript.typescript(),
    "docs/http_api.md": routes.page,
    "fe/src/api/routes.gen.ts": lambda _: routes.types(),
    "fe/src/base/limits.gen.ts": lambda _: routes.limits(),
    "fe/src/base/groups.gen.ts": lambda _: groups.text(),
    "fe/src/base/sections.gen.ts": lambda _: groups.sections(),
    "fe/src/testing/tables.json": lambda _: typescript.tables(),
    "torch_tb_profiler/views/definitions.json": lambda _: definitions.as_json(
        (ROOT / "docs/definitions.md").read_text(encoding="utf-8")
    ),
    **{f"{replies.FOLDER}/{name}.json": replies.of(name) for name in replies.RECORDINGS},
}
"""File → what it should hold, given what it holds: people write the beginning of some."""


def stale(
    root: Path, *, write: bool = False, makers: Mapping[str, Callable[[str], str]] = GENERATED
) -> list[str]:
    """Files below ``root`` that are not what the programs make; with ``write`` they are now."""
    behind = []
    for name, make in makers.items():
        path = root / name
        # An installation from an sdist has no fe/.
        if not path.parent.is_dir():
            continue
        held = path.read_text(encoding="utf-8") if path.is_file() else ""
        made = make(held)
        if made != held:
            behind.append(name)
            if write:
                path.write_text(made, encoding="utf-8", newline="\n")
    return behind
