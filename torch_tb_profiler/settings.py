"""Every setting of the package.

A value comes from the caller, else from the environment variable ``TORCH_TB_PROFILER_<NAME>``, else
from the default below.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields, replace
from typing import Any

from torch_tb_profiler.errors import BadRequest

PREFIX = "TORCH_TB_PROFILER_"


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else (os.cpu_count() or 1)


@dataclass(frozen=True)
class Settings:
    """All settings; units are in the names. See README, "Settings"."""

    workers: int = field(default_factory=_cores)
    """Concurrent worker processes; at most one per core that this process may use."""
    scan_seconds: float = 5.0
    """Pause between two scans of the logdir."""
    max_scan_seconds: float = 300.0
    """A scan ends after this long in the logdir's folders, and in those that links lead to: a file
    system of a cluster tells of a thousand files in a second.
    """
    settle_seconds: float = 1.0
    """A file whose size or time changed within this many seconds is still being written."""
    import_timeout_seconds: float = 3600.0
    """An import without progress for this long is stopped and reported as hung."""
    max_inflated_bytes: int = 64 << 30
    """An import of a file that inflates to more is stopped."""
    max_import_seconds: float = 6 * 3600.0
    """An import that reads for longer is stopped, even with progress."""
    max_import_memory_bytes: int = 0
    """A worker process that needs more to import or analyse a trace stops with that (Linux; mapped files
    do not count); 0: what the machine has.
    """
    chunk_bytes: int = 4 << 20
    """Bytes of text decoded at once."""
    cache_dir: str = ""
    """Folder of the sidecar files, or the URL of one (``s3://…``) of which this machine keeps
    copies; empty: the user's cache folder.
    """
    cache_limit_bytes: int = 20 << 30
    """When the folder exceeds this, the least recently used sidecars are removed."""
    scheduler: str = ""
    """Address of a Dask scheduler whose workers import and analyse, like ``tcp://host:8786``; empty:
    processes of this machine do.
    """
    use_cache: bool = True
    """Whether sidecars of earlier imports are reused."""
    open_traces: int = 64
    """Imported traces kept memory-mapped; the least recently used is closed first."""
    perfetto_url: str = "https://ui.perfetto.dev"
    """Where "Open in Perfetto" sends a trace; may be a self-hosted copy."""
    categories: str = ""
    """Roles of unknown event categories: ``npu_kernel=kernel,npu_call=runtime`` (see
    ``store/roles.py``).
    """
    peaks: str = ""
    """JSON file with device peaks that override the device table (see ``hardware/peaks.py``)."""
    models: str = ""
    """Python file that registers custom performance models (see ``hardware/user_models.py``)."""
    source_folders: str = ""
    """Folders of your own program, joined as in ``PATH``, whose functions Lines and Memory show with what they take; empty: none is read (see
    docs/security.md).
    """
    max_table_rows: int = 10_000
    """Rows of a table payload; the rest is pooled in one row, "other"."""

    @staticmethod
    def from_environment(problems: list[str] | None = None, **given: Any) -> Settings:
        """Settings from the caller's values, the environment and the defaults, in that order.

        With a list ``problems``, an invalid variable is ignored and described there.

        Raises:
            BadRequest: an environment variable has the wrong type or is negative, and ``problems``
                is None.
        """
        settings = Settings()
        values: dict[str, Any] = {}
        for f in fields(Settings):
            text = os.environ.get(PREFIX + f.name.upper())
            if text is not None:
                try:
                    values[f.name] = _parse(f.name, text, getattr(settings, f.name))
                except BadRequest as error:
                    if problems is None:
                        raise
                    problems.append(f"{error.message} The default is used.")
        values.update({k: v for k, v in given.items() if v is not None})
        if "workers" in values:
            values["workers"] = min(max(1, int(values["workers"])), _cores())
        return replace(settings, **values)


def _parse(name: str, text: str, default: Any) -> Any:
    try:
        if isinstance(default, bool):
            return text.strip().lower() not in ("", "0", "false", "no", "off")
        value = type(default)(text)
        # Rejects NaN as well, which compares false with everything.
        if isinstance(value, (int, float)) and not 0 <= value < float("inf"):
            raise ValueError(text)
        return value
    except ValueError:
        raise BadRequest(
            f"{PREFIX}{name.upper()} is {text!r}, expected a value like {default!r}.",
            "Correct or unset the variable.",
        ) from None
