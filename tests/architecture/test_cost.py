"""Importing the package loads nothing heavy, a command reads its trace before it imports what
describes it, and viewing needs neither TensorFlow nor torch.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.architecture import tree
from torch_tb_profiler.cli.commands import COMMANDS, command_of

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
AFTER_THE_FIRST_BYTE = {
    *(set(HEAVY) - {"msgspec"}),
    "duckdb",
    "orjson",
    "pyarrow",
    "re2",
    "zstandard",
    "torch_tb_profiler.analysis.facts",
    "torch_tb_profiler.importers",
    "torch_tb_profiler.views.wire",
    "torch_tb_profiler.web.replies",
}
"""What no command imports before it reads a trace."""
UNTIL_READ = """
import os, sys
def look(event, given):
    if event == "subprocess.Popen" or (event == "open" and given[0] == {trace!r}):
        os.write(1, " ".join(sys.modules).encode())
        os._exit(0)
sys.addaudithook(look)
"""
"""Ends the program when it opens the trace, or starts the process that will: modules on stdout."""
IMPORTED_AS = {"google-re2": "re2", "protobuf": "google"}
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
    "duckdb",
}


WITH_FINDINGS = ("findings/rules/", "reasons/questions/")
"""Modules that only findings import, which ask most of their expressions."""


def modules_after(statement: str) -> set[str]:
    """Modules in a fresh interpreter after the statement."""
    return set(
        subprocess.run(
            [sys.executable, "-c", f"{statement}\nimport sys\nprint(' '.join(sys.modules))"],
            capture_output=True,
            text=True,
            check=True,
            cwd=tree.ROOT,
            timeout=120,
        ).stdout.split()
    )


def loaded_by(statement: str) -> set[str]:
    """Top-level modules in a fresh interpreter after the statement."""
    return {module.partition(".")[0] for module in modules_after(statement)}


def loaded_until_read(program: str, folder: Path) -> set[str]:
    """Modules when a program, which finds the trace's path in ``trace``, begins to read it."""
    trace = folder / "worker0.1.pt.trace.json"
    trace.write_text('{"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 1, "pid": 1}]}')
    # Nobody is still writing it.
    os.utime(trace, (1_600_000_000, 1_600_000_000))
    start = f"trace = {str(trace)!r}\n{UNTIL_READ.format(trace=str(trace))}"
    done = subprocess.run(
        [sys.executable, "-c", start + program],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ
        | {"PYTHONPATH": str(tree.ROOT), "TORCH_TB_PROFILER_CACHE_DIR": str(folder / "cache")},
        timeout=120,
    )
    assert "torch_tb_profiler" in done.stdout.split(), done.stderr
    return set(done.stdout.split())


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


@pytest.mark.parametrize(
    "command",
    [
        name
        for name in COMMANDS
        # ``report`` imports what writes it while other processes read: which comes first is chance.
        # The last two read a file of their own first, and are for CI, where nobody waits.
        if name not in ("serve", "mcp", "skill", "record", "report", "baseline", "budgets")
    ],
)
def test_a_command_reads_its_trace_first(command: str, tmp_path: Path) -> None:
    given = {
        "event": ["'0'"],
        "sql": ["'select 1'"],
        "diff": ["trace"],
        "compare": ["trace"],
    }
    further = given.get(command, [])
    arguments = f"[{command!r}, trace, {', '.join(further)}]"
    program = f"from torch_tb_profiler.cli.main import main\nmain({arguments})"
    assert loaded_until_read(program, tmp_path) & AFTER_THE_FIRST_BYTE == set()


def test_what_commands_print_needs_no_pandas(tmp_path: Path) -> None:
    """All in one process; after each it says whether one has imported it by then."""
    trace = str(tree.ROOT / "samples" / "transformer")
    budgets = tmp_path / "budgets.toml"
    budgets.write_text("[budgets]\nstep_ms = 1000000\n", encoding="utf-8")
    given = {
        "event": [trace, "0"],
        "diff": [trace, trace],
        "compare": [trace, trace],
        "baseline": ["save", "base", trace, "--dir", str(tmp_path)],
        "budgets": [trace, "--budgets", str(budgets)],
    }
    calls: list[list[str]] = []
    for command in COMMANDS:
        # These serve, record, or write files, of tables by DataFrames; DuckDB before 2 imports pandas by itself.
        if command in ("serve", "mcp", "skill", "record", "import", "report", "export", "sql"):
            continue
        parser = argparse.ArgumentParser()
        command_of(command).declare(parser)
        forms = [f for f in ("--json", "--markdown", "--csv") if f in parser._option_string_actions]
        whole = [command, *given.get(command, [trace])]
        calls += [[*whole, *form] for form in ([], *zip(forms))]
    program = (
        "import contextlib, io, sys\nfrom torch_tb_profiler.cli.main import main\n"
        f"for call in {calls}:\n"
        "    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())): main(call)\n"
        "    assert 'pandas' not in sys.modules, call"
    )
    assert "numpy" in loaded_by(program)


def test_a_summary_loads_only_what_it_says(tmp_path: Path) -> None:
    trace = str(tree.ROOT / "samples" / "transformer")
    loaded = modules_after(
        "import contextlib, io\nfrom torch_tb_profiler.cli.main import main\n"
        "with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):\n"
        f"    main(['summary', '--json', '--no-cache', {trace!r}])"
    )
    assert "torch_tb_profiler.analysis.facts.derive" in loaded
    unneeded = {"tarfile", "zipfile", "torch_tb_profiler.views.findings"}
    assert loaded & {*unneeded, "torch_tb_profiler.analysis.what_if"} == set()


def test_what_is_kept_is_summarised_without_masked_arrays(tmp_path: Path) -> None:
    """Importing ``numpy.ma`` takes 10 ms."""
    trace = str(tree.ROOT / "samples" / "transformer")
    program = (
        f"import contextlib, io, os\nos.environ['TORCH_TB_PROFILER_CACHE_DIR'] = {str(tmp_path)!r}\n"
        "from torch_tb_profiler.cli.main import main\n"
        "with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):\n"
        f"    main(['summary', {trace!r}])"
    )
    modules_after(program)
    assert "numpy.ma" not in modules_after(program)


def compiled_at_import(text: str) -> list[int]:
    """Lines outside of functions that compile an expression."""
    found = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile":
            found.append(node.lineno)
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                visit(child)

    visit(tree.syntax(text))
    return found


def test_expressions_are_compiled_when_they_are_asked() -> None:
    found = {
        path: lines
        for path, text in tree.sources("torch_tb_profiler", ".py").items()
        if not any(room in path for room in WITH_FINDINGS) and (lines := compiled_at_import(text))
    }
    assert found == {}


def test_a_worker_process_reads_its_trace_first(tmp_path: Path) -> None:
    program = (
        "import torch_tb_profiler.runs.worker\n"
        "from torch_tb_profiler.runs.import_job import run_import\n"
        "from torch_tb_profiler.settings import Settings\n"
        "run_import(trace, trace + '.safetensors', Settings(), lambda done, total: None)"
    )
    assert loaded_until_read(program, tmp_path) & AFTER_THE_FIRST_BYTE == set()


def test_an_import_before_the_trace_is_found(tmp_path: Path) -> None:
    program = "import torch_tb_profiler.importers\nopen(trace)"
    assert {"numpy", "torch_tb_profiler.importers"} <= loaded_until_read(program, tmp_path)


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
