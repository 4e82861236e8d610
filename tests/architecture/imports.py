"""Which module imports which, read from the syntax tree: imports for types and imports inside
functions count too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Set
from graphlib import CycleError, TopologicalSorter

from tests.architecture.tree import PACKAGE, syntax

BASE = re.compile(
    rf"{PACKAGE}\.(atomic_files|data_rows|errors|units|patterns|untrusted|settings|child_process|_version)"
)
_EVERY_VIEW = {"views", "views.words", "views.steps"}
ALLOWED: dict[str, Set[str]] = {
    "base": set(),
    "sources": set(),
    "store": set(),
    "hardware": set(),
    "native": set(),
    "importers": {"sources", "store", "native"},
    "analysis": {
        "analysis.figures",
        "analysis.facts",
        "analysis.arrays",
        "hardware",
        "native",
        "store",
    },
    "analysis.arrays": set(),
    "analysis.facts": {"analysis.arrays"},
    "analysis.figures": {"analysis.facts", "analysis.arrays"},
    "views": {"analysis", "hardware", "store"},
    "views.words": {"views"},
    "views.steps": {"views", "views.words"},
    "views.timeline": _EVERY_VIEW,
    "views.work": _EVERY_VIEW,
    "views.memory": {*_EVERY_VIEW, "views.timeline"},
    "views.distributed": {*_EVERY_VIEW, "views.timeline"},
    "views.findings": {*_EVERY_VIEW, "views.timeline", "views.memory", "views.work"},
    "views.critical_path": {*_EVERY_VIEW, "views.timeline", "views.distributed"},
    "views.ask": {*_EVERY_VIEW, "views.critical_path", "views.findings"},
    "views.overview": {*_EVERY_VIEW, "views.distributed", "views.work"},
    "views.diff": {
        *_EVERY_VIEW,
        "views.critical_path",
        "views.findings",
        "views.memory",
        "views.work",
    },
    "runs": {"analysis", "hardware", "sources", "importers", "store"},
    "tables": {"analysis", "hardware", "runs", "store", "views"},
    "sql": {"analysis", "hardware", "runs", "store", "tables"},
    "web": {"live", "runs", "sql", "tables", "views"},
    "api": {"analysis", "hardware", "runs", "sql", "store", "tables", "views", "web"},
    "cli": {
        "analysis",
        "sources",
        "runs",
        "native",
        "sql",
        "store",
        "tables",
        "views",
        "web",
        "api",
        "live",
    },
    "compat": {"api", "cli"},
    "plugin": {"web", "runs"},
    "plugin_loader": {"web", "runs", "plugin"},
    "recording": set(),
    "integrations": {"recording", "store"},
    "live": {"integrations", "recording"},
    "__init__": {"api", "recording", "live"},
    "__main__": {"cli"},
}
"""Room (a folder, or a file) → rooms it may import, besides itself and base. Other rooms mean all of a
room by its name; a room within one (``views.words``) may also import what the whole may from outside, and
there the name of the whole stands for what lies beside the rooms within.
"""


def module_name(path: str) -> str:
    """``torch_tb_profiler/store/schema.py`` → ``torch_tb_profiler.store.schema``; a package's file
    is the package.
    """
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def room(module: str) -> str:
    """The room of a module of the package: the narrowest that the table has."""
    if BASE.fullmatch(module):
        return "base"
    _, first, second, *_ = [*module.split("."), "", ""]
    return within if (within := f"{first}.{second}") in ALLOWED else first or "__init__"


def allowed(here: str) -> set[str]:
    """Rooms that a room of the table may import, each with the rooms within it."""
    whole = here.split(".")[0]
    outside = {other for other in ALLOWED[whole] if other.split(".")[0] != whole}
    named = {here, "base", *ALLOWED[here], *outside}
    return named | {r for r in ALLOWED if (first := r.split(".")[0]) != whole and first in named}


def graph(files: Mapping[str, str]) -> dict[str, set[str]]:
    """Module → modules of the package that it imports, in any place of its text."""
    known = {module_name(path): path.endswith("/__init__.py") for path in files}
    return {module_name(path): _targets(path, text, known) for path, text in files.items()}


def _targets(path: str, text: str, known: Mapping[str, bool]) -> set[str]:
    module = module_name(path)
    targets: set[str] = set()
    for node in ast.walk(syntax(text)):
        if isinstance(node, ast.Import):
            targets.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = _absolute(module, node, known)
            names = [f"{package}.{alias.name}" for alias in node.names]
            targets.update(name if name in known else package for name in names)
        elif isinstance(node, ast.Call) and _is_import_call(node.func):
            targets.update(str(a.value) for a in node.args[:1] if isinstance(a, ast.Constant))
    return {t for t in targets if t == PACKAGE or t.startswith(PACKAGE + ".")} - {module}


def _absolute(module: str, node: ast.ImportFrom, known: Mapping[str, bool]) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    kept = parts[: len(parts) - node.level + known[module]]
    return ".".join([*kept, node.module] if node.module else kept)


def _is_import_call(function: ast.expr) -> bool:
    name = getattr(function, "attr", getattr(function, "id", ""))
    return name in ("import_module", "__import__")


def violations(files: Mapping[str, str]) -> list[str]:
    """Imports that the table does not allow, rooms that it does not know, and imports of the
    package's front door.
    """
    wrong = []
    for module, targets in graph(files).items():
        here = room(module)
        if here not in ALLOWED:
            wrong.append(f"{module}: the room {here!r} is not in the table")
            continue
        for target in sorted(targets):
            if room(target) not in allowed(here):
                wrong.append(
                    f"{module} imports {target}: {here} may import {sorted(allowed(here))}"
                )
    return wrong


def circle(graph: Mapping[str, Set[str]]) -> list[str]:
    """One way round in the graph, empty where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return sorted(set(error.args[1]))
    return []
