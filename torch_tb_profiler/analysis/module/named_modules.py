"""Modules that are named in texts: ``Module Hierarchy`` arguments and Lightning's annotations.

::

    "TOP(ResNet)::forward.layer1(Sequential)::forward.0(Block)::forward"   → TOP(ResNet) ▸ layer1(Sequential) ▸ 0(Block)
    "[pl][module]torch.nn.modules.linear.Linear: model.fc1"                → model ▸ fc1(Linear)
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from torch_tb_profiler.analysis.compiled.calls import graph_of, region_of
from torch_tb_profiler.analysis.facts.calltree import is_call
from torch_tb_profiler.analysis.facts.host_names import name_mask
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Mask
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.untrusted import json_value

LIGHTNING = "[pl][module]"
"""Prefix of Lightning's module calls (pytorch_lightning/profilers/pytorch.py)."""
MOST_LEVELS = 100
"""Levels that are read of one text."""
MOST_MODULES = 100_000
"""Limit on modules; what would be beyond belongs to the enclosing module."""
MOST_TEXT = 10_000
"""Characters that are read of one text."""
_CALL = regex(r"(?P<instance>[^().:]*)\((?P<kind>[^()]*)\)(?:::[A-Za-z_0-9]+)?")
_LIGHTNING_NAME = regex(r"\[pl\]\[module\](?P<kind>[^:]+):\s*(?P<path>.*)$")

GRAPH = "CompiledFxGraph "
"""How the name of a module that is a compiled graph begins."""


class NamedModules(msgspec.Struct):
    """A tree of named modules: parent and name of each, parents before children."""

    parent: list[int] = msgspec.field(default_factory=list)
    name: list[str] = msgspec.field(default_factory=list)
    _known: dict[tuple[int, str], int] = msgspec.field(default_factory=dict)

    def add(self, names: Iterable[str]) -> int:
        """The module at the end of a path of names, created where needed; −1 for no names."""
        module = -1
        for name in names:
            if len(self.name) >= MOST_MODULES and (module, name) not in self._known:
                break
            inner = self._known.setdefault((module, name), len(self.name))
            if inner == len(self.name):
                self.parent.append(module)
                self.name.append(name)
            module = inner
        return module


def hierarchy_names(text: str) -> list[str]:
    """The modules of a ``Module Hierarchy`` argument (JSON text), outermost first; empty if it
    names none.

    PyTorch writes ``instance(Class)::method`` joined by dots (``moduleHierarchy`` in
    torch/csrc/jit/runtime/interpreter.cpp); functions have no instance and are left out.
    """
    plain = json_value(text, text)
    if not isinstance(plain, str):
        return []
    # The limit matters: the search is quadratic in text without brackets.
    names = [
        f"{match['instance']}({match['kind']})" if match["kind"] else match["instance"]
        for match in _CALL.finditer(plain[:MOST_TEXT])
        if match["instance"]
    ]
    return names[:MOST_LEVELS]


def lightning_names(texts: list[str]) -> dict[str, list[str]]:
    """The modules of each Lightning call name, outermost first; class only if known."""
    parsed = {text: match for text in texts if (match := _LIGHTNING_NAME.match(text))}
    kind_of = {match["path"]: match["kind"].strip().rpartition(".")[2] for match in parsed.values()}
    modules = {}
    for text in texts:
        if text not in parsed:
            modules[text] = [text.removeprefix(LIGHTNING).strip() or text]
            continue
        parts = parsed[text]["path"].split(".")[:MOST_LEVELS]
        names = []
        for end, part in enumerate(parts, 1):
            kind = kind_of.get(".".join(parts[:end]))
            names.append(f"{part}({kind})" if kind else part)
        modules[text] = names
    return modules


def compiled_names(trace: Trace) -> Mask:
    """Which strings of the trace name a compiled region or graph, bool of shape (strings + 1,)."""
    spans = trace["spans"]
    used = spans["name"][is_call(spans["role"])]
    return name_mask(trace.strings, used, lambda text: bool(region_of(text) or graph_of(text)))


def compiled_title(text: str) -> str:
    """The name of the module that is a compiled graph; other texts as they are.

    Compiled regions and graphs as modules: their annotations say where they begin and end.

    ::

        Torch-Compiled Region: 0/0                     Torch-Compiled Region: 0/0
          [CompiledFunction, number 7]                   CompiledFxGraph fal4…
            ## Call CompiledFxGraph fal4… ##               triton_poi_fused_add_0
        [CompiledFunctionBackward, 7]                    CompiledFxGraph fkz2…   backward
          ## Call CompiledFxGraph fkz2… ##
    """
    key = graph_of(text)
    return GRAPH + key if key else text
