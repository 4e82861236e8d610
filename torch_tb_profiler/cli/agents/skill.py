"""``skill install [--to DIR]``: the skill for assistants, by default into ``.agents/skills`` ([guide](guide/assistants.md))"""

from __future__ import annotations

import argparse
from pathlib import Path

from torch_tb_profiler.atomic_files import expect_free, make_folder, save
from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.output import write
from torch_tb_profiler.errors import BadRequest

HELP = "install the skill for assistants"
NAME = "torch-tb-profiler"
FOLDER = ".agents/skills"


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("action", choices=("install",))
    parser.add_argument(
        "--to",
        metavar="DIR",
        default=FOLDER,
        help="folder of an assistant's skills (default: %(default)s)",
    )
    arguments.force(parser)


def run(options: argparse.Namespace) -> int:
    """Copy the skill, unless other files of its names are there and ``--force`` is not given."""
    target = Path(options.to) / NAME
    files = skill_files()
    for name in files:
        make_folder((target / name).parent, below=Path(options.to))
    for name, text in files.items():
        place = target / name
        expect_free(place, force=True, ours=True)
        if place.exists() and not options.force and place.read_bytes() != text.encode():
            raise BadRequest(f"{place} exists already and differs.", "Use --force to overwrite it.")
    for name, text in files.items():
        save([text.encode()], target / name, force=True, ours=True)
    write(f"{target / 'SKILL.md'}\n")
    return 0


def skill_files() -> dict[str, str]:
    """Path in the skill's folder → text."""
    from importlib import resources

    home = resources.files("torch_tb_profiler") / "skill"
    names = ["SKILL.md", "references/questions.md", "references/recording.md"]
    return {name: (home / name).read_text("utf-8") for name in names}
