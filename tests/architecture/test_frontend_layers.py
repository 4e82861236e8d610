"""The page's rooms import only what the table of docs/architecture.md allows, and never in a
circle.
"""

from __future__ import annotations

import json

import pytest

from tests.architecture import frontend_imports, tree
from tests.architecture.circles import circles

S = frontend_imports.ROOT


def is_test(path: str) -> bool:
    """Tests stand beside what they test and may use the test runner."""
    return ".test." in path


def product() -> dict[str, str]:
    """The page without its tests."""
    return {p: t for p, t in tree.frontend().items() if not is_test(p)}


def declared() -> frozenset[str]:
    """Packages that fe/package.json allows in the bundle."""
    package = json.loads((tree.ROOT / "fe" / "package.json").read_text(encoding="utf-8"))
    return frozenset(package.get("dependencies", {}))


def test_the_page_is_looked_at() -> None:
    assert {frontend_imports.room(p) for p in product()} >= {
        "base",
        "api",
        "state",
        "widgets",
        "views",
        "app",
        "main",
    }


def test_every_room_keeps_to_the_table() -> None:
    assert frontend_imports.violations(product(), declared()) == []


def test_tests_keep_to_the_table_of_the_room_that_they_stand_in() -> None:
    assert frontend_imports.violations(tree.frontend()) == []


def test_no_circle_between_files() -> None:
    assert circles(frontend_imports.graph(tree.frontend())) == []


def test_the_table_has_no_circle_itself() -> None:
    assert circles(frontend_imports.ALLOWED) == []


@pytest.mark.parametrize(
    "line",
    [
        "import { Store } from '../state/store';",
        "import type { Store } from '../state/store';",
        "export { Store } from '../state/store';",
        "import '../state/store';",
        "const store = await import('../state/store');",
        "type S = import('../state/store').Store;",
        "import {\n  Store,\n  other,\n} from '../state/store.js';",
        'import { Store } from "../state/store.ts";',
        "new Worker(new URL('../state/store.ts', import.meta.url));",
    ],
)
def test_an_upward_import_is_found_however_it_is_written(line: str) -> None:
    assert (
        len(frontend_imports.violations({S + "widgets/grid.tsx": line, S + "state/store.ts": ""}))
        == 1
    )


def test_a_comment_is_no_import() -> None:
    assert (
        frontend_imports.violations(
            {S + "widgets/grid.tsx": "// import x from '../state/store';\n/* import '../app/y'; */"}
        )
        == []
    )


def test_an_address_is_no_import() -> None:
    assert frontend_imports.violations({S + "main.ts": 'setBase(new URL("../", here));'}) == []


def test_an_allowed_import_passes() -> None:
    files = {
        S + "views/overview/view.tsx": (
            "import { Grid } from '../../widgets/grid';\nimport { h } from 'preact';"
        ),
        S + "widgets/grid.tsx": "",
    }
    assert frontend_imports.violations(files, frozenset({"preact"})) == []


def test_a_way_out_of_the_page_is_found() -> None:
    assert (
        len(frontend_imports.violations({S + "base/x.ts": "import y from '../../../setup';"})) == 1
    )


def test_an_undeclared_package_is_found() -> None:
    files = {
        S + "base/x.ts": (
            "import _ from 'lodash/fp';\nimport { scaleLinear } from '@scope/scale/linear';"
        )
    }
    assert len(frontend_imports.violations(files, frozenset({"preact", "@scope/scale"}))) == 1


def test_an_unknown_room_is_found() -> None:
    assert len(frontend_imports.violations({S + "utils/x.ts": ""})) == 1


def test_a_circle_is_found() -> None:
    files = {
        S + "base/a.ts": "import { b } from './b';",
        S + "base/b.ts": "import type { a } from './a';",
    }
    assert circles(frontend_imports.graph(files)) == [[S + "base/a.ts", S + "base/b.ts"]]
