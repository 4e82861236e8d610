"""The TensorBoard plugin: name, tab and routes. Everything else is in ``web``."""

from __future__ import annotations

from threading import Lock
from typing import Any

from tensorboard.plugins import base_plugin

from torch_tb_profiler.runs.catalogue import Catalogue, catalogue_of
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.web.application import ENTRY_ROUTE, Application, Wsgi

NAME = "pytorch_profiler"


class ProfilerPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """Adds the tab PYTORCH_PROFILER to TensorBoard."""

    plugin_name = NAME

    def __init__(self, context: base_plugin.TBContext) -> None:
        flags = context.flags
        self._logdir_spec: str = getattr(flags, "logdir_spec", None) or ""
        logdir: str = getattr(flags, "logdir", None) or context.logdir or ""
        # TensorBoard itself reads only one of the two.
        self._logdir = "" if self._logdir_spec else logdir
        self._flags = flags
        self._apps: dict[str, Wsgi] | None = None
        self._catalogue: Catalogue | None = None
        self._lock = Lock()

    def is_active(self) -> bool:
        """True if TensorBoard has a logdir; without traces the page says why."""
        return bool(self._logdir or self._logdir_spec)

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        """The page is an ES module; TensorBoard's reload button reaches it."""
        return base_plugin.FrontendMetadata(
            es_module_path=ENTRY_ROUTE, disable_reload=False, tab_name="PYTORCH_PROFILER"
        )

    def get_plugin_apps(self) -> dict[str, Wsgi]:
        """The routes. The first call starts scanning the logdir in the background."""
        with self._lock:
            if self._apps is None:
                self._apps = self._start()
            return self._apps

    def _start(self) -> dict[str, Wsgi]:
        problems: list[str] = []
        settings = Settings.from_environment(problems, **_flag_settings(self._flags))
        self._catalogue = catalogue_of(self._logdir, settings, self._logdir_spec, problems)
        self._catalogue.start()
        return Application(self._catalogue, settings).plugin_apps()

    def close(self) -> None:
        """Stop scanning and importing. TensorBoard never calls it; threads and processes end anyway."""
        with self._lock:
            if self._catalogue is not None:
                self._catalogue.close()


def _flag_settings(flags: Any) -> dict[str, Any]:
    """The settings given on the command line; names as in ``plugin_loader.FLAGS``."""
    names = ("cache_dir", "workers", "scheduler", "perfetto_url")
    values = {name: getattr(flags, f"torch_profiler_{name}", None) for name in names}
    return {name: value for name, value in values.items() if value is not None}
