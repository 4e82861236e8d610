"""Modules that a recording names in texts, not by frames: ``Module Hierarchy`` of operators, and
the annotations of Lightning's profiler.

::

    "TOP(ResNet)::forward.layer1(Sequential)::forward.0(Block)::forward"   → TOP(ResNet) ▸ layer1(Sequential) ▸ 0(Block)
    "[pl][module]torch.nn.modules.linear.Linear: model.fc1"                → model ▸ fc1(Linear)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

LIGHTNING = "[pl][module]"
"""How Lightning's profiler begins the name of a module's call
(pytorch_lightning/profilers/pytorch.py).
"""
MOST_LEVELS = 100
"""Levels of one text; modules do not nest deeper."""
MOST_MODULES = 100_000
"""Modules that are made from texts; what would be beyond is its module's."""
MOST_TEXT = 10_000
"""Characters of one text that are read."""
_CALL = re.compile(r"(?P<instance>[^().:]*)\((?P<kind>[^()]*)\)(?:::[A-Za-z_0-9]+)?")
_LIGHTNING_NAME = re.compile(r"\[pl\]\[module\](?P<kind>[^:]+):\s*(?P<path>.*)$")


@dataclass
class NamedModules:
    """A tree of modules made from texts; ``parent`` and ``name`` of every one, parents before
    children.
    """

    parent: list[int] = field(default_factory=list)
    name: list[str] = field(default_factory=list)
    _known: dict[tuple[int, str], int] = field(default_factory=dict)

    def add(self, names: Iterable[str]) -> int:
        """The module at the end of a way of names, made with those above it where they are new; −1
        for no names.
        """
        at = -1
        for name in names:
            if len(self.name) >= MOST_MODULES and (at, name) not in self._known:
                break
            found = self._known.setdefault((at, name), len(self.name))
            if found == len(self.name):
                self.parent.append(at)
                self.name.append(name)
            at = found
        return at


def hierarchy_names(text: str) -> list[str]:
    """The modules of a ``Module Hierarchy`` argument (JSON text), outermost first; empty where it
    names none.

    PyTorch writes ``instance(Class)::method`` joined by dots
    (torch/csrc/jit/runtime/interpreter.cpp: ``moduleHierarchy``); calls of functions have no
    instance and are left out.
    """
    try:
        plain = json.loads(text)
    except ValueError:
        plain = text
    if not isinstance(plain, str):
        return []
    # A text this long is no module's; the search for brackets is quadratic in what has none.
    found = [
        f"{match['instance']}({match['kind']})"
        for match in _CALL.finditer(plain[:MOST_TEXT])
        if match["instance"]
    ]
    return found[:MOST_LEVELS]


def lightning_names(texts: list[str]) -> dict[str, list[str]]:
    """For every name of a Lightning module's call its modules, outermost first. A module whose own
    call is not among them has no class.
    """
    parsed = {text: match for text in texts if (match := _LIGHTNING_NAME.match(text))}
    kind_of = {match["path"]: match["kind"].strip().rpartition(".")[2] for match in parsed.values()}
    found = {}
    for text in texts:
        if text not in parsed:
            found[text] = [text.removeprefix(LIGHTNING).strip() or text]
            continue
        parts = parsed[text]["path"].split(".")[:MOST_LEVELS]
        names = []
        for end, part in enumerate(parts, 1):
            kind = kind_of.get(".".join(parts[:end]))
            names.append(f"{part}({kind})" if kind else part)
        found[text] = names
    return found
