"""The rules, one file each. A file in this folder is a rule: nothing else lists it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules

from torch_tb_profiler.analysis.findings.rule import Rule


class _Rules(Mapping[str, Rule]):
    """By key, in the order in which they may claim time. Who looks one up imports no other."""

    def __getitem__(self, key: str) -> Rule:
        if key not in self._names:
            raise KeyError(key)
        rule: Rule = import_module(f"{__name__}.{key}").RULE
        return rule

    def __iter__(self) -> Iterator[str]:
        return iter(self._ordered)

    def __len__(self) -> int:
        return len(self._names)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(module.name for module in iter_modules(__path__))

    @cached_property
    def _ordered(self) -> list[str]:
        return sorted(self._names, key=lambda key: (self[key].place, key))


RULES = _Rules()
