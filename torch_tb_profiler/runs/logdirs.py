"""A catalogue from what a command line says."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.logdirs import parse_logdirs


def catalogue_of(
    logdir: str | None, logdir_spec: str | None, settings: Settings, remarks: Sequence[str] = ()
) -> Catalogue:
    """The catalogue of ``--logdir`` or ``--logdir_spec``; nothing is read before its ``start()``.
    ``remarks`` go onto the diagnosis page.
    """
    return Catalogue(parse_logdirs(logdir, logdir_spec), settings, remarks)
