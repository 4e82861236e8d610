"""Every knob of the package in one frozen place.

A value comes from, first match wins: the caller, an environment variable
``TORCH_TB_PROFILER_<NAME>``, the default below.
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
    """Worker processes at once, for imports and what is made of them; never more than the cores this
    process may use.
    """
    scan_seconds: float = 5.0
    """Pause between two looks at the logdir."""
    settle_seconds: float = 1.0
    """A file whose size or time changed within this many seconds is still being written."""
    import_timeout_seconds: float = 3600.0
    """An import without progress for this long is stopped and reported as hung."""
    chunk_bytes: int = 2 << 20
    """Text decoded at a time."""
    cache_dir: str = ""
    """Folder of the sidecar files; empty: the user's cache folder."""
    cache_limit_bytes: int = 20 << 30
    """The oldest sidecars are removed when the folder grows beyond this."""
    use_cache: bool = True
    """Whether sidecars of earlier imports are used."""
    open_traces: int = 64
    """Imported traces kept mapped at once; the least recently used is let go."""
    perfetto_url: str = "https://ui.perfetto.dev"
    """Where "Open in Perfetto" sends a trace: a self-hosted copy may stand here."""
    categories: str = ""
    """Roles of event categories that we do not know: ``npu_kernel=kernel,npu_call=runtime``. See
    ``store/roles.py``.
    """
    peaks: str = ""
    """JSON file with peaks of devices that go before the device table, such as measured ones. See
    ``hardware/peaks.py``.
    """
    models: str = ""
    """Python file that registers performance models of the user's own. See
    ``hardware/user_models.py``.
    """
    max_table_rows: int = 100_000
    """Rows of a table payload; what is beyond is pooled in one row "other"."""

    @staticmethod
    def from_environment(problems: list[str] | None = None, **given: Any) -> Settings:
        """Settings with the environment's values under the caller's.

        With a list ``problems`` a wrong variable is passed over and said there: a server that
        starts and tells is better than none.

        Raises:
            BadRequest: an environment variable's text does not fit the setting's type, or is a
                number below 0; only without ``problems``.
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
        # nan compares with nothing, and a pause or a limit below 0 or without end means nothing.
        if isinstance(value, (int, float)) and not 0 <= value < float("inf"):
            raise ValueError(text)
        return value
    except ValueError:
        raise BadRequest(
            f"{PREFIX}{name.upper()} is {text!r}, expected a value like {default!r}.",
            "Correct or unset the variable.",
        ) from None
