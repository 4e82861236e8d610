"""Listens to everything that a browser page says went wrong, asks axe what is not accessible, and looks for what has no room."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Frame, Page, Request, Response

from tests.e2e.server import PLUGIN
from tests.examples import absent

AXE = Path(__file__).resolve().parents[2] / "fe" / "node_modules" / "axe-core" / "axe.min.js"
RULES = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
"""What a theme can change; all other rules say the same in both."""

_LISTEN = """
document.addEventListener("securitypolicyviolation", (e) => console.error(`CSP violation: ${e.violatedDirective} ${e.blockedURI}`));
"""
_AXE = """
async (rules) => {
  const found = await axe.run(document, {runOnly: rules, resultTypes: ["violations"]});
  return found.violations.map((v) => `${v.id}: ${v.help}; ${v.nodes.length} x, e.g. ${v.nodes[0].html.slice(0, 200)} ${v.nodes[0].failureSummary}`);
}
"""

_ROOM = """
() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const found = scrollWidth > clientWidth ? [`sideways: ${scrollWidth} of ${clientWidth} px`] : [];
  const answers = "h1, h2, h3, .headline, .finding-head, .finding-line, .path-parts, [class*=legend]";
  for (const part of document.querySelectorAll(answers))
    if (part.innerText.includes("…")) found.push(`cut: ${part.innerText}`);
  for (const part of document.querySelectorAll("header *, main *")) {
    const words = [...part.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    const { width } = part.getBoundingClientRect();
    if (words && width > 1 && part.scrollWidth > part.clientWidth + 1
      && getComputedStyle(part).overflowX === "hidden" && !part.closest("[title], [aria-describedby]"))
      found.push(`hidden: ${part.className} ${part.textContent}`);
  }
  return found;
}
"""
"""Nothing scrolls sideways, nothing that answers is cut, and what else is cut has its whole text as tooltip."""


class Watch:
    """Collects what a page does wrong from the moment it is made; ``take`` empties the list."""

    def __init__(self, page: Page, origin: str) -> None:
        self._origin = origin
        self._found: list[str] = []
        page.add_init_script(_LISTEN)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self._found.append(f"uncaught: {error}"))
        page.on("request", self._request)
        page.on("response", self._response)
        page.on("requestfailed", self._request_failed)

    def take(self) -> list[str]:
        """What was found since the last call."""
        found, self._found = self._found, []
        return found

    def _console(self, message: ConsoleMessage) -> None:
        # A reply with an error status is judged by its route below; the console only repeats it.
        if (
            message.type in ("error", "warning")
            and "Failed to load resource" not in message.text
            and _ours(message.location.get("url", ""), message.text)
        ):
            self._found.append(
                f"console {message.type}: {message.text} ({message.location.get('url', '')})"
            )

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if (
            parts.scheme in ("http", "https", "ws", "wss")
            and f"{parts.scheme}://{parts.netloc}" != self._origin
        ):
            self._found.append(f"request to another origin: {request.url}")

    def _response(self, response: Response) -> None:
        if f"/plugin/{PLUGIN}/" in response.url and response.status >= 400:
            self._found.append(f"{response.status} from {response.url}")

    def _request_failed(self, request: Request) -> None:
        # A view that is left takes back its questions; the browser calls that a failure.
        if request.failure != "net::ERR_ABORTED" and f"/plugin/{PLUGIN}/" in request.url:
            self._found.append(f"no answer from {request.url}: {request.failure}")


def _ours(url: str, text: str) -> bool:
    """Whether a message comes from the plugin's page and not from TensorBoard's own."""
    return PLUGIN in url or not url or "CSP violation" in text or "Content Security Policy" in text


def need_axe() -> None:
    """The rules come with the page's own development packages. Tests that ask early save the time
    until they would be skipped.
    """
    if not AXE.is_file():
        absent("axe-core is not installed: npm ci --prefix fe")


def accessibility(frame: Frame, *, colours_only: bool = False) -> list[str]:
    """Violations of WCAG 2.1 A and AA in the frame, one line each; of all rules or of those that
    depend on the theme.
    """
    need_axe()
    if not frame.evaluate("() => typeof axe !== 'undefined'"):
        frame.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[Any] = frame.evaluate(_AXE, COLOURS if colours_only else RULES)
    return [str(line) for line in found]


def without_room(frame: Frame) -> list[str]:
    """What has no room at this width, one line each."""
    found: list[Any] = frame.evaluate(_ROOM)
    return [str(line) for line in found]
