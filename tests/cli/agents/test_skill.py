"""The skill: its format, what install writes, and every command in it, run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from torch_tb_profiler.cli import main
from torch_tb_profiler.cli.agents.skill import skill_files

_FENCED = re.compile(r"^```sh\n(.*?)^```", re.M | re.S)
_INLINE = re.compile(r"`(torch-tb-profiler [^`]+)`")


def commands(text: str) -> list[str]:
    fenced = [line for block in _FENCED.findall(text) for line in block.splitlines() if line]
    return fenced + [found for found in _INLINE.findall(text) if "LOGDIR" not in found]


COMMANDS = sorted({found for text in skill_files().values() for found in commands(text)})


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def test_the_skill_has_the_form_of_agent_skills() -> None:
    files = skill_files()
    head = re.match(r"---\n(.*?)\n---\n", files["SKILL.md"], re.S)
    assert head
    fields = dict(line.split(": ", 1) for line in head[1].splitlines())
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", fields["name"])
    assert len(fields["name"]) <= 64
    assert 1 <= len(fields["description"]) <= 1024
    assert len(fields["compatibility"]) <= 500
    assert len(files["SKILL.md"].splitlines()) < 500
    for named in re.findall(r"`(references/[a-z_]+\.md)`", "".join(files.values())):
        assert named in files


def test_all_of_it_is_packaged(repository: Path) -> None:
    home = repository / "torch_tb_profiler/skill"
    assert {path.relative_to(home).as_posix() for path in home.rglob("*.md")} == set(skill_files())


def test_install_writes_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main.main(["skill", "install"]) == 0
    written = tmp_path / ".agents/skills/torch-tb-profiler/SKILL.md"
    assert written.read_text(encoding="utf-8") == skill_files()["SKILL.md"]
    assert main.main(["skill", "install"]) == 0
    written.write_text("mine", encoding="utf-8")
    assert main.main(["skill", "install"]) == 2
    assert "--force" in capsys.readouterr().err
    assert written.read_text(encoding="utf-8") == "mine"
    assert main.main(["skill", "install", "--force", "--to", str(tmp_path / "there")]) == 0
    assert (tmp_path / "there/torch-tb-profiler/references/questions.md").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_in_it_runs(
    command: str,
    repository: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    samples = repository / "samples"
    trace = samples / "synthetic_ddp8/rank0.pt.trace.json.gz"
    places = {
        "RUN": str(samples / "synthetic_ddp8"),
        "TRACE": str(trace),
        "BEFORE": str(samples / "cnn_workers_0"),
        "AFTER": str(samples / "cnn_workers_2"),
        "ID": "40",
    }
    monkeypatch.chdir(tmp_path)
    program, *words = shlex.split(command)
    assert program == "torch-tb-profiler"
    code = main.main([places.get(word, word) for word in words])
    assert code in ((0, 1) if "--fail-on" in words else (0,)), capfd.readouterr().err
