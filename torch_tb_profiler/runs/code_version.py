"""Which code decides what is made of a trace: a module and its closure of imports."""

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
        KeyError: there is no such module.
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
    files = _files()
    with open(files[module], "rb") as file:
        source = file.read()
    imported = {each for name in _imported(source) for each in _with_packages(name)} & files.keys()
    if files[module].endswith("__init__.py") and b"import_module" in source:
        # It looks for its modules itself.
        imported |= {name for name in files if name.startswith(f"{module}.")}
    return source, frozenset(imported)


def _imported(source: bytes) -> Iterator[str]:
    """Names that may be modules."""
    for groups in _IMPORT.findall(_DOCSTRING.sub(b"", source)):
        base, inside, line, plain = (text.decode() for text in groups)
        # The package itself has neither.
        if base or plain:
            yield base or plain
        for name in _NAME.findall(inside or line):
            yield f"{base}.{name}".lstrip(".")


@lru_cache(maxsize=4096)
def _with_packages(name: str) -> list[str]:
    """A module and the packages around it."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts) + 1)]


@lru_cache(maxsize=1)
def _files() -> dict[str, str]:
    """Every module of the package and its file."""
    files = {}
    for folder, _, names in os.walk(_PACKAGE):
        package = folder.removeprefix(_PACKAGE).replace(os.sep, ".")
        for name in names:
            if name.endswith(".py"):
                module = f"{package}.{name[:-3]}".removesuffix(".__init__").lstrip(".")
                files[module] = os.path.join(folder, name)
    return files
