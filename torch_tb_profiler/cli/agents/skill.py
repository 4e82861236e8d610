"""``torch-tb-profiler skill install``: the skill for assistants, in the open format of agent skills, into a folder of theirs."""

from __future__ import annotations

import argparse
from importlib import resources
from pathlib import Path

from torch_tb_profiler.cli.output import write
from torch_tb_profiler.errors import BadRequest, SourceError

NAME = "torch-tb-profiler"
FOLDER = ".agents/skills"


def run(options: argparse.Namespace) -> int:
    """Copy the skill; the exit code.

    Raises:
        BadRequest: another file of that name is there, and ``--force`` is not given.
        SourceError: it cannot be written.
    """
    target = Path(options.to) / NAME
    files = skill_files()
    for name, text in files.items():
        place = target / name
        if place.exists() and not options.force and place.read_bytes() != text.encode():
            raise BadRequest(f"{place} exists already and differs.", "Use --force to overwrite it.")
    try:
        for name, text in files.items():
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise SourceError(f"{target} cannot be written: {error.strerror}.") from error
    write(f"{target / 'SKILL.md'}\n")
    return 0


def skill_files() -> dict[str, str]:
    """Path in the skill's folder → text."""
    home = resources.files("torch_tb_profiler") / "skill"
    names = ["SKILL.md", "references/questions.md", "references/recording.md"]
    return {name: (home / name).read_text("utf-8") for name in names}
