"""Code that lies in a logdir, beside a trace or in the working folder never runs, whatever is asked, and one function starts
every process.
"""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import urlopen

import anyio
import pytest

from tests.architecture import tree
from torch_tb_profiler import __version__, child_process
from torch_tb_profiler.cli.commands import COMMANDS
from torch_tb_profiler.web.route_table import ROUTES

PLANTED = ("argparse", "json", "numpy", "sitecustomize", "usercustomize", "linecache", "runpy")
RANK = "rank0.pt.trace.json.gz"
SCRIPT = f"""import sys
sys.path[0] = {str(tree.ROOT)!r}
from torch_tb_profiler.cli.main import main
sys.exit(main())
"""
"""As installers write the script of an entry point: Python puts its folder first, never the working folder."""
OTHER_STARTERS = re.compile(
    r"(subprocess|multiprocessing|asyncio|anyio|concurrent|pty|os)\.(Popen|run|call|check_\w+|getoutput|open_process|run_process|"
    r"create_subprocess\w*|system|popen|exec\w+|spawn\w*|posix_spawn\w*|startfile|Process|Pool|ProcessPoolExecutor|get_context)"
)


def plant(folder: Path, mark: Path) -> None:
    """Modules that say in ``mark`` that they ran: of names that everything imports, and of ours."""
    folder.mkdir(parents=True, exist_ok=True)
    says = f"with open({str(mark)!r}, 'a') as file:\n    file.write(__file__ + '\\n')\n"
    for name in PLANTED:
        (folder / f"{name}.py").write_text(says)
    (folder / "torch_tb_profiler").mkdir()
    (folder / "torch_tb_profiler" / "__init__.py").write_text(says)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    return tmp_path / "ran"


def printed(process: subprocess.Popen[bytes]) -> str:
    with process:
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return out.decode()


