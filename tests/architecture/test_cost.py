"""Importing the package loads nothing heavy, and viewing needs neither TensorFlow nor torch."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable

import pytest

from tests.architecture import tree

pytestmark = pytest.mark.slow

HEAVY = (
    "numpy",
    "pandas",
    "tensorboard",
    "tensorflow",
    "torch",
    "msgspec",
    "fsspec",
    "safetensors",
    "werkzeug",
)
IMPORTED_AS = {"google-re2": "re2"}
"""Projects whose module has another name."""
NOT_NEEDED = {
    "torch",
    "tensorflow",
    "tensorflow-cpu",
    "torchvision",
    "keras",
    "jax",
    "tf-nightly",
    "pyarrow",
}


def loaded_by(statement: str) -> set[str]:
    """Top-level modules in a fresh interpreter after the statement."""
    program = f"{statement}\nimport sys\nprint(' '.join({{m.split('.')[0] for m in sys.modules}}))"
    return set(
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            cwd=tree.ROOT,
            timeout=120,
        ).stdout.split()
    )


def required(text: str) -> set[str]:
    """Names in the ``dependencies`` list of a pyproject.toml."""
    block = re.search(r"^dependencies = \[(.*?)^\]", text, re.S | re.M)
    assert block, "pyproject.toml has no dependencies list"
    return names(re.findall(r'^\s*"([^"]+)"', block[1], re.M))


def names(requirements: Iterable[str]) -> set[str]:
    """Normalised project names of requirement lines."""
    return {
        re.sub(r"[-_.]+", "-", re.split(r"[\s\[<>=!~;@]", r.strip(), maxsplit=1)[0]).lower()
        for r in requirements
    }


def test_the_package_imports_nothing_heavy() -> None:
    assert loaded_by("import torch_tb_profiler") & set(HEAVY) == set()


def test_the_loader_imports_no_columns() -> None:
    assert loaded_by("import torch_tb_profiler.plugin_loader") & {
        "numpy",
        "pandas",
        "torch",
        "tensorflow",
        "safetensors",
    } <= loaded_by("import tensorboard.plugins.base_plugin")


def test_dependencies_are_few_and_without_a_framework() -> None:
    found = required((tree.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "numpy" in found
    assert found & NOT_NEEDED == set()


def imported(sources: Iterable[str]) -> set[str]:
    """Top-level modules that the sources import."""
    return {
        m[1].lower()
        for text in sources
        for m in re.finditer(r"^\s*(?:import|from) (\w+)", text, re.M)
    }


def test_every_dependency_is_used() -> None:
    found = {
        IMPORTED_AS.get(name, name)
        for name in required((tree.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    }
    assert found - imported(tree.sources("torch_tb_profiler", ".py").values()) == set()


def test_an_import_is_found_wherever_it_stands() -> None:
    assert imported(["import numpy as np\n", "def f():\n    from isal import isal_zlib\n"]) == {
        "numpy",
        "isal",
    }


def test_a_heavy_import_is_found() -> None:
    assert "numpy" in loaded_by("import torch_tb_profiler.store.columns")


@pytest.mark.parametrize(
    "line", ["torch", "torch>=2", "torch[cuda]>=2", "torch; python_version > '3'", "Torch==2.0"]
)
def test_a_framework_is_found(line: str) -> None:
    assert required(f'[project]\ndependencies = [\n    "numpy>=1",\n    "{line}",\n]\n') == {
        "numpy",
        "torch",
    }
