"""``doctor [PATH]``: whether the installation is complete and how to repair it; which files are at a path, and whether each is read or
why not
"""

from __future__ import annotations

import argparse
import platform
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch_tb_profiler._version import __version__
from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.document import Block, Document, Item, Listing
from torch_tb_profiler.cli.output import (
    Printer,
    Report,
    identity,
    no_trace_message,
    readable,
    settings_of,
    write,
)
from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.units import format_bytes, format_count, format_ns, format_share

if TYPE_CHECKING:
    from torch_tb_profiler.runs.loading import Unreadable
    from torch_tb_profiler.runs.model import Opened

HELP = "check the installation, and which files are used and why"
PACKAGES = ("tensorboard", "numpy", "pandas", "msgspec", "pyarrow", "torch")
PLUGIN_GROUP = "tensorboard_plugins"
MISSING_PACKAGE = "not installed"
LEAST_TENSORBOARD = (2, 15)
_DEFECT = ("name", "severity", "count", "sentence", "touched_share")


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    arguments.trace(parser, "?")
    arguments.form(parser)


def run(options: argparse.Namespace) -> int:
    """Print the report, also where none of the files at ``options.path`` can be read."""
    from torch_tb_profiler.runs.loading import computed_from

    settings = settings_of(options)
    unreadable: list[Unreadable] = []
    traces: list[dict[str, Any]] = []
    tables: list[Unreadable] = []
    if options.path:
        for opened in readable(options.path, settings, unreadable, options.worker):
            traces.append(_trace(opened))
            tables += computed_from(opened)
    program, advice = _program(settings), _advice(settings)
    unused = (*unreadable, *tables)
    files = [
        {"path": item.path, "rejected": item.rejected, "reason": item.reason} for item in unused
    ]
    if options.json:
        import msgspec

        write(
            msgspec.json.encode(
                {"program": program, "advice": advice, "traces": traces, "unreadable": files}
            ).decode()
            + "\n",
            json=True,
        )
    else:
        to_do = [Listing("What to do", [Item(text) for text in advice])] if advice else []
        lines = tuple(f"{key}: {value}" for key, value in program.items())
        document = Document(
            "torch-tb-profiler doctor", lines, (*to_do, *map(_block, traces), *_unused(unused))
        )
        printer = Printer(options)
        printer.add(Report(lambda: document, None))
        printer.end()
    if options.path and not traces:
        raise NotATrace(no_trace_message(options.path, unreadable))
    return 0


def _program(settings: Settings) -> dict[str, str]:
    from torch_tb_profiler.native.library import why_not
    from torch_tb_profiler.runs.loading import cache_use

    cache = cache_use(settings)
    cached = cache.note or f"{cache.folder} ({cache.files} files, {format_bytes(cache.bytes)})"
    changed = {
        field.name: getattr(settings, field.name)
        for field in fields(Settings)
        if getattr(settings, field.name) != getattr(Settings(), field.name)
    }
    return {
        "Version": f"{__version__}, Python {platform.python_version()} on {platform.system()}",
        "Packages": ", ".join(f"{name} {_version(name)}" for name in PACKAGES),
        "Compiled part": f"not used: {why}" if (why := why_not()) else "used",
        "TensorBoard's tab": "registered" if _registered() else "not registered",
        "Page": "built" if _page_built() else "not built",
        "Cache": cached,
        "Settings": (
            ", ".join(f"{name}={value}" for name, value in changed.items()) or "all defaults"
        ),
    }


def _advice(settings: Settings) -> list[str]:
    """What is wrong, and how to fix it."""
    from torch_tb_profiler.native.library import why_not
    from torch_tb_profiler.runs.loading import cache_use

    advice = []
    if not _registered():
        advice.append(
            "TensorBoard cannot show the tab: install the package with pip install . into the Python"
            " that runs TensorBoard"
        )
    if not _page_built():
        advice.append("The page is not built: run cd fe && npm ci && npm run build")
    if (why := why_not()) and not why.startswith("switched off"):
        advice.append(
            f"Large traces open at half the speed without the compiled part ({why}): have a C compiler or a way to PyPI, and install"
            " the package again"
        )
    beside, command = Path(sys.executable).parent, shutil.which("tensorboard")
    if command and _registered() and Path(command).parent.resolve() != beside.resolve():
        advice.append(
            f"The tensorboard command belongs to another Python ({command}), which may lack the tab:"
            f" run {sys.executable} -m tensorboard.main"
        )
    tensorboard = _version("tensorboard")
    if tensorboard == MISSING_PACKAGE:
        advice.append(
            "TensorBoard is not installed: use torch-tb-profiler serve, or pip install tensorboard for"
            " the tab"
        )
    elif _number(tensorboard) < LEAST_TENSORBOARD:
        advice.append(
            f"TensorBoard {tensorboard} is too old for the tab: pip install --upgrade tensorboard"
        )
    if settings.use_cache and cache_use(settings).note:
        advice.append(
            "Imports are not cached, so each command reads its traces again: set a writable folder with"
            " TORCH_TB_PROFILER_CACHE_DIR=FOLDER"
        )
    return advice


def _page_built() -> bool:
    from torch_tb_profiler.web.static_files import StaticFiles

    return StaticFiles().built


def _registered() -> bool:
    from importlib.metadata import entry_points

    return any(
        point.value.startswith("torch_tb_profiler.") for point in entry_points(group=PLUGIN_GROUP)
    )


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", version)[:2])


def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return MISSING_PACKAGE


def _trace(opened: Opened) -> dict[str, Any]:
    import msgspec

    from torch_tb_profiler.analysis.figures.missing_data import absent
    from torch_tb_profiler.views.overview.payload import health_items
    from torch_tb_profiler.views.words.texts import MISSING, missing

    facts = opened.facts
    return {
        **identity(opened),
        "title": opened.title,
        "events": opened.trace.entries,
        "lost": opened.span.lost or 0,
        "span_ns": facts.summary.span_ns,
        "steps": facts["steps"].n,
        "step_source": facts.summary.step_source,
        "defects": [{key: getattr(item, key) for key in _DEFECT} for item in health_items(facts)],
        "missing": msgspec.to_builtins(missing(absent(facts), MISSING)),
    }


def _block(trace: dict[str, Any]) -> Block:
    lost = f", {format_count(trace['lost'])} lost" if trace["lost"] else ""
    head = f"{trace['path']}: {format_count(trace['events'])} events{lost}"
    if trace["span_ns"]:  # snapshots of memory have none
        steps = f"{trace['steps']} step{'s' if trace['steps'] != 1 else ''}"
        head += f", {format_ns(trace['span_ns'])}, {steps} from {trace['step_source']}"
    items = [Item(head, (), "")]
    for defect in trace["defects"]:
        touched = (
            f", in {format_share(defect['touched_share'])} of the step time"
            if defect["touched_share"]
            else ""
        )
        items.append(
            Item(
                f"{defect['severity']}: {defect['sentence']} ({_times(defect['count'])}{touched})",
                (),
                "! ",
            )
        )
    items += [
        Item(f"Not recorded: {gap['what']}. {gap['why']}", (), "? ") for gap in trace["missing"]
    ]
    return Listing(trace["title"], items)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{format_count(count)} times"


def _unused(items: Sequence[Unreadable]) -> list[Block]:
    # What failed has a place in a run; others are no traces, or were not listed.
    texts = (f"{item.path}: {'failed: ' if item.run else ''}{item.reason}" for item in items)
    return [Listing("Unused files", list(map(Item, texts)))] if items else []
