"""Scalars of traces as event files, which TensorBoard shows as curves on its own tabs.

::

    log/run/rank0.1700….pt.trace.json.gz  ─▶  log/run/scalars/events.out.tfevents.….1700….torch_tb_profiler
    log/run/rank0.1800….pt.trace.json.gz  ─▶  log/run/scalars/events.out.tfevents.….1800….torch_tb_profiler
                                                profiler/step_time_ms  ●●● ●●●   by number of the step
                                                profiler/summary       the answer, top findings, a link

The files are written by TensorBoard's own writer, below the package ``tensorboard``.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.atomic_files import make_folder, save
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.tables.figures import scalars
from torch_tb_profiler.tables.ranks import findings_of
from torch_tb_profiler.views.words.escapes import one_line

if TYPE_CHECKING:
    from torch_tb_profiler.api.frames import RunFrames, TraceFrames

TAGS = {
    "wall_ns": ("profiler/step_time_ms", 1e-6, "Time of a step, ms"),
    "device_share": ("profiler/device_active", 1.0, "Share of a step with a kernel on the device"),
    "exposed_ns": (
        "profiler/exposed_communication_ms",
        1e-6,
        "Communication while the device computed nothing, ms",
    ),
    "mfu": ("profiler/mfu", 1.0, "Model FLOPs utilization"),
    "memory_bytes": ("profiler/peak_memory_gib", 2.0**-30, "Highest allocated in a step, GiB"),
}
"""Column of ``scalars`` → tag, factor, description."""
SUMMARY = "profiler/summary"
MOST_FINDINGS = 3


def write_event_files(
    frames: TraceFrames | RunFrames,
    directory: str | os.PathLike[str] | None = None,
    *,
    first_step: int = 0,
    force: bool = False,
) -> list[Path]:
    """Write the scalars and the summary of each trace for TensorBoard; the files that were written.

    Args:
        directory: where to; None: the folder ``scalars`` beside the traces, as TensorBoard reads no further in a file of curves
            once there is a newer one in its folder. A worker among several gets a folder of its own.
        first_step: added to the numbers of the steps, such as those of a run that was resumed.
        force: replace what was written before.

    Raises:
        BadRequest: such files are there already, or the traces lie at a URL.
        SourceError: a file cannot be written.
    """
    traces = list(_traces(frames))
    several = len({(trace.opened.run.name, trace.opened.worker.name) for trace in traces}) > 1
    folders = [_folder(trace, directory, several) for trace in traces]
    for folder, trace in zip(folders, traces, strict=True):
        _make_room(folder, _suffix(trace), force)
    return [
        _write(folder, trace, first_step) for folder, trace in zip(folders, traces, strict=True)
    ]


def _traces(frames: TraceFrames | RunFrames) -> Iterator[TraceContext]:
    from torch_tb_profiler.api.frames import TraceFrames

    members: Iterable[Any] = [frames] if isinstance(frames, TraceFrames) else frames
    for member in members:
        yield member.context


def _folder(trace: TraceContext, directory: str | os.PathLike[str] | None, several: bool) -> Path:
    opened = trace.opened
    if directory is None:
        place = opened.span.location
        beside = Path(place.parent.path) if place.is_local else None
        if beside is None or not beside.is_dir():
            raise BadRequest(
                f"{opened.span.path} does not lie in a folder of this machine, and event files are written beside a trace.",
                "Say where to with -o FOLDER.",
            )
        folder = beside / "scalars"
    else:
        folder = Path(directory).expanduser()
        if several and opened.run.name not in ("", "."):
            folder = folder.joinpath(*_parts(opened.run.name))
    return folder.joinpath(*_parts(opened.worker.name)) if several else folder


def _parts(name: str) -> list[str]:
    """A name from a trace as folders that stay below."""
    return [part for part in one_line(name).split("/") if part.strip(". ")]


def _suffix(trace: TraceContext) -> str:
    """At the end of the name of a trace's event file."""
    return f".{quote(trace.opened.span.name, safe='')[-64:]}.torch_tb_profiler"


def _make_room(folder: Path, suffix: str, force: bool) -> None:
    earlier = list(folder.glob(f"events.out.tfevents.*{escape(suffix)}"))
    if earlier and not force:
        raise BadRequest(
            f"{earlier[0]} was written before.", "Use --force to replace it, or another folder."
        )
    make_folder(folder)
    for path in earlier:
        path.unlink(missing_ok=True)


def _write(folder: Path, trace: TraceContext, first_step: int) -> Path:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    # TensorBoard chooses the name of the file, and opens it as it finds it: in a folder that is nobody else's.
    with tempfile.TemporaryDirectory(prefix="torch-tb-profiler-") as private:
        writer = EventFileWriter(private, filename_suffix=_suffix(trace))
        for when, step, summary in _summaries(trace):
            number = max(step + first_step, 0)
            writer.add_event(Event(wall_time=when, step=number, summary=summary))
        writer.close()
        [made] = Path(private).iterdir()
        save([made.read_bytes()], folder / made.name, force=True, ours=True)
    return folder / made.name


def _summaries(trace: TraceContext) -> Iterator[tuple[float, int, Any]]:
    """Unix time, number of the step and content of every entry."""
    from tensorboard.plugins.scalar.summary_v2 import scalar_pb
    from tensorboard.plugins.text.summary_v2 import text_pb

    table = scalars(trace.source())
    begin = np.where(np.isnan(table["begin_s"]), time.time(), table["begin_s"])
    number = table["number"].tolist()
    for column, (tag, factor, words) in TAGS.items():
        values = table[column].astype(np.float64)
        known = ~np.isnan(values) & (values >= 0)
        for row in np.flatnonzero(known).tolist():
            yield begin[row], number[row], scalar_pb(tag, values[row] * factor, words)
    if table.n:
        words = text_pb(SUMMARY, _text(trace, table), "What the profiler found")
        yield begin[-1], number[-1], words


def _text(trace: TraceContext, table: DisplayTable) -> str:
    """The summary in Markdown."""
    found = findings_of(trace.source())
    lines = [found.headline, *filter(None, [found.detail]), ""]
    lines += [f"- {finding.title}" for finding in found.findings[:MOST_FINDINGS]]
    opened = trace.opened
    place = {"run": opened.run.name, "worker": opened.worker.name, "span": opened.span.name}
    keys = "&".join(
        f"p.pytorch_profiler.{key}={quote(value, safe='')}" for key, value in place.items()
    )
    numbers = f"steps {table['number'][0]} to {table['number'][-1]}"
    lines += ["", f"[The trace of {numbers}](#pytorch_profiler&{keys})"]
    return "\n".join(lines)
