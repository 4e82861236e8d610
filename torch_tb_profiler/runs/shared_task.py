"""A task whose sidecars others read too: on a shared disk where a cluster's workers write, or in a
cache at a URL. What is there already is not made again.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from torch_tb_profiler.errors import SidecarError, SourceError
from torch_tb_profiler.runs.import_job import Report, outcome_of
from torch_tb_profiler.runs.products import DERIVED, IMPORT, INSIGHT, Product, ranks_path
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.cache_folder import SUFFIX, CacheFolder
from torch_tb_profiler.sources.places import Place

Make = Callable[[str, str, Settings, Report], dict[str, Any]]


def make_shared(
    task: dict[str, Any], make: Make, settings: Settings, report: Report
) -> dict[str, Any]:
    """Have a task's product made where others find it; the outcome.

    With a cache at a URL, the paths in a task that comes from ``elsewhere`` are those of another
    machine's copies, whose names are the same here.

    Raises:
        SourceError: the cache does not answer.
        OSError: the sidecar could not be written.
        ProfilerError: as ``make``.
    """
    sidecar, location = Path(task["sidecar"]), task["location"]
    product = _product_of(sidecar.name)
    elsewhere = bool(task.get("elsewhere"))
    if Place(settings.cache_dir).is_local:
        kept = _kept(product, sidecar)
        return make(location, str(sidecar), settings, report) if kept is None else kept
    folder = CacheFolder(settings)
    if folder.remote is None:
        raise SourceError(folder.note)
    if elsewhere:
        sidecar = folder.path / sidecar.name
    if product is not IMPORT:
        name = os.path.basename(location)
        location = str(folder.copied(folder.path / name if elsewhere else location))
    if elsewhere:
        kept = _kept(product, folder.copied(sidecar))
        if kept is not None:
            return kept
        folder.discard(sidecar)
    outcome = make(location, str(sidecar), settings, report)
    if product is INSIGHT:
        folder.publish(ranks_path(str(sidecar)))
    folder.publish(sidecar)
    if product is IMPORT:
        folder.tell(sidecar, outcome)
    folder.trim()
    return outcome


def _product_of(name: str) -> Product[Any]:
    return next((p for p in DERIVED if name.endswith(f".{p.name}{SUFFIX}")), IMPORT)


def _kept(product: Product[Any], sidecar: Path) -> dict[str, Any] | None:
    """The outcome of what was made before; None if it is not there, or damaged."""
    try:
        opened = product.read(str(sidecar))
    except SidecarError:
        return None
    CacheFolder.touch(sidecar)
    return asdict(outcome_of(opened.trace, opened.facts)) if product is IMPORT else {}
