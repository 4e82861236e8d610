"""``fe/src/base/groups.gen.ts``: the groups of time and the kinds of causes that each of them is of."""

from __future__ import annotations

import json
import re

from tests.generate.routes import HEADER
from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS
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
    return _UNQUOTED.sub(r"\1:", "\n".join([HEADER, *lines, ""])).replace('"\n}', '",\n}')
