"""What is committed and made by a program: ``python -m tests.generate`` says what is stale and ends
with 1, ``--write`` brings it up to date.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from tests import definitions
from tests.words.listing import LISTINGS, listing
from torch_tb_profiler.analysis.findings import definitions as rule_definitions
from torch_tb_profiler.api import frames_doc
from torch_tb_profiler.hardware import models_doc
from torch_tb_profiler.store import columns_doc
from torch_tb_profiler.views import typescript
from torch_tb_profiler.web import routes_doc

ROOT = Path(__file__).resolve().parents[1]

GENERATED: Mapping[str, Callable[[str], str]] = {
    # Before the page's words, which are made of it.
    "docs/definitions.md": rule_definitions.page,
    "docs/columns.md": lambda _: columns_doc.text(),
    "docs/api.md": frames_doc.page,
    "docs/performance_models.md": lambda _: models_doc.text(),
    "fe/src/api/types.gen.ts": lambda _: typescript.typescript(),
    "fe/src/api/tables.gen.ts": lambda _: typescript.tables(),
    "docs/http_api.md": routes_doc.page,
    "fe/src/api/routes.gen.ts": lambda _: routes_doc.types(),
    "fe/src/base/limits.gen.ts": lambda _: routes_doc.limits(),
    "torch_tb_profiler/views/definitions.json": lambda _: definitions.as_json(
        (ROOT / "docs/definitions.md").read_text(encoding="utf-8")
    ),
    **{f"tests/words/{name}.txt": partial(listing, name) for name in LISTINGS},
}
"""File → what it should hold, given what it holds: people write the beginning of some."""


def stale(root: Path, *, write: bool = False) -> list[str]:
    """Files below ``root`` that are not what the programs make; with ``write`` they are now."""
    behind = []
    for name, make in GENERATED.items():
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


def main(arguments: list[str]) -> int:
    """1 when something is stale and was not written."""
    write = arguments == ["--write"]
    behind = stale(ROOT, write=write)
    for name in behind:
        print("written:" if write else "stale:", name)
    return int(bool(behind) and not write)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
