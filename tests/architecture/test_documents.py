"""The documents name what exists: links lead somewhere, and README lists every setting with its
default.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path

import pytest

from tests.architecture import tree
from torch_tb_profiler.settings import Settings

SIZES = {"20 GiB": 20 << 30, "2 MiB": 2 << 20, "8 MiB": 8 << 20}
WORDS = {"the user's cache folder": "", "one per core": None, "none": ""}
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


def documents() -> dict[str, str]:
    return tree.sources("", ".md")


def broken(files: Mapping[str, str], present: Iterable[str]) -> list[str]:
    """``document: target`` of links to files of the repository that are not there."""
    known = set(present)
    folders = {parent.as_posix() for p in known for parent in Path(p).parents}
    found = []
    for document, text in files.items():
        for target in _LINK.findall(text):
            path = posixpath.normpath(Path(document).parent.as_posix() + "/" + target)
            if path not in known | folders:
                found.append(f"{document}: {target}")
    return found


def settings_of(text: str) -> dict[str, str]:
    """Name → default as README's table gives them."""
    section = text.partition("## Settings")[2].partition("\n## ")[0]
    return {
        m[1].lower(): m[2].strip()
        for m in re.finditer(r"^\| `([A-Z_]+)`[^|]*\| ([^|]*) \|", section, re.M)
    }


def value_of(text: str) -> object:
    """The value that a default in README's words stands for."""
    if text in WORDS or text in SIZES:
        return WORDS.get(text, SIZES.get(text))
    return float(text) if re.fullmatch(r"\d+", text) else text


def test_links_lead_somewhere() -> None:
    assert broken(documents(), tree.files()) == []


def test_a_broken_link_is_found() -> None:
    text = "[a](docs/a.md) ![b](docs/b.png) [c](https://example.org) [d](docs/) [e](#here)"
    assert broken({"README.md": text}, ["docs/a.md"]) == ["README.md: docs/b.png"]
    upward = {"docs/guide/x.md": "[a](../a.md) [b](../b.md)"}
    assert broken(upward, ["docs/a.md"]) == ["docs/guide/x.md: ../b.md"]


def test_readme_lists_every_setting_with_its_default() -> None:
    listed = settings_of(documents()["README.md"])
    defaults = {f.name: getattr(Settings(), f.name) for f in fields(Settings)}
    assert set(listed) == set(defaults)
    wrong = {
        name: text
        for name, text in listed.items()
        if value_of(text) is not None and value_of(text) != defaults[name]
    }
    assert wrong == {}


def test_a_wrong_default_would_be_found() -> None:
    listed = settings_of(
        "## Settings\n\n| `WORKERS` (`--w`) | 3 | x |\n| `CACHE_DIR` | the user's cache folder | y"
        " |\n\n## Next\n| `OTHER` | 1 | z |\n"
    )
    assert listed == {"workers": "3", "cache_dir": "the user's cache folder"}
    assert (
        value_of("3"),
        value_of("20 GiB"),
        value_of("the user's cache folder"),
        value_of("one per core"),
    ) == (3.0, 20 << 30, "", None)


@pytest.mark.parametrize(
    "said",
    [
        "ERR_NVGPUCTRPERM",
        "NVreg_RestrictProfilingToAdminUsers=0",
        "nvprof --profile-from-start off",
        "torch.cuda.profiler.start()",
        "emit_nvtx(record_shapes=True)",
        "profiler_measure_per_kernel=True",
        "dram__bytes_read.sum",
    ],
)
def test_the_guide_to_recording_names_what_others_ask_for(said: str) -> None:
    assert said in documents()["docs/recording.md"]


_LEANS = re.compile(r'^\s*(?:"""|/\*\*) ?(?:The same|Same|See)\b', re.M)


def test_docstrings_stand_by_themselves() -> None:
    """None begins with "The same" or "See", so that it can be read where it is shown: in an editor, in ``help``."""
    texts = tree.sources("", ".py", ".ts", ".tsx", ".mjs")
    assert texts
    assert [path for path, text in texts.items() if _LEANS.search(text)] == []
    assert _LEANS.search('    """See ``Other``."""')
