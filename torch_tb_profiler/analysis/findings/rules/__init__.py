"""The rules: those of this folder, which know one pattern, and the questions that are asked of any place. A file in one of the two
folders has the rules whose words stand in the file of its name (``words/``): nothing else lists them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules

from torch_tb_profiler.analysis.findings.rule import Rule, words_of
from torch_tb_profiler.analysis.reasons import questions


class _Rules(Mapping[str, Rule]):
    """By key, in the order in which they may claim time. Who looks one up imports no other."""

    def __getitem__(self, key: str) -> Rule:
        found: Rule = import_module(self.modules[key]).QUESTION[key]
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._ordered)

    def __len__(self) -> int:
        return len(self.modules)

    @cached_property
    def modules(self) -> Mapping[str, str]:
        """The module of each."""
        rooms = (__name__, __path__), (questions.__name__, questions.__path__)
        files = {
            one.name: f"{name}.{one.name}" for name, path in rooms for one in iter_modules(path)
        }
        return {key: module for file, module in files.items() for key in words_of(file)}

    @cached_property
    def _ordered(self) -> list[str]:
        return sorted(self.modules, key=lambda key: (self[key].place, key))


RULES = _Rules()
