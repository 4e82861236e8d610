"""What every capture program shares: how it records, what it removes from the trace, and the
figures it keeps beside it.

A capture program trains something small under ``torch.profiler`` with everything switched on and
writes one trace per worker into the run folder given by ``--out``. Two things happen to a trace
after Kineto wrote it, both on its text, so that every event, number and line stays as recorded
(``scrub``):

* the machine's own directories are cut from the front of paths: ``<site-packages>/torch/nn/...``
  becomes ``torch/nn/...``,
  the directory of the capture programs disappears, ``traceName`` keeps the file name only;
* the machine's name in the header (``host_name``) becomes ``sample``.

The figures that ``torch.profiler`` itself computes for the same run (``key_averages()``) go to
``capture/expected/<run>/<worker>.json``; tests compare the operator view with them on machines
without PyTorch.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import site
import socket
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

HERE = Path(__file__).resolve().parent
EXPECTED = HERE / "expected"
SEED = 20260
WAIT, WARMUP, ACTIVE = 1, 2, 4
STEPS = WAIT + WARMUP + ACTIVE
_ABSOLUTE = re.compile(r'(?:(?<=")|(?<=[\s;(]))/(?:[\w.+-]+/)+')


def device() -> torch.device:
    """The accelerator when there is one, the CPU otherwise."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def arguments(doc: str | None, **more: Any) -> argparse.Namespace:
    """Parse ``--out`` and one integer option per keyword; on a GPU the run folder's name gets the
    suffix ``_cuda``.
    """
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument(
        "--out", type=Path, required=True, help="run folder, e.g. samples/transformer"
    )
    for name, default in more.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parsed = parser.parse_args()
    if device().type == "cuda":
        parsed.out = parsed.out.with_name(parsed.out.name.replace("gloo", "nccl") + "_cuda")
    return parsed


def seeded(rank: int = 0) -> None:
    """Make the work of a run the same every time (its times are the machine's)."""
    torch.manual_seed(SEED + rank)
    torch.set_num_threads(1)


def recorder(out: Path, worker: str, steps: bool = True) -> profile:
    """A profiler with everything on, that writes ``<out>/<worker>.<ns>.pt.trace.json.gz`` and the
    expected figures.

    ``steps=False`` records the whole ``with`` block, without ``ProfilerStep#N``.
    """
    activities = [ProfilerActivity.CPU]
    if device().type == "cuda":
        activities.append(ProfilerActivity.CUDA)
    return profile(
        activities=activities,
        schedule=schedule(wait=WAIT, warmup=WARMUP, active=ACTIVE, repeat=1) if steps else None,
        on_trace_ready=_writer(out, worker),
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
        with_modules=True,
        with_flops=True,
    )


def _writer(out: Path, worker: str) -> Callable[[profile], None]:
    write = tensorboard_trace_handler(str(out), worker_name=worker, use_gzip=True)

    def on_trace_ready(prof: profile) -> None:
        try:
            figures = key_averages(prof)
        except UnicodeDecodeError as error:
            raise SystemExit(
                "PyTorch 2.13 sometimes keeps a dangling name of a built-in function, which it"
                " cannot read back itself: run again"
            ) from error
        for old in out.glob(f"{worker}.*.pt.trace.json.gz"):
            old.unlink()
        write(prof)
        (path,) = out.glob(f"{worker}.*.pt.trace.json.gz")
        scrub(path)
        target = EXPECTED / out.name / f"{worker}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        lines = ",\n".join(f"  {json.dumps(key)}: {_rows(value)}" for key, value in figures.items())
        target.write_text(
            f'{{\n  "torch": {json.dumps(torch.__version__)},\n  "trace":'
            f" {json.dumps(path.name)},\n{lines}\n}}\n",
            encoding="utf-8",
        )

    return on_trace_ready


def _rows(rows: list[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(f"    {json.dumps(row)}" for row in rows) + "\n  ]"


def key_averages(prof: profile) -> dict[str, list[dict[str, Any]]]:
    """PyTorch's own figures for the operators of a run, in integer ns: by name, and by name and
    input shapes.

    Only names that the recording holds as operators (activity ``cpu_op``) are kept: the table also
    has annotations and, since PyTorch 2.13, Python frames.
    """
    events = prof.events()
    names = {event.name for event in events or () if _is_operator(event)}
    rows = [
        _figures(row)
        for row in prof.key_averages()
        if row.key in names and not row.is_user_annotation
    ]
    shaped = [
        _figures(row) | {"dims": row.input_shapes}
        for row in prof.key_averages(group_by_input_shape=True)
        if row.key in names and not row.is_user_annotation
    ]
    return {"operators": rows, "operators_by_shape": shaped}


def _figures(row: Any) -> dict[str, Any]:
    times = {
        "self_cpu_ns": round(row.self_cpu_time_total * 1000),
        "cpu_total_ns": round(row.cpu_time_total * 1000),
    }
    return {"name": row.key, "calls": row.count} | times


def _is_operator(event: Any) -> bool:
    kind = getattr(event, "activity_type", None)
    if kind is not None:
        return bool(kind == "cpu_op")
    return (
        not event.is_user_annotation
        and not getattr(event, "is_python_function", False)
        and event.device_type.name == "CPU"
    )


def scrub(path: Path) -> None:
    """Remove machine directories and the host name from a trace's text, in place; ValueError if any
    is left.
    """
    text = gzip.decompress(path.read_bytes()).decode("utf-8", errors="surrogateescape")
    text = re.sub(r'("traceName":\s*")[^"]*(")', lambda m: f"{m[1]}{path.name}{m[2]}", text)
    text = re.sub(r'("host_name":\s*")[^"]*(")', r"\1sample\2", text)
    for prefix in _machine_prefixes():
        text = re.sub(rf"(?<![\w/.]){re.escape(prefix)}(?![^/])/?", "", text)
    remains = sorted(
        {found.group() for found in _ABSOLUTE.finditer(text)}
        | {name for name in (socket.gethostname(),) if f'"{name}"' in text}
    )
    if remains:
        raise ValueError(f"machine paths or names are left in {path.name}: {remains[:5]}")
    data = text.encode("utf-8", errors="surrogateescape")
    with (
        open(path, "wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=9, mtime=0) as packed,
    ):
        packed.write(data)


def _machine_prefixes() -> list[str]:
    """Directories of this machine that a frame's path may begin with, longest first."""
    paths = {
        str(HERE),
        os.getcwd(),
        sys.prefix,
        sys.base_prefix,
        sysconfig.get_path("stdlib"),
        str(Path.home()),
    }
    paths.update(site.getsitepackages())
    paths.update(str(Path(entry).resolve()) for entry in sys.path if entry and os.path.isdir(entry))
    real = {os.path.realpath(entry) for entry in paths}
    return sorted((entry for entry in paths | real if len(entry) > 1), key=len, reverse=True)
