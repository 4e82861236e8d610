"""What each command prints on the samples, whole: ``UPDATE_GOLDEN=1 pytest tests/cli`` writes the
files anew for review.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from torch_tb_profiler.cli import main
from torch_tb_profiler.native import library

GOLDEN = Path(__file__).parent / "golden"
SYNTHETIC = "samples/synthetic_ddp8/rank5.pt.trace.json.gz"
# Commands as typed; @ is a trace with devices.
CASES = {
    "summary.txt": "summary @",
    "summary.md": "summary @ --markdown",
    "summary_600_tokens.md": "summary @ --markdown --tokens 600",
    "summary_run.txt": "summary samples/ddp_gloo",
    "summary_run_900_tokens.md": "summary samples/ddp_gloo --tokens 900",
    "event.txt": "event @ 479 #646 --raw",
    "event.md": "event samples/ddp_gloo 2253 --worker 1 --markdown",
    "event.json": "event @ 646 --json",
    "operators.txt": "operators samples/transformer",
    "operators_by_shape.md": "operators samples/transformer --by shape --limit 12 --markdown",
    "operators_by_stack.txt": "operators samples/transformer --by stack --limit 6 --steps 1-2",
    "operators.json": "operators @ --json --limit 2 --sort calls",
    "kernels.txt": "kernels @",
    "kernels_by_properties.txt": "kernels @ --by properties --limit 8 --skip-cold",
    "kernels.json": "kernels @ --json --limit 2",
    "experiments.txt": "experiments samples --base cnn_workers_2",
    "experiments.md": "experiments samples/cnn_workers_0 --markdown",
    "ranges.txt": "ranges samples/ddp_gloo --worker 0 --limit 8",
    "ranges.json": "ranges @ --json --limit 2 --steps 1",
    "findings.txt": "findings @",
    "findings.json": "findings samples/cnn_workers_0 --json",
    "diff_run.md": (
        "diff samples/ddp_gloo samples/ddp_gloo --steps-a 0-1 --steps-b 2-3 --tokens 1500"
    ),
    "diff.md": "diff samples/cnn_workers_0 samples/cnn_workers_2",
    "ask.txt": "ask samples/synthetic_ddp8 softmax",
    "ask_why.json": "ask samples/synthetic_ddp8 why#7 --json --worker 5",
    "ask_nearest.md": "ask samples/cnn_workers_0 sofmax --markdown",
    "doctor.txt": "doctor samples/cnn_workers_0",
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_command_prints(
    name: str,
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    if name == "doctor.txt":
        request.getfixturevalue("built_page")  # else it advises to build it
        monkeypatch.setattr(library, "why_not", lambda: "")
    monkeypatch.chdir(repository)
    # The doctor tells of the cache.
    options = ["--no-cache"] if name == "doctor.txt" else []
    assert main.main([*CASES[name].replace("@", SYNTHETIC).split(), *options]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    text = _anywhere(printed.out) if name.startswith("doctor") else printed.out
    file = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def _anywhere(text: str) -> str:
    """Without what depends on the machine: versions, the cache and the settings, each of which may
    wrap over several lines.
    """
    head, _, rest = text.partition("\n\n")
    keys = "Version|Packages|Compiled part|TensorBoard's tab|Page|Cache|Settings"
    return (
        re.sub(
            rf"^({keys}): .*?(?=\n(?:{keys}): |\Z)", r"\1: …", head, flags=re.MULTILINE | re.DOTALL
        )
        + "\n\n"
        + rest
    )
