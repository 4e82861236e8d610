"""``fe/src/base/groups.gen.ts``: the groups of time and the kinds of causes that each of them is of; ``sections.gen.ts``: the sections
of the page.
"""

from __future__ import annotations

import json
import re

from tests.generate.routes import HEADER
from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS
from torch_tb_profiler.views.ask.names import SECTIONS
from torch_tb_profiler.views.words.texts import GROUP_LABELS

_UNQUOTED = re.compile(r'"(\w+)":')


def text() -> str:
    """The file."""
    kinds = {cause.name.lower(): group for group, causes in GROUPS.items() for cause in causes}
    tables = {"GROUP_LABELS": GROUP_LABELS, "GROUP_OF_KIND": kinds}
    lines = [
        f"export const {name}: Readonly<Record<string, string>> = {json.dumps(table, indent=2)};"
        for name, table in tables.items()
    ]
    return _written(*lines)


def sections() -> str:
    """The ids of the sections, and what they are called."""
    return _written(f"export const SECTIONS = {json.dumps(SECTIONS, indent=2)} as const;")


def _written(*lines: str) -> str:
    return _UNQUOTED.sub(r"\1:", "\n".join([HEADER, *lines, ""])).replace('"\n}', '",\n}')
