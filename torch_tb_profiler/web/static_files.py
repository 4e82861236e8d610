"""The files of the built page, and the stand-alone page around them."""

from __future__ import annotations

import re
from pathlib import Path
from threading import Lock

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.errors import FrontendMissing, NotFound
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.web.parameters import shown
from torch_tb_profiler.web.replies import Body, send

ENTRY = "index.js"
BOOT = "boot.js"
IMMUTABLE = "public, max-age=31536000, immutable"

# Not the machine's table: Windows registries may call .js text/plain.
TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".map": "application/json",
}

_PART = regex(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*", re.ASCII)
_HASHED = regex(r"[-.][A-Za-z0-9_-]{8,}\.\w+$", re.ASCII)

POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'none'",
        "frame-ancestors 'self'",
    )
)

PAGE = b"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>PyTorch Profiler</title>
<link rel="icon" href="data:,">
<script type="module" src="static/boot.js"></script>
</head>
<body><noscript>This page needs JavaScript.</noscript></body>
</html>
"""

_BOOT = b'import { render } from "./index.js";\nvoid render();\n'

_NOT_BUILT = b"""export async function render() {
  document.documentElement.lang = "en";
  document.title = "PyTorch Profiler";
  const main = document.createElement("main");
  main.style.cssText = "font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 4rem auto; padding: 0 1rem";
  const add = (tag, text) => { const e = document.createElement(tag); e.textContent = text; main.append(e); };
  add("h1", "The page was not built");
  add("p", "The plugin runs, but its page is missing from this installation. In the checkout run:");
  add("pre", "cd fe\\nnpm ci\\nnpm run build");
  add("p", "or install again without TORCH_TB_PROFILER_SKIP_FRONTEND set: pip install . builds the page by itself.");
  document.body.replaceChildren(main);
}
"""


class StaticFiles:
    """Serves the small files of one folder from memory."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or Path(__file__).resolve().parents[1] / "static"
        self._known: dict[str, tuple[tuple[int, int], Body]] = {}
        self._lock = Lock()

    @property
    def built(self) -> bool:
        """Whether the page is there."""
        return (self._folder / ENTRY).is_file()

    def respond(self, request: Request, name: str) -> Response:
        """The file of a name relative to the folder.

        Raises:
            NotFound: there is no such file.
            FrontendMissing: there is none because nothing was built.
        """
        if name == BOOT:
            return send(request, Body(_BOOT), TYPES[".js"])
        if name == ENTRY and not self.built:
            return send(request, Body(_NOT_BUILT), TYPES[".js"])
        path = self._found(name)
        cache = IMMUTABLE if "/" in name and _HASHED.search(name) else "no-cache"
        return send(request, self._body(name, path), TYPES[path.suffix], cache)

    def text(self, name: str) -> str:
        """A file as text.

        Raises:
            NotFound: there is no such file.
            FrontendMissing: there is none because nothing was built.
        """
        return self._found(name).read_text(encoding="utf-8")

    def _found(self, name: str) -> Path:
        path = self._path(name)
        if path is None:
            if not self.built:
                raise FrontendMissing(
                    "The page was not built.",
                    "Run npm ci && npm run build in fe/, or install again.",
                )
            raise NotFound(f"There is no file {shown(name)}.")
        return path

    def _path(self, name: str) -> Path | None:
        """The file, if its name's parts are plain and it lies in the folder, links followed."""
        parts = name.split("/")
        if not all(_PART.fullmatch(part) for part in parts):
            return None
        path = self._folder.joinpath(*parts)
        if path.suffix not in TYPES or not path.is_file():
            return None
        return path if path.resolve().is_relative_to(self._folder.resolve()) else None

    def _body(self, name: str, path: Path) -> Body:
        stat = path.stat()
        version = (stat.st_mtime_ns, stat.st_size)
        with self._lock:
            known = self._known.get(name)
            if known is None or known[0] != version:
                known = self._known[name] = (version, Body(path.read_bytes()))
            return known[1]


def page(request: Request) -> Response:
    """The stand-alone page."""
    return send(
        request, Body(PAGE), "text/html; charset=utf-8", headers={"Content-Security-Policy": POLICY}
    )
