"""What the action runs, whole: whatever stands in its inputs is an argument, and what compared nothing is no pass."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.architecture import tree
from tests.builders.drawn import events, text_of
from tests.examples import examples
from torch_tb_profiler.api.baselines import path_of
from torch_tb_profiler.cli.main import main
from torch_tb_profiler.errors import BadRequest

pytestmark = pytest.mark.skipif(os.name == "nt" or not shutil.which("bash"), reason="no bash")
INPUTS = ("PROFILE", "BASELINE", "BASELINE_DIR", "SAVE_BASELINE", "FAIL_ON", "STRICT", "BUDGETS", "REPORT")  # fmt: skip
STUB = """#!{python}
import json, os, sys
with open(os.environ["CALLS"], "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
for word in sys.argv:
    if os.environ["WRITES"] and word.startswith("--junit="):
        open(word.removeprefix("--junit="), "w").write("<testsuite/>")
"""
"""In place of the command: notes how it is called, and succeeds."""
POSITIONALS = {"summary": 1, "diff": 2, "baseline": 3, "budgets": 1, "report": 1}
OPTIONS = re.compile(
    r"--(markdown|tokens=1500|strict|force)|--(junit|fail-on|dir|budgets|output)=.*", re.S
)
_VALUE = st.one_of(
    st.sampled_from(
        ["", "--help", "-h", "--version", "--", "-", "..", "../..", "feature/x", "a b", " ", "*", "~",
         "$(touch pwned)", "`touch pwned`", "'; touch pwned; '", '"', "a\nresult=passed", "%0Aresult=passed",
         "::set-output name=result::passed", "${PATH}", "main", "true", "5", "名前", "\\", "!x", "é\u202e"]
    ),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12),
    st.text("-$`'\"\\ \n/.*()[]{}|&;<>#=%!~", max_size=8),
)  # fmt: skip


def ran(
    folder: Path, given: dict[str, str], *, writes: bool = True, flags: str = "-eu"
) -> tuple[int, list[str], list[list[str]]]:
    """Exit code, lines of GITHUB_OUTPUT, and the calls of the command, by a script that only notes them."""
    for name in ("bin", "work"):
        (folder / name).mkdir()
    stub = folder / "bin" / "torch-tb-profiler"
    stub.write_text(STUB.format(python=sys.executable))
    stub.chmod(0o755)
    done = subprocess.run(
        ["bash", flags, str(tree.ROOT / "action" / "run.sh")],
        env={
            "PATH": f"{stub.parent}{os.pathsep}{os.environ['PATH']}",
            "CALLS": str(folder / "calls"),
            "WRITES": "1" if writes else "",
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            **{name: value for name, value in given.items() if value},
        },
        cwd=folder / "work",
        check=False,
        capture_output=True,
    )
    calls = folder / "calls"
    told = calls.read_text().splitlines() if calls.exists() else []
    output = (folder / "output").read_text(encoding="utf-8").split("\n")
    assert output.pop() == ""
    return done.returncode, output, [json.loads(line) for line in told]


@examples(25)
@given(st.fixed_dictionaries(dict.fromkeys(INPUTS, _VALUE)), st.sampled_from(["-eu", "-u", "-e"]))
@example({**dict.fromkeys(INPUTS, "x"), "STRICT": "true"}, "-eu")
def test_whatever_stands_in_the_inputs_is_an_argument(given: dict[str, str], flags: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        code, output, calls = ran(folder, given, flags=flags)
        made = {path.name for path in (folder / "work").iterdir()}
    profile, baseline = given["PROFILE"], given["BASELINE"]
    assert code == (output[0] != "result=passed")
    assert output[0] in ("result=passed", "result=failed")
    assert output[1:] in ([], [f"report={given['REPORT']}"])
    assert made <= {f"profiler-{kind}.xml" for kind in ("diff", "baseline", "budgets")}
    if not profile:
        assert (code, calls) == (1, [])
        return
    expected = [["summary", profile]]
    if baseline:
        as_path = baseline in (".", "..", "/", "//") or Path("/tmp", baseline).exists()
        if not as_path:
            expected.append(["baseline", "compare", baseline, profile])
    expected += [["budgets", profile]] if given["BUDGETS"] else []
    expected += (
        [["baseline", "save", given["SAVE_BASELINE"], profile]] if given["SAVE_BASELINE"] else []
    )
    found = []
    for command, *words in calls:
        at = words.index("--")
        assert all(OPTIONS.fullmatch(word) for word in words[:at]), words
        assert len(words[at + 1 :]) == POSITIONALS[command]
        if command not in ("diff", "report"):
            found.append([command, *words[at + 1 :]])
    if not any(call[0] == "diff" for call in calls):
        assert found == expected
    strict = {"": False, "false": False, "true": True}.get(given["STRICT"])
    assert code == 1 if strict is None else True
    if baseline:
        options = next(words for words in calls if words[0] in ("diff", "baseline"))
        assert ("--strict" in options) == bool(strict)
        limit = given["FAIL_ON"]
        assert [w for w in options if w.startswith("--fail-on")] == (
            [f"--fail-on={limit}"] if limit else []
        )


@pytest.mark.parametrize("part", [{"BASELINE": "main"}, {"BUDGETS": "b.toml"}])
def test_an_end_without_a_check_is_no_pass(tmp_path: Path, part: dict[str, str]) -> None:
    code, output, _ = ran(tmp_path, {"PROFILE": "x", **part}, writes=False)
    assert (code, output) == (1, ["result=failed"])


BRANCHES = (
    "main", "feature/x", "a b", "..", "../../etc", "-x", "--help", "名前/ü", "v1.0", "%2F", "a'b\"$(touch pwned)`", "#1", "x" * 250,
)  # fmt: skip


@given(st.lists(st.text(min_size=1, max_size=300), min_size=2, max_size=2, unique=True))
@example(["feature/x", "feature%2Fx"])
@example(["x" * 300, "x" * 299 + "y"])
def test_every_branch_has_a_file_of_its_own(names: list[str]) -> None:
    files = []
    for name in names:
        if not name.strip():
            with pytest.raises(BadRequest, match="no name"):
                path_of(name, "b")
            return
        files.append(path_of(name, "b"))
    assert files[0] != files[1]
    for file in files:
        assert file.parent == Path("b")
        assert len(file.name) <= 255
        assert file.name.isascii()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log").mkdir()
    drawn = "main " + "".join(f"[ProfilerStep#{n}{' ' * (14 + n % 2)}]" for n in range(8))
    (tmp_path / "log/worker0.pt.trace.json").write_text(text_of(events(f"{drawn}\n")))
    return tmp_path


def test_baselines_are_named_like_branches(folder: Path) -> None:
    for branch in BRANCHES:
        assert main(["baseline", "--", "save", branch, "log"]) == 0
        assert main(["baseline", "--fail-on=5", "--", "compare", branch, "log"]) == 0
    kept = list((folder / ".profiler-baselines").iterdir())
    assert len(kept) == len(BRANCHES)
    assert {path.name for path in folder.iterdir()} == {"log", ".profiler-baselines"}


@pytest.mark.processes
@pytest.mark.slow
@pytest.mark.parametrize(
    ("profile", "branch", "code"),
    [
        ("log", "feature/ü x'$(touch pwned)", 0),
        ("log", "log", 0),  # saved, and a folder of that name
        ("--help", "main", 1),
        ("--version", "", 1),
        ("", "main", 1),
        ("-", "main", 1),
    ],
)
def test_the_script_with_the_command(folder: Path, profile: str, branch: str, code: int) -> None:
    if branch:
        assert main(["baseline", "--", "save", branch, "log"]) == 0
    command = folder / "bin" / "torch-tb-profiler"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m torch_tb_profiler "$@"\n')
    command.chmod(0o755)
    done = subprocess.run(
        ["bash", "-eu", str(tree.ROOT / "action" / "run.sh")],
        env={
            **os.environ,
            "PYTHONPATH": str(tree.ROOT),
            "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
            "PROFILE": profile,
            "BASELINE": branch,
            "FAIL_ON": "5",
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "GITHUB_OUTPUT": str(folder / "output"),
        },
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, done.stderr
    assert (folder / "output").read_text() == f"result={'failed' if code else 'passed'}\n"
    assert not (folder / "pwned").exists()
    if not code:
        assert "beside the baseline" in (folder / "summary.md").read_text()


def test_the_action_installs_its_own_checkout() -> None:
    text = (tree.ROOT / "action/action.yml").read_text(encoding="utf-8")
    [install] = re.findall(r"run: (.*pip install.*)", text)
    assert install == 'python -m pip install --quiet "$GITHUB_ACTION_PATH/.."'
    assert "${{ inputs" not in "".join(re.findall(r"run: .*", text)), (
        "no input is pasted into a script"
    )
