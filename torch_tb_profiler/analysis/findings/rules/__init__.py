"""The rules, one file each. A file in this folder is a rule: nothing else lists it."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from torch_tb_profiler.analysis.findings.rule import Rule

_DECLARED: dict[str, Rule] = {
    module.name: import_module(f"{__name__}.{module.name}").RULE
    for module in iter_modules(__path__)
}
RULES = dict(sorted(_DECLARED.items(), key=lambda item: item[1].place))
"""By key, in the order in which they may claim time."""
