"""The rules, one file each: those of this folder, which know one pattern, and the questions that are asked of any place. A file in
one of the two folders is a rule: nothing else lists it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules

from torch_tb_profiler.analysis.findings.rule import Rule
from torch_tb_profiler.analysis.reasons import questions


class _Rules(Mapping[str, Rule]):
    """By key, in the order in which they may claim time. Who looks one up imports no other."""

    def __getitem__(self, key: str) -> Rule:
        if key not in self.rooms:
            raise KeyError(key)
        rule: Rule = import_module(f"{self.rooms[key]}.{key}").RULE
        return rule

    def __iter__(self) -> Iterator[str]:
        return iter(self._ordered)

    def __len__(self) -> int:
        return len(self.rooms)

    @cached_property
    def rooms(self) -> Mapping[str, str]:
        """The package of each."""
        rooms = (__name__, __path__), (questions.__name__, questions.__path__)
        return {module.name: name for name, path in rooms for module in iter_modules(path)}

    @cached_property
    def _ordered(self) -> list[str]:
        return sorted(self.rooms, key=lambda key: (self[key].place, key))


RULES = _Rules()
