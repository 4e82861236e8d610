"""Which file of the page imports which: static, dynamic, type-only and re-exporting imports alike."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

ALLOWED: dict[str, frozenset[str]] = {
    "base": frozenset(),
    "api": frozenset({"base"}),
    "state": frozenset({"base", "api"}),
    "widgets": frozenset({"base"}),
    "timeline": frozenset({"base", "widgets"}),
    "views": frozenset({"base", "api", "state", "widgets", "timeline"}),
    "app": frozenset({"base", "api", "state", "widgets", "timeline", "views"}),
    "main": frozenset({"base", "api", "state", "widgets", "timeline", "views", "app"}),
    "report": frozenset({"base", "api", "state", "widgets", "timeline", "views", "app"}),
}
"""Room (a folder of fe/src, or an entry: main.ts, report.ts) → rooms it may import, besides itself.
"""

ROOT = "fe/src/"
_COMMENTS = re.compile(r"/\*.*?\*/|(?<![:\"'`])//[^\n]*", re.S)
_IMPORT = re.compile(
    r"""(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s*|\bnew\s+URL\s*\(\s*(?=[^()]*,\s*import\.meta\.url\)))(["'])(?P<target>[^"'\s]+)\1"""
)
_ENDINGS = ("", ".ts", ".tsx", ".css", ".json", "/index.ts", "/index.tsx")


def room(path: str) -> str:
    """The room of a file of ``fe/src``."""
    first = path.removeprefix(ROOT).split("/")[0]
    return first.rsplit(".", 1)[0] if "." in first else first


def imports(text: str) -> list[str]:
    """What the file names in its imports, as written, without Vite's ``?inline`` and the like."""
    return [m["target"].split("?")[0] for m in _IMPORT.finditer(_COMMENTS.sub("", text))]


def resolve(path: str, target: str, known: Mapping[str, str]) -> str | None:
    """The file of ``fe/src`` that ``path`` means by ``target``; ``None`` for a package."""
    if not target.startswith("."):
        return None
    plain = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    without_js = plain.removesuffix(".js")
    return next((p + e for p in (plain, without_js) for e in _ENDINGS if p + e in known), plain)


def graph(files: Mapping[str, str]) -> dict[str, set[str]]:
    """File → files of ``fe/src`` that it imports."""
    return {
        p: {t for name in imports(text) if (t := resolve(p, name, files)) is not None}
        for p, text in files.items()
    }


def violations(files: Mapping[str, str], packages: frozenset[str] | None = None) -> list[str]:
    """Imports that the table does not allow, rooms that it does not know, and packages that are not
    declared.
    """
    found = []
    for path, targets in graph(files).items():
        here = room(path)
        if here not in ALLOWED:
            found.append(f"{path}: the room {here!r} is not in the table")
            continue
        for target in sorted(targets):
            there = room(target) if target.startswith(ROOT) else "outside fe/src"
            if there not in ALLOWED[here] | {here}:
                found.append(
                    f"{path} imports {target}: {here} may import"
                    f" {sorted(ALLOWED[here]) or 'nothing'}"
                )
        found.extend(_undeclared(path, files[path], packages))
    return found


def _undeclared(path: str, text: str, packages: frozenset[str] | None) -> list[str]:
    if packages is None:
        return []
    names = [t for t in imports(text) if not t.startswith(".")]
    roots = {"/".join(t.split("/")[: 2 if t.startswith("@") else 1]) for t in names}
    return [
        f"{path} imports the package {name!r}, which fe/package.json does not declare"
        for name in sorted(roots - packages)
    ]