@pytest.mark.parametrize("first", ["", ".", "planted"])
def test_a_child_imports_nothing_from_its_working_folder(
    first: str, mark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However the folder got into the path of the parent: a notebook has an empty entry, ``-m`` the whole path."""
    planted = tmp_path / "planted"
    plant(planted, mark)
    entry = str(planted) if first == "planted" else first
    monkeypatch.setattr(sys, "path", [entry, *sys.path])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([entry, str(tree.ROOT)]))
    monkeypatch.chdir(planted)
    process = child_process.start("cli.main:main", ["--version"], stdout=subprocess.PIPE)
    assert printed(process) == f"{__version__}\n"
    assert not mark.exists()


def test_nor_from_the_folder_of_the_script_that_runs(
    mark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = tmp_path / "planted"
    plant(planted, mark)
    script = planted / "view.py"
    script.write_text("")
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(script), raising=False)
    monkeypatch.setattr(sys, "path", [str(planted), *sys.path])
    process = child_process.start("cli.main:main", ["--version"], stdout=subprocess.PIPE)
    assert printed(process) == f"{__version__}\n"
    assert not mark.exists()


def test_a_child_finds_this_package_wherever_it_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree.ROOT)
    there = [folder for folder in sys.path if os.path.realpath(folder or ".") != str(tree.ROOT)]
    monkeypatch.setattr(sys, "path", there)
    assert child_process.module_folders()[-1] == str(tree.ROOT)
    monkeypatch.setattr(sys, "path", [str(tree.ROOT), *there])
    assert child_process.module_folders()[0] == str(tree.ROOT)


def test_arguments_of_any_text_arrive(capfd: pytest.CaptureFixture[str]) -> None:
    name = "a'\"\\\n\t\0 \u202e µ \udc80"
    with child_process.start("cli.main:main", ["summary", name], stderr=subprocess.PIPE) as process:
        _, error = process.communicate(timeout=60)
    assert process.returncode == 2
    assert b"Traceback" not in error


def test_one_function_starts_every_process() -> None:
    """A fork is no new interpreter: it imports nothing anew."""
    found = {
        path
        for path, text in tree.python_package().items()
        for node in ast.walk(tree.syntax(text))
        if isinstance(node, ast.Call) and OTHER_STARTERS.fullmatch(ast.unparse(node.func))
    }
    assert found == {f"{tree.PACKAGE}/child_process.py"}


# From here on everything that people and assistants can ask for, in folders full of such code.


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """``log``: a logdir with a run of two ranks and code; ``here``: a working folder with code; ``bin``: the script."""
    root = tmp_path_factory.mktemp("planted")
    mark = root / "ran"
    for folder in ("log", "log/ddp", "log/inference", "here"):
        plant(root / folder, mark)
    for rank in ("rank0", "rank1"):
        text = (repository / "samples/synthetic_ddp8" / f"{rank}.pt.trace.json.gz").read_bytes()
        (root / "log/ddp" / f"{rank}.pt.trace.json.gz").write_bytes(text)
    for file in (repository / "samples/inference").glob("*.json*"):
        (root / "log/inference" / file.name).write_bytes(file.read_bytes())
    for folder in ("bin", "out"):
        (root / folder).mkdir()
    (root / "budgets.toml").write_text("step_ms = 1000000\n")
    (root / "bin/torch-tb-profiler").write_text(SCRIPT)
    return root


@pytest.fixture(scope="module")
def variables(place: Path) -> dict[str, str]:
    cache = {"TORCH_TB_PROFILER_CACHE_DIR": str(place / "cache"), "HOME": str(place / "home")}
    return {**{k: v for k, v in os.environ.items() if k != "PYTHONPATH"}, **cache}


def command(place: Path, *arguments: str) -> list[str]:
    return [sys.executable, str(place / "bin/torch-tb-profiler"), *arguments]


def arguments_of(place: Path) -> Mapping[str, tuple[str, ...]]:
    """A right call of each command; the two servers have tests of their own."""
    run, trace, out = str(place / "log/ddp"), str(place / "log/ddp" / RANK), place / "out"
    return {
        **dict.fromkeys(COMMANDS, (trace,)),
        "import": (str(place / "log"),),
        "event": (trace, "40"),
        "whatif": (run, "--worker", "0", "--change", "no-sync"),
        "export": (trace, "--what", "kernels", "-o", str(out / "kernels.csv")),
        "sql": (trace, "select count(*) from kernels"),
        "baseline": ("save", "main", trace, "--dir", str(out)),
        "budgets": (trace, "--budgets", str(place / "budgets.toml")),
        "record": (str(place / "log"), "--steps", "1"),
        "skill": ("install", "--to", str(out)),
        "doctor": (str(place / "log"),),
        "report": (trace, "-o", str(out / "report.html")),
        "experiments": (str(place / "log"),),
        "diff": (run, run),
        "compare": (trace, str(place / "log/ddp/rank1.pt.trace.json.gz")),
    }


EACH = """
import json
codes = {}
for arguments in json.loads(sys.argv[1]):
    try:
        codes[arguments[0]] = main(arguments)
    except SystemExit as ended:
        codes[arguments[0]] = ended.code
print(json.dumps(codes), file=sys.stderr)
"""
"""Instead of the last line of ``SCRIPT``: many commands, one after the other."""


@pytest.mark.processes
@pytest.mark.slow
def test_no_command_runs_it(place: Path, variables: dict[str, str]) -> None:
    """In the logdir: working folder, logdir and the folder of the trace all hold code."""
    asked = [
        [name, *arguments_of(place)[name]] for name in COMMANDS if name not in ("serve", "mcp")
    ]
    script = place / "bin/each"
    script.write_text(SCRIPT.replace("sys.exit(main())\n", EACH))
    ended = subprocess.run(
        [sys.executable, str(script), json.dumps(asked)],
        cwd=place / "log",
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert not (place / "ran").exists(), (place / "ran").read_text()
    codes = json.loads(ended.stderr.splitlines()[-1])
    assert [*codes] == [name for name, *_ in asked]
    for name, code in codes.items():
        # No job listens here; a page may not be built, and Python 3.10 may have no reader of TOML.
        may_fail = name in ("record", "report", "budgets")
        assert code < (3 if may_fail else 2), (name, ended.stderr)


@pytest.mark.processes
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("where", ["here", "log"])
def test_no_tool_runs_it(where: str, place: Path, variables: dict[str, str]) -> None:
    pytest.importorskip("mcp")
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    from tests.cli.agents.test_mcp import text

    python, *arguments = command(place, "mcp", str(place / "log"))

    async def run() -> None:
        server = StdioServerParameters(
            command=python, args=arguments, env=variables, cwd=str(place / where)
        )
        async with Client(stdio_client(server)) as client:
            # One function asks all commands; the second of these reads a trace.
            await text(client, "list_runs", {})
            await text(client, "event", {"trace": f"ddp/{RANK}", "ids": [40]})

    anyio.run(run)
    assert not (place / "ran").exists(), (place / "ran").read_text()


@pytest.fixture
def served(place: Path, variables: dict[str, str]) -> Iterator[str]:
    """The address of a server that was started in the logdir."""
    process = subprocess.Popen(
        command(place, "serve", ".", "--port", "0"),
        cwd=place / "log",
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        assert process.stdout is not None
        found = re.search(rb"http://[^\s]+", process.stdout.readline())
        assert found
        yield found[0].decode().rstrip("/")
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)


def status(url: str) -> int:
    try:
        with urlopen(url) as reply:
            return int(reply.status)
    except HTTPError as refused:
        return refused.code


@pytest.mark.processes
@pytest.mark.slow
def test_no_route_runs_it(served: str, place: Path) -> None:
    from tests.web.test_contract import right

    asked = {
        "run": "ddp", "worker": "rank0", "span": "1", "run2": "ddp", "worker2": "rank1", "span2": "1"
    }  # fmt: skip
    ended, waiting = time.monotonic() + 120, list(ROUTES)
    while waiting and time.monotonic() < ended:
        still = []
        for path in waiting:
            places = {k: v for k, v in asked.items() if k in right(path)}
            query = urlencode({**right(path), **places})
            if status(f"{served}/data/plugin/pytorch_profiler{path}?{query}") == 202:
                still.append(path)
        waiting = still
        time.sleep(0.2 if still else 0)
    assert not (place / "ran").exists(), (place / "ran").read_text()
