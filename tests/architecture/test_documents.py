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
from torch_tb_profiler.errors import install
from torch_tb_profiler.settings import Settings

SIZES = {"20 GiB": 20 << 30, "4 MiB": 4 << 20, "8 MiB": 8 << 20}
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


_OURS = r"torch[-_.]+tb[-_.]+profiler"
_FETCHES = re.compile(
    # A program that installs, and our name as a requirement: of the index, where it is no path, URL or wheel.
    rf"""\b(?:(?:pip\d*|pip3?\.\d+|uv|pipx|conda|mamba|poetry|pdm|easy_install|rye|hatch)\b[^`\n]*?
        \b(?:install|add|download|wheel|run|upgrade|inject|sync|lock)\b[^`\n]*?|uvx\b[^`\n]*?|easy_install\b[^`\n]*?)
        (?<![\w./\\@+-]){_OURS}(?!\w|-\w|/|[-.\w]*\.(?:whl|tar|git))
    |(?<![\w./\\@+-]){_OURS}(?:\[[\w, -]+\]|\ *(?:[=~!<>]=|===)\ *[\d*])""",
    re.I | re.X,
)
_JOINED = re.compile(r"""\\\n|["']\s*\+?\s*\n\s*[rbf]?["']""")
"""Where a command or a text of a program goes on in the next line."""


def fetching(text: str) -> list[str]:
    """What would have pip install the project that the index has under our name."""
    return [" ".join(found[0].split()) for found in _FETCHES.finditer(_JOINED.sub(" ", text))]


def test_nothing_tells_to_install_what_the_index_has() -> None:
    """Until a release that is the original, 0.4.3."""
    ours = ("tests/", "CHANGELOG.md", "_build/")
    found = {}
    for path in tree.files():
        if path.startswith(ours) or path.endswith(
            (".png", ".gz", ".pickle", ".lock", "-lock.json")
        ):
            continue
        text = (tree.ROOT / path).read_text(encoding="utf-8", errors="replace")
        if told := fetching(text):
            found[path] = told
    assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        "pip install torch_tb_profiler",
        'pip install "torch-tb-profiler[sql]"',
        "pip3 install -U --quiet 'torch.tb.profiler'",
        "python -m pip install torch-tb-profiler==0.4.3",
        "!pip install torch_tb_profiler, and jupyter",
        "pip install \\\n  torch_tb_profiler",
        '"Reinstall it: pip install"\n    " --force-reinstall torch_tb_profiler"',
        "uvx torch-tb-profiler serve log",
        "uv tool install torch-tb-profiler",
        "pipx run torch-tb-profiler",
        "uv run --with torch-tb-profiler x.py",
        "conda install -c conda-forge torch-tb-profiler",
        "needs Torch_TB_Profiler[s3,dask]",
        "torch-tb-profiler>=1",
        "default: pip install TORCH_TB_PROFILER",
    ],
)
def test_what_would_fetch_it_is_found(text: str) -> None:
    assert len(fetching(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        'pip install ".[sql]"',
        "pip install ./torch_tb_profiler",
        "pip install /home/me/torch_tb_profiler",
        "pip install dist/torch_tb_profiler-1.0-py3-none-any.whl",
        "pip install torch_tb_profiler-1.0-py3-none-any.whl",
        "pip install git+https://example.org/torch_tb_profiler",
        "pip list | grep torch-tb-profiler",
        "`pip install .`; `pip list` shows the package as `torch_tb_profiler`",
        "pip install duckdb pyarrow",
        "torch-tb-profiler skill install",
        "OWNER/torch_tb_profiler/action@main",
        "TORCH_TB_PROFILER_CACHE_DIR=x",
        "import torch_tb_profiler",
    ],
)
def test_what_installs_from_a_checkout_may_be_told(text: str) -> None:
    assert fetching(text) == []


def test_what_an_extra_brings_is_named_without_it() -> None:
    assert install("duckdb", "pyarrow") == "pip install duckdb pyarrow"
    told = re.compile(r"pip install (?!--?|\.|tensorboard|torch\b)[\w\"']")
    package = tree.sources("torch_tb_profiler/", ".py")
    assert [p for p, text in package.items() if told.search(text)] == []
