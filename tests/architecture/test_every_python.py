"""What a newer Python refuses or warns of: every file compiles and every module imports with
warnings as errors.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import warnings

import pytest

from tests.architecture import tree

SURROGATE = re.compile("[\ud800-\udfff]")
ESCAPE = re.compile(r"\\u[dD][89a-fA-F]|\\U0000[dD][89a-fA-F]")
"""Without one a source has none; and to make trees of all takes 8 s."""
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
EVERY_MODULE = """
import importlib, pkgutil, warnings
warnings.filterwarnings("error", module="torch_tb_profiler")
import torch_tb_profiler as package
for module in pkgutil.walk_packages(package.__path__, "torch_tb_profiler."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            if error.name.startswith("torch_tb_profiler"):
                raise
            print(module.name)
"""


def documents_with_surrogates(source: str) -> list[int]:
    """Lines of docstrings, of attributes too, with half of a surrogate pair: Python 3.13 encodes
    docstrings while it compiles, and fails.
    """
    return [
        node.lineno
        for parent in (ast.walk(tree.syntax(source)) if ESCAPE.search(source) else ())
        if isinstance(parent, DOCUMENTED)
        for node in parent.body
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        and SURROGATE.search(node.value.value)
    ]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (r'"""A \udcff."""', [1]),
        ('x = 1\n"""About x: \\ud800."""', [2]),
        ('class A:\n    def b(self):\n        """Half: \\uDFFF."""', [3]),
        ('async def a():\n    "\\udc00"', [2]),
        (r'r"""A \udcff."""', []),
        (r'x = "\udcff"', []),
        ('"""Half: \\U0000dFfe."""', [1]),
        ('"""Whole: \U0001f600."""', []),
    ],
)
def test_a_surrogate_is_found(source: str, lines: list[int]) -> None:
    assert documents_with_surrogates(source) == lines


def test_no_docstring_has_half_of_a_surrogate_pair() -> None:
    found = {p: documents_with_surrogates(text) for p, text in tree.python_everything().items()}
    assert {p: lines for p, lines in found.items() if lines} == {}


@pytest.mark.slow
def test_every_file_compiles_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for path, text in tree.python_everything().items():
            compile(text, path, "exec", dont_inherit=True)


@pytest.mark.slow
def test_every_module_imports_without_a_warning_of_ours() -> None:
    """Warnings raised while the package's own lines run are errors; those inside other packages
    are theirs.
    """
    command = [sys.executable, "-c", EVERY_MODULE]
    done = subprocess.run(command, cwd=tree.ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
