"""TensorBoard's entry point; imports the plugin late, so that a broken install costs only the tab."""

from __future__ import annotations

import argparse
import logging
from typing import Any

from tensorboard.plugins import base_plugin

logger = logging.getLogger(__name__)

FLAGS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "--torch_profiler_cache_dir",
        {
            "metavar": "PATH",
            "help": "Folder or URL for imported traces. Default: the user's cache folder.",
        },
    ),
    (
        "--torch_profiler_workers",
        {"metavar": "N", "type": int, "help": "Concurrent trace imports. Default: one per core."},
    ),
    (
        "--torch_profiler_scheduler",
        {
            "metavar": "ADDRESS",
            "help": "Dask scheduler whose workers import traces, like tcp://host:8786. Default: none,"
            " processes of this machine import.",
        },
    ),
    (
        "--perfetto_url",
        {
            "dest": "torch_profiler_perfetto_url",
            "metavar": "URL",
            "help": 'Where "Open in Perfetto" sends a trace. Default: https://ui.perfetto.dev',
        },
    ),
)


class ProfilerLoader(base_plugin.TBLoader):  # type: ignore[misc]
    """Creates the plugin, or logs why it cannot."""

    def define_flags(self, parser: argparse.ArgumentParser) -> None:
        """Add the plugin's flags; one that another plugin has taken is left to it."""
        group = parser.add_argument_group("PyTorch profiler plugin")
        for name, options in FLAGS:
            try:
                group.add_argument(name, default=None, **options)
            except argparse.ArgumentError as clash:
                logger.warning(
                    "The PyTorch profiler plugin cannot add its flag %s: %s", name, clash
                )

    def load(self, context: base_plugin.TBContext) -> base_plugin.TBPlugin | None:
        """The plugin; None, with the reason logged, if a dependency is missing or broken."""
        try:
            from torch_tb_profiler.plugin import ProfilerPlugin
        except ImportError as error:
            logger.error(
                "The PyTorch profiler plugin is off: %s. Install it again from where it came from, such as"
                " pip install --force-reinstall . in its checkout",
                error,
            )
            return None
        except Exception:
            # A package built for another numpy may raise anything.
            logger.exception(
                "The PyTorch profiler plugin is off because one of its dependencies is broken"
            )
            return None
        return ProfilerPlugin(context)
