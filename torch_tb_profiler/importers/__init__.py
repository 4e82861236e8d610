"""Importers: bytes → columns, one module per format; the content decides which."""

from __future__ import annotations

from torch_tb_profiler.importers.chrome_trace import read_chrome_trace
from torch_tb_profiler.importers.peeked_text import PeekedText
from torch_tb_profiler.importers.window import Progress, Text
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.sniff import format_of
from torch_tb_profiler.sources.streams import TextStream
from torch_tb_profiler.store.model import Trace


def read_trace(stream: Text, settings: Settings, progress: Progress | None = None) -> Trace:
    """Import one trace from a stream of inflated text.

    Args:
        stream: ``sources.streams.open_text(location)``, or anything with ``read(n)``, ``done``,
            ``size``, ``problem``.
        progress: called with (raw bytes read, raw size or None) about once per chunk.

    Raises:
        NotATrace: the text is not a trace.
        SourceError: reading failed.
    """
    peeked = PeekedText(stream)
    known = format_of(peeked.head)
    if known == "pickle":
        from torch_tb_profiler.importers.snapshot import read_snapshot

        return read_snapshot(peeked, progress)
    if known == "sqlite":
        from torch_tb_profiler.importers.sqlite import read_sqlite

        return read_sqlite(
            peeked, stream.path if isinstance(stream, TextStream) else None, progress
        )
    if known == "rocprofv3":
        from torch_tb_profiler.importers.rocprofv3.reading import read_rocprofv3

        return read_rocprofv3(peeked, settings, progress)
    if known == "perfetto":
        from torch_tb_profiler.importers.perfetto.reading import read_perfetto

        return read_perfetto(peeked, settings, progress)
    if known == "folded":
        from torch_tb_profiler.importers.stacks_text import read_stacks

        return read_stacks(peeked, stream.name if isinstance(stream, TextStream) else "", progress)
    if known == "memory_timeline":
        from torch_tb_profiler.importers.memory_timeline import read_memory_timeline

        return read_memory_timeline(peeked, progress)
    return read_chrome_trace(peeked, settings, progress)


__all__ = ["Progress", "read_trace"]
