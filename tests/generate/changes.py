"""The table of changes in ``docs/critical_path.md``."""

from __future__ import annotations

from torch_tb_profiler.analysis.what_if.changes import CHANGES, PRESETS, Change

HEAD = "| change | what it does | parameters |\n| --- | --- | --- |"


def page(written: str) -> str:
    """The page as it should be: what people wrote before the table, and the table."""
    return "\n".join(
        [written.partition(HEAD)[0].rstrip("\n"), "", HEAD, *map(_row, CHANGES.values()), ""]
    )


def _row(change: Change) -> str:
    usual = {text.partition(":")[0] for text in PRESETS}
    parameters = [
        f"`{key}`{f' ({default})' if (default := change.defaults[key]) else ''}: {about}"
        for key, about in change.about.items()
    ]
    words = change.words
    for key in change.defaults:
        words = words.replace(f"{{of_{key}}}", "").replace(f"{{{key}}}", f"*{key}*")
    words = words.replace("{chosen}", "what is selected")
    mark = " •" if change.name in usual else ""
    return f"| `{change.name}`{mark} | {words} | {'<br>'.join(parameters)} |"
