"""The words of ``docs/definitions.md`` that the page shows: an entry is a heading ``### key — Label``
and its first paragraph.
"""

from __future__ import annotations

import json
import re
from itertools import takewhile

_HEADING = re.compile(r"([a-z][a-z0-9_]*) +[—–-] +(.+)")
_NO_TEXT = re.compile(r"#|[-*+] |\d+\. |>|\||```")
"""How a line begins that is no paragraph: a heading, a list, a quote, a table, code."""
_SIGNS = (
    (r"`([^`]*)`", r"\1"),
    (r"\[([^\]]*)\]\([^)]*\)", r"\1"),
    (r"\*\*([^*]+)\*\*", r"\1"),
    (r"(?<![\w*])\*([^*\s]|[^*\s][^*]*[^*\s])\*(?![\w*])", r"\1"),
    (r"\s+", " "),
)


def plain(text: str) -> str:
    """The text without Markdown's signs."""
    for pattern, kept in _SIGNS:
        text = re.sub(pattern, kept, text)
    return text.strip()


def entries(markdown: str) -> list[dict[str, str]]:
    """Key, label and text of every entry in the order of the document; ``ValueError`` for a heading
    of another shape, a key that stands twice and an entry without a paragraph.
    """
    entries: dict[str, dict[str, str]] = {}
    for section in re.split(r"^### ", markdown, flags=re.M)[1:]:
        title, *lines = section.splitlines()
        heading = _HEADING.fullmatch(title.strip())
        if heading is None:
            raise ValueError(f'expected "### key — Label", found "### {title}"')
        key, label = heading.groups()
        if key in entries:
            raise ValueError(f"{key} is defined twice")
        body = "\n".join(lines).lstrip("\n").split("\n")
        paragraph = takewhile(lambda line: line.strip() and not _NO_TEXT.match(line), body)
        text = plain(" ".join(paragraph))
        if not text:
            raise ValueError(f"{key} has no sentence")
        entries[key] = {"key": key, "label": plain(label), "text": text}
    return list(entries.values())


def as_json(markdown: str) -> str:
    """The file that the server has, an entry per line."""
    lines = (
        json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in entries(markdown)
    )
    return "[\n" + ",\n".join(lines) + "\n]\n"
