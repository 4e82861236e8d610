"""The TensorBoard plugin: name, tab and routes. Everything else is behind ``web``."""

from __future__ import annotations

from threading import Lock
from typing import Any

from tensorboard.plugins import base_plugin

from torch_tb_profiler.runs.catalogue import Catalogue, catalogue_of
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.web.application import ENTRY_ROUTE, Application, Wsgi

NAME = "pytorch_profiler"


class ProfilerPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """Adds the tab PYTORCH_PROFILER."""

    plugin_name = NAME

    def __init__(self, context: base_plugin.TBContext) -> None:
        flags = context.flags
        self._logdir: str = getattr(flags, "logdir", None) or context.logdir or ""
        self._logdir_spec: str = getattr(flags, "logdir_spec", None) or ""
        if self._logdir_spec:
            # TensorBoard itself reads only one of the two.
            self._logdir = ""
        self._flags = flags
        self._apps: dict[str, Wsgi] | None = None
        self._catalogue: Catalogue | None = None
        self._lock = Lock()

    def is_active(self) -> bool:
        """True whenever TensorBoard looks at a folder.

        A tab that appeared only with the first trace would hide the diagnosis page from those who
        need it: people whose folder seems to be empty.
        """
        return bool(self._logdir or self._logdir_spec)

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        """The page is an ES module; TensorBoard's reload button reaches it."""
        return base_plugin.FrontendMetadata(
            es_module_path=ENTRY_ROUTE, disable_reload=False, tab_name="PYTORCH_PROFILER"
        )

    def get_plugin_apps(self) -> dict[str, Wsgi]:
        """The routes. The first call starts the look at the logdir, in threads and processes of its
        own.
        """
        with self._lock:
            if self._apps is None:
                self._apps = self._start()
            return self._apps

    def _start(self) -> dict[str, Wsgi]:
        problems: list[str] = []
        settings = Settings.from_environment(problems, **_given(self._flags))
        self._catalogue = catalogue_of(self._logdir, self._logdir_spec, settings, problems)
        self._catalogue.start()
        return Application(self._catalogue, settings).plugin_apps()

    def close(self) -> None:
        """Stop looking and importing. TensorBoard never calls it: the threads are daemons and the
        processes end with their parent.
        """
        with self._lock:
            if self._catalogue is not None:
                self._catalogue.close()


def _given(flags: Any) -> dict[str, Any]:
    """The settings that the command line gives; names as ``plugin_loader.FLAGS`` declares them."""
    wanted = {
        "cache_dir": "torch_profiler_cache_dir",
        "workers": "torch_profiler_workers",
        "perfetto_url": "torch_profiler_perfetto_url",
    }
    given = {setting: getattr(flags, flag, None) for setting, flag in wanted.items()}
    return {setting: value for setting, value in given.items() if value is not None}
