"""The rules, one file each. A file in this folder is a rule: nothing else lists it."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from torch_tb_profiler.analysis.findings.rule import Rule


def _declared() -> list[Rule]:
    modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
    return sorted((module.RULE for module in modules), key=lambda rule: rule.place)


RULES: dict[str, Rule] = {rule.key: rule for rule in _declared()}
"""By key, in the order in which they may claim time."""
