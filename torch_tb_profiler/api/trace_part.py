"""A trace, or a part of one, as a trace file."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Set

from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.atomic_files import save
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.runs.download import cut, whole_text
from torch_tb_profiler.runs.text_filters import KINDS, of_kinds, packed, without_marks
from torch_tb_profiler.units import format_count

_GZIP = 16 + zlib.MAX_WBITS


def save_chrome_trace(context: TraceContext, path: str | os.PathLike[str]) -> None:
    """Write a trace as it was recorded, or its selected steps, gzipped if the name ends in ``.gz``;
    replaces a file.

    Raises:
        BadRequest: the file has no events.
        SourceError: it can no longer be opened, or the path cannot be written to.
    """
    whole = context.steps is None and not context.skip_cold
    text = whole_text(context.opened) if whole else None
    if os.fspath(path).endswith(".gz"):
        save(part_of(context) if text is None else packed(text), path, force=True)
    else:
        save(_inflated(part_of(context)) if text is None else text, path, force=True)


def _inflated(pieces: Iterator[bytes]) -> Iterator[bytes]:
    stream = zlib.decompressobj(_GZIP)
    for piece in pieces:
        while piece:
            yield stream.decompress(piece)
            piece = stream.unused_data
            if stream.eof:
                stream = zlib.decompressobj(_GZIP)
    yield stream.flush()


def part_of(
    context: TraceContext,
    start_ns: int | None = None,
    end_ns: int | None = None,
    kinds: Set[str] | None = None,
) -> Iterator[bytes]:
    """The text of a part of the trace: the events of some kinds between two times, ns."""
    unknown = sorted(set(kinds or ()) - set(KINDS))
    if unknown:
        raise BadRequest(
            f"Unknown kinds: {', '.join(unknown)}.", f"Use some of: {', '.join(KINDS)}."
        )
    if (
        not context.trace["spans"].n
        and not context.trace["instants"].n
        and not context.trace["chunks"].n
    ):
        raise BadRequest(
            f"{context.opened.span.path} has no events for a trace.",
            "Export a table: --what memory_blocks, memory_alive …",
        )
    first, last = _window(context)
    start, end = first if start_ns is None else start_ns, last if end_ns is None else end_ns
    if end <= start:
        raise BadRequest(
            f"The window from {format_count(start)} to {format_count(end)} ns holds nothing.",
            "The end must be after the start.",
        )
    texts = cut(context.opened, start, end, context.settings)
    others = _other_steps(context) if start_ns is None and end_ns is None else set()
    texts = without_marks(texts, others) if others else texts
    return packed(of_kinds(texts, kinds, context.settings.categories) if kinds else texts)


def _window(context: TraceContext) -> tuple[int, int]:
    """From the first selected step to the last; the whole trace if none is selected."""
    steps = context.facts["steps"].take(context.selection().steps)
    if (context.steps is None and not context.skip_cold) or not steps.n:
        return 0, context.facts.summary.span_ns + 1
    return int(steps["start"].min()), int(steps["end"].max())


def _other_steps(context: TraceContext) -> set[str]:
    """Names that only steps outside the selection have."""
    steps = context.facts["steps"]
    names = context.facts.strings.many(steps["name"])
    chosen = set(context.selection().steps.tolist())
    return {name for step, name in enumerate(names) if step not in chosen} - {
        names[step] for step in chosen
    }
