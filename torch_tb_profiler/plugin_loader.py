"""What TensorBoard's entry point names. It imports nothing of the plugin before it is asked to
load, so that a broken installation
costs the tab and not TensorBoard."""

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
            "dest": "torch_profiler_cache_dir",
            "metavar": "PATH",
            "help": "Folder in which imported traces are kept. Default: the user's cache folder.",
        },
    ),
    (
        "--torch_profiler_workers",
        {
            "dest": "torch_profiler_workers",
            "metavar": "N",
            "type": int,
            "help": "Traces imported at once. Default: one per core.",
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
    """Makes the plugin, or says why it cannot."""

    def define_flags(self, parser: argparse.ArgumentParser) -> None:
        """Settings of the plugin. A flag that another plugin has already taken is left to it; the
        environment variable stays.
        """
        group = parser.add_argument_group("PyTorch profiler plugin")
        for name, options in FLAGS:
            try:
                group.add_argument(name, default=None, **options)
            except argparse.ArgumentError as clash:
                logger.warning(
                    "The PyTorch profiler plugin does without its flag %s: %s", name, clash
                )

    def load(self, context: base_plugin.TBContext) -> base_plugin.TBPlugin | None:
        """The plugin; None, with the reason in the log, when something that it needs is missing or
        broken.
        """
        try:
            from torch_tb_profiler.plugin import ProfilerPlugin
        except ImportError as error:
            logger.error(
                "The PyTorch profiler plugin is off: %s. Reinstall it: pip install"
                " --force-reinstall torch_tb_profiler",
                error,
            )
            return None
        except Exception:
            # A package built for another numpy raises anything but an ImportError.
            logger.exception(
                "The PyTorch profiler plugin is off because something that it imports is broken"
            )
            return None
        return ProfilerPlugin(context)
