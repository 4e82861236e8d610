"""Every command on every kind of input: done with something to show, or refused in one line with
nothing shown.
"""

from __future__ import annotations

import gzip
import json
import os
import socket
import sys
from pathlib import Path

import fsspec
import pytest
import zstandard

from tests.api.traces import write
from tests.builders import nsight, nvprof
from torch_tb_profiler.cli import main
from torch_tb_profiler.cli.commands import COMMANDS

pytestmark = pytest.mark.slow

READ = (
    "logdir",
    "zst",
    "nsight",
    "nvprof",
    "stacks",
    "cut",
    "no events",
    "hostile",
    "memory://",
    "mixed",
)
REFUSED = (
    "no trace",
    "empty folder",
    "missing",
    "-",
    "memory://nowhere",
    "s3x://bucket/run",
    *(("socket", "pipe") if sys.platform != "win32" else ()),
)
FORMS: dict[str, tuple[tuple[str, ...], ...]] = {
    **{
        name: ((), ("--json",))
        for name in COMMANDS
        # What import makes is in the cache, which this test goes without (test_import.py).
        if name
        not in ("compare", "serve", "report", "import", "mcp", "skill", "baseline", "record")
    },
    "baseline save now": ((),),
    "summary": ((), ("--json",), ("--tokens", "300")),
    "operators": (("--by", "stack"), ("--json", "--by", "shape")),
    "findings": (("--markdown", "--tokens", "200"), ("--json",)),
    "event": (("0",), ("0", "--json", "--raw")),
    "ranges": ((), ("--csv",), ("--json",)),
    "experiments": ((), ("--csv",), ("--json",)),
    "pyprof": (("--csv", "-c", "all"), ("--json",)),
    "sql": (("select name, dur from events",), ("select name, dur from events", "--json")),
    "export": (("-o", "-", "--what", "events"), ("-o", "-", "--to", "folded")),
}
ONE_TRACE = ("event", "pyprof", "folded")
PACKED = ("zst", "nvprof", "cut", "memory://", "hostile")
READERS = ("summary", "diff", "export")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = tmp_path_factory.mktemp("inputs")
    for run in ("one", "two"):
        write(root / "log" / run, "rank0")
    first = next(write(root / "mixed", "rank0", "rank1").glob("rank0*"))
    text = first.read_bytes()
    (root / "empty").mkdir()
    for name, data in {
        "mixed/rank7.pt.trace.json": b"",
        "b.pt.trace.json.zst": zstandard.ZstdCompressor().compress(text),
        "c.pt.trace.json.gz": gzip.compress(text)[:-40],
        "d.stacks": b"main;a.py(3)_f;aten::mm 12\nmain;b 5\n",
        "e.pt.trace.json": b'{"traceEvents":[]}',
        "f/\x1b]0;owned\x07<b>.pt.trace.json"
        if sys.platform != "win32"
        else "f/f.pt.trace.json": text,
        "g.json": b'{"a":1}',
    }.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(data)
    nsight.write_training(root / "n.sqlite")
    nvprof.write_training(root / "v.nvvp")
    with fsspec.filesystem("memory").open("/inputs/run/w0.pt.trace.json", "wb") as file:
        file.write(text)
    found = {
        "file": first,
        "logdir": root / "log",
        "zst": root / "b.pt.trace.json.zst",
        "nsight": root / "n.sqlite",
        "nvprof": root / "v.nvvp",
        "stacks": root / "d.stacks",
        "cut": root / "c.pt.trace.json.gz",
        "no events": root / "e.pt.trace.json",
        "hostile": next((root / "f").iterdir()),
        "memory://": "memory://inputs/run",
        "mixed": root / "mixed",
        "no trace": root / "g.json",
        "empty folder": root / "empty",
        "missing": root / "nothing",
        "socket": root / "socket",
        "pipe": root / "pipe",
    }
    if sys.platform != "win32":
        os.mkfifo(root / "pipe")
        # A socket's path must be short.
        with socket.socket(socket.AF_UNIX) as one, pytest.MonkeyPatch.context() as place:
            place.chdir(root)
            one.bind("socket")
    return {kind: str(path) for kind, path in found.items()}


def call(command: str, path: str, form: tuple[str, ...]) -> int:
    """The first form reads the input, the others what is kept of it."""
    paths = [path, path] if command == "diff" else [path]
    cache = ["--no-cache"] if form == FORMS.get(command, (form,))[0] else []
    return main.main([*command.split(), *paths, *form, *cache])


