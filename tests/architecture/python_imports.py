"""Which module imports which, read from the syntax tree: imports for types and imports inside
functions count too.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from tests.architecture.tree import PACKAGE

BASE = "base"
BASE_FILES = ("errors", "units", "settings", "_version")

ALLOWED: dict[str, frozenset[str]] = {
    BASE: frozenset(),
    "sources": frozenset(),
    "store": frozenset(),
    "hardware": frozenset(),
    "importers": frozenset({"sources", "store"}),
    "analysis": frozenset({"store", "hardware"}),
    "views": frozenset({"analysis", "store"}),
    "runs": frozenset({"sources", "importers", "store", "analysis"}),
    "web": frozenset({"runs", "views"}),
    "api": frozenset({"runs", "analysis", "store", "views"}),
    "cli": frozenset({"runs", "analysis", "store", "views", "web", "api"}),
    "plugin": frozenset({"web", "runs"}),
    "plugin_loader": frozenset({"web", "runs", "plugin"}),
    "recording": frozenset(),
    "__init__": frozenset({"api", "recording"}),
    "__main__": frozenset({"cli"}),
}
"""Room (a folder, or a file at the top) → rooms it may import, besides itself and base."""


def module_name(path: str) -> str:
    """``torch_tb_profiler/store/schema.py`` → ``torch_tb_profiler.store.schema``; a package's file
    is the package.
    """
    name = path.removesuffix(".py").replace("/", ".")
    return name.removesuffix(".__init__")


def room(module: str) -> str:
    """The room of a module of the package."""
    parts = module.split(".")
    if len(parts) == 1:
        return "__init__"
    return BASE if len(parts) == 2 and parts[1] in BASE_FILES else parts[1]


def graph(files: Mapping[str, str]) -> dict[str, set[str]]:
    """Module → modules of the package that it imports, in any place of its text."""
    known = {module_name(p): p.endswith("/__init__.py") for p in files}
    return {module_name(p): _targets(module_name(p), text, known) for p, text in files.items()}


def _targets(module: str, text: str, known: Mapping[str, bool]) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, node, known)
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                found.add(inner if inner in known else base)
        elif isinstance(node, ast.Call) and _is_import_call(node):
            found.update(str(a.value) for a in node.args[:1] if isinstance(a, ast.Constant))
    return {t for t in found if t == PACKAGE or t.startswith(PACKAGE + ".")} - {module}


def _absolute(module: str, node: ast.ImportFrom, known: Mapping[str, bool]) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    package = parts if known[module] else parts[:-1]
    kept = package[: len(package) - (node.level - 1)]
    return ".".join([*kept, node.module] if node.module else kept)


def _is_import_call(node: ast.Call) -> bool:
    name = (
        node.func.attr
        if isinstance(node.func, ast.Attribute)
        else node.func.id
        if isinstance(node.func, ast.Name)
        else ""
    )
    return name in ("import_module", "__import__")


def violations(files: Mapping[str, str]) -> list[str]:
    """Imports that the table does not allow, and rooms that it does not know."""
    found = []
    for module, targets in graph(files).items():
        here = room(module)
        if here not in ALLOWED:
            found.append(f"{module}: the room {here!r} is not in the table")
            continue
        for target in sorted(targets):
            there = room(target)
            if there not in ALLOWED[here] | {here, BASE, "__init__"}:
                found.append(
                    f"{module} imports {target}: {here} may import"
                    f" {sorted(ALLOWED[here]) or 'nothing'} besides base"
                )
            if there == "__init__" and module != PACKAGE:
                found.append(
                    f"{module} imports the package's front door; name the module that is meant"
                )
    return found
