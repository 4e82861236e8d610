"""The generator as a module, and a small run of it."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def generator(samples: Path) -> Any:
    """``samples/synthesize.py``, imported as its own directory sees it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(samples))
        patch.setattr("sys.dont_write_bytecode", True)
        return importlib.import_module("synthesize")


@pytest.fixture(scope="session")
def small_run(generator: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ranks, three steps, uncompressed."""
    out = tmp_path_factory.mktemp("small_run")
    generator.synthesize(out, ranks=2, steps=3, seed=1)
    return out


def document(path: Path) -> dict[str, Any]:
    """A JSON file that holds an object."""
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded
