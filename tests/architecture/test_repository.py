"""What is committed belongs to the project, fits its size, and runs on any machine."""

from __future__ import annotations

import gzip
import importlib
import re
from pathlib import Path

import pytest

from tests.architecture import repository, tree


def looked_at() -> dict[str, str]:
    """Every text."""
    return repository.texts(tree.ROOT, tree.files())


def recorded() -> dict[str, str]:
    """The sample traces, whose stacks would hold the paths of the machine that recorded them."""
    return {
        p: gzip.decompress((tree.ROOT / p).read_bytes()).decode()
        for p in sample_files()
        if p.endswith(".json.gz")
    }


def sample_files() -> list[str]:
    return [p for p in tree.files() if p.startswith("samples/")]


def test_no_path_of_one_machine() -> None:
    assert repository.machine_paths(looked_at()) == []


@pytest.mark.slow
def test_no_path_of_one_machine_inside_the_samples() -> None:
    traces = recorded()
    assert traces
    assert repository.machine_paths(traces) == []


def test_no_host_of_a_package_registry() -> None:
    assert repository.registry_hosts(looked_at()) == []


def test_samples_are_small() -> None:
    assert 0 < repository.total_size(tree.ROOT, sample_files()) <= repository.SAMPLES_LIMIT


def test_nothing_is_copied_from_the_public_traces(real_traces: Path) -> None:
    assert repository.copies(tree.ROOT, tree.files(), real_traces) == []


@pytest.mark.parametrize(
    "path",
    [
        "/wo" + "rk/main/x",
        "see /ro" + "ot/.cache/x",
        "'/ho" + "me/ann/traces'",
        "/Us" + "ers/ann/x",
        "/tm" + "p/v/dev",
    ],
)
def test_a_machine_path_is_found(path: str) -> None:
    assert repository.machine_paths({"a.md": "fine\n" + path}) == [
        "a.md:2: " + repository.machine_paths({"a": path})[0].split(": ")[1]
    ]


@pytest.mark.parametrize(
    "path",
    [
        "./work/x",
        "/usr/bin/chromium",
        "$HOME/work/x",
        "/home/user/train.py",
        "framework/x",
        "https://example.org/work",
    ],
)
def test_other_paths_are_fine(path: str) -> None:
    assert repository.machine_paths({"a.md": path}) == []


def test_a_registry_is_found() -> None:
    line = '"resol' + 'ved": "https://registry.npm' + 'js.org/x/-/x-1.0.0.tgz"'
    assert len(repository.registry_hosts({"fe/package-lock.json": "{\n" + line})) == 1


def test_a_copy_is_found(tmp_path: Path) -> None:
    others, ours = tmp_path / "others", tmp_path / "ours"
    for folder in (others, ours):
        folder.mkdir()
    (others / "a.json").write_text("[]")
    (others / "empty").write_text("")
    (ours / "renamed.json").write_text("[]")
    (ours / "own.json").write_text("{}")
    (ours / "empty").write_text("")
    assert repository.copies(ours, ["renamed.json", "own.json", "empty"], others) == [
        "renamed.json"
    ]


def test_size_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 7)
    (tmp_path / "b").write_bytes(b"x" * 5)
    assert repository.total_size(tmp_path, ["a", "b"]) == 12


def test_binary_files_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"/wo\0rk")
    (tmp_path / "b").write_bytes(b"\xff\xfe")
    (tmp_path / "c").write_text("µ", encoding="utf-8")
    assert repository.texts(tmp_path, ["a", "b", "c"]) == {"c": "µ"}


@pytest.mark.parametrize(
    "part",
    ["setup.py", "README.md", "torch_tb_profiler/plugin.py", "fe/src/", "samples/", "tests/test_"],
)
def test_the_repository_is_laid_out_as_the_originals(part: str) -> None:
    assert any(path.startswith(part) for path in tree.files())


def test_the_package_is_known_by_the_originals_names() -> None:
    """``pip list`` shows the name; TensorBoard loads what the entry point names."""
    project = (tree.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '\nname = "torch-tb-profiler"\n' in project
    (loader,) = re.findall(r'tensorboard_plugins\]\n\w+ = "([\w.]+):(\w+)"', project)
    assert hasattr(importlib.import_module(loader[0]), loader[1])


_ENDINGS = ("ations", "ation", "ings", "ing", "ions", "ion", "ies", "ied", "ers", "er", "es", "ed", "s", "d", "y", "e")  # fmt: skip


def _stem(word: str) -> str:
    """A word without the ending that makes a plural, a participle or a noun of it."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def test_no_two_files_of_a_folder_differ_by_an_ending() -> None:
    """Such as ``route.py`` and ``routes.py``: nobody remembers which holds what."""
    named: dict[tuple[str, ...], set[str]] = {}
    for path in tree.sources("", ".py", ".ts", ".tsx", ".mjs"):
        folder, _, file = path.rpartition("/")
        name = file.partition(".")[0]
        named.setdefault((folder, *map(_stem, name.split("_"))), set()).add(name)
    assert [names for names in named.values() if len(names) > 1] == []
    assert _stem("captured") == _stem("captures")