@pytest.fixture
def inside(
    inputs: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Where ``budgets`` finds its file and ``baseline`` leaves its own."""
    folder = Path(inputs["logdir"]).parent
    (folder / "profiler-budgets.toml").write_text("step_ms = 1000000\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize("kind", READ)
def test_what_can_be_read_is_told_in_every_form(
    kind: str, inputs: dict[str, str], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    several = kind in ("logdir", "mixed")
    # What differs in how it is read alone is the same to all commands, and the forms of a command go round the inputs.
    alike = [one for one in READ if (one in PACKED) == (kind in PACKED)]
    names = READERS if kind in PACKED else FORMS
    for number, command in enumerate(names, alike.index(kind)):
        form = FORMS[command][number % len(FORMS[command])]
        code = call(command, inputs[kind], form)
        printed = capfdbinary.readouterr()
        said = f"{command} {' '.join(form)}: {printed.err.decode()}"
        if code == 2:
            assert (several and {command, *form} & {*ONE_TRACE}) or (
                kind in ("no events", "stacks") and command == "event"
            ), said
            assert (printed.out, printed.err.count(b"\n")) == (b"", 1), said
            continue
        assert code == 0, said
        # A failed file beside others is said, and that there is nothing of what was asked for.
        two = command in ("diff", "ranges", "baseline save now")
        assert printed.err.count(b"\n") <= (2 if two else 1), said
        assert b"\x1b" not in printed.err, said
        assert command == "export" or b"\x1b" not in printed.out, said
        if "--json" in form:
            assert json.loads(printed.out) or (
                command == "pyprof" and b"holds no kernels" in printed.err
            ), said


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_read_is_one_line(
    kind: str, inputs: dict[str, str], tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    forms = {
        **{name: forms[0] for name, forms in FORMS.items()},
        "report": ("-o", str(tmp_path / "report.html")),
    }
    for command, form in forms.items():
        try:
            code = call(command, inputs.get(kind, kind), form)
        except SystemExit as ended:
            assert kind == "-", "an argument that is refused before anything is read"
            code = int(ended.code or 0)
        printed = capfdbinary.readouterr()
        said = printed.err.decode().splitlines()[-1]
        assert code == 2
        assert command == "doctor" or printed.out == b""
        assert said.startswith("torch-tb-profiler"), said
        assert printed.err.count(b"\n") == 1 or kind == "-", printed.err
        assert "checked regularly" not in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        *(
            (f"{command} FILE --json --tokens 300", "--tokens shortens Markdown")
            for command in ("summary", "operators", "kernels", "findings", "doctor")
        ),
        ("event FILE 1 --json --tokens 300", "--tokens shortens Markdown"),
        ("diff FILE FILE --json --tokens 300", "--tokens shortens Markdown"),
        ("diff FILE FILE --format csv --tokens 300", "--tokens shortens Markdown"),
        ("diff FILE FILE --format csv --json", "not allowed with"),
        *(
            (arguments, "not allowed with")
            for arguments in (
                "summary FILE --json --markdown",
                "pyprof FILE --csv --json",
                "pyprof FILE --csv -w 90",
            )
        ),
        ("doctor --worker 1", "none is given"),
        ("export FILE --what findings --steps 1", "always covers the whole recording"),
        ("export FILE --what memory --skip-cold", "always covers the whole recording"),
        ("export FILE --kinds kernel", "--kinds cannot be used with csv"),
        ("export FILE --by shape --to folded", "--by cannot be used with folded"),
        ("export FILE --what steps --metric host", "--metric cannot be used with csv"),
        ("export FILE --what kernels --to folded", "--what kernels cannot be written as folded"),
        ("summary -", "standard input cannot be read"),
    ],
)
def test_options_that_cannot_be_obeyed_together_are_refused(
    arguments: str,
    reason: str,
    inputs: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [inputs["file"] if word == "FILE" else word for word in arguments.split()]
    try:
        code = main.main(words)
    except SystemExit as ended:
        code = int(ended.code or 0)
    printed = capsys.readouterr()
    assert (code, printed.out, list(tmp_path.iterdir())) == (2, "", [])
    assert reason in printed.err.splitlines()[-1]
    assert printed.err.count("torch-tb-profiler: ") + printed.err.count(": error: ") == 1
