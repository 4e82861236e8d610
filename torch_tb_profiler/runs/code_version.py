"""Which code decides what is made of a trace: a module and all of ours that it imports, directly or
not.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from functools import lru_cache

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Parsing would take a third of a second; a test compares with what the syntax trees say. The search
# begins with a word that is found fast.
_DOCSTRING = re.compile(rb'"""[^"]*(?:"{1,2}[^"]+)*"""')
_IMPORT = re.compile(
    rb"torch_tb_profiler(?:(?<=from torch_tb_profiler)(?:\.([\w.]+))? import (?:\(([^)]*)\)|([^\n#]*))"
    rb"|(?<=import torch_tb_profiler)\.([\w.]+))"
)
_NAME = re.compile(r"(\w+)(?:\s+as\s+\w+)?")


@lru_cache(maxsize=16)
def code_version(module: str) -> str:
    """Tells apart programs in which a module, such as ``analysis.insight``, may compute something
    else: a digest of its closure of imports; 16 hexadecimal digits.
    """
    digest = hashlib.sha256()
    for name, source in sorted(closure(module).items()):
        digest.update(name.encode() + b"\0" + source)
    return digest.hexdigest()[:16]


def closure(module: str) -> dict[str, bytes]:
    """A module and those that it imports, also within functions → their sources; names without the
    package's. What the package itself offers on demand is left out.

    Raises:
        FileNotFoundError: there is no such module.
    """
    sources: dict[str, bytes] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in sources:
            sources[name], imported = _scan(name)
            waiting += imported
    return sources


@lru_cache(maxsize=1024)
def _scan(module: str) -> tuple[bytes, frozenset[str]]:
    """The source of a module and the modules that it imports, their packages included."""
    path = _path(module)
    members = _members(module)
    with open(f"{path}/__init__.py" if members else f"{path}.py", "rb") as file:
        source = file.read()
    imported = {each for name in _imported(source) for each in _with_packages(name)}
    if members and b"import_module" in source:
        # It looks for its modules itself.
        imported.update(f"{module}.{member}" for member in members)
    return source, frozenset(imported)


def _imported(source: bytes) -> Iterator[str]:
    """Names that may be modules."""
    for groups in _IMPORT.findall(_DOCSTRING.sub(b"", source)):
        base, inside, line, plain = (text.decode() for text in groups)
        yield base or plain
        if not base or _members(base):
            for name in _NAME.findall(inside or line):
                yield f"{base}.{name}".lstrip(".")


@lru_cache(maxsize=4096)
def _with_packages(name: str) -> tuple[str, ...]:
    """A module and the packages around it; of a name within a module that module's alone."""
    parts = name.split(".")
    names = [".".join(parts[:end]) for end in range(len(parts) + 1)]
    return tuple(
        inner
        for outer, inner, part in zip(names, names[1:], parts, strict=False)
        if part in _members(outer)
    )


@lru_cache(maxsize=1024)
def _members(package: str) -> frozenset[str]:
    """The modules and packages in a package; none where there is no such package."""
    try:
        names = os.listdir(_path(package))
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()
    return frozenset(
        name.removesuffix(".py") for name in names if name.endswith(".py") or "." not in name
    ) - {"__init__", "__pycache__", "static"}


def _path(module: str) -> str:
    return os.path.join(_PACKAGE, *module.split("."))
