"""Checks: as JUnit's XML, which CI systems show as tests, as rows of Markdown, and as an exit code."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from torch_tb_profiler.api.baselines import Check
from torch_tb_profiler.atomic_files import save
from torch_tb_profiler.cli.progress import say
from torch_tb_profiler.untrusted import printable
from torch_tb_profiler.views.diff.wire import Verdict

MISSED = 1


def check_of(
    worker: str, name: str, verdict: Verdict, fail_on: float | None, *, strict: bool = False
) -> Check:
    """Whether a step did not become longer by more than this many per cents; None, or ``strict`` False,
    where it cannot be told whether it changed. Steps too few for the test alone must be longer by twice as much.
    """
    longer = 100 * (verdict.share or 0.0)
    slower = verdict.changed and fail_on is not None and longer > fail_on
    unsure = verdict.changed is None or (slower and verdict.apart and longer <= 2 * (fail_on or 0))
    ok = None if unsure else not slower
    return Check(worker, name, False if strict and ok is None else ok, verdict.sentence)


def write_junit(path: str, suite: str, checks: Sequence[Check]) -> None:
    """Write them; what cannot be told is skipped.

    Raises:
        SourceError: the file cannot be written.
    """
    failed, unknown = (sum(check.ok is ok for check in checks) for ok in (False, None))
    root = ElementTree.Element(
        "testsuite",
        name=suite, tests=str(len(checks)), failures=str(failed), skipped=str(unknown), errors="0",
    )  # fmt: skip
    for check in checks:
        case = ElementTree.SubElement(
            root, "testcase", classname=printable(check.worker) or suite, name=printable(check.name)
        )
        if check.ok is None:
            ElementTree.SubElement(case, "skipped", message=printable(check.said))
        elif not check.ok:
            ElementTree.SubElement(case, "failure", message=printable(check.said))
    save([ElementTree.tostring(root, "utf-8", xml_declaration=True)], path, force=True)


def exit_code(checks: Sequence[Check]) -> int:
    """Of a command that checked these; those that are missed are told on standard error."""
    missed = [check for check in checks if check.ok is False]
    for check in missed:
        say(f"{check.worker}: {check.name}: {check.said}")
    return MISSED if missed else 0
