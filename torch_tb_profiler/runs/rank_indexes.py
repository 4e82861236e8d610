"""The rank index of an imported trace, by whatever is there of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from torch_tb_profiler.errors import SidecarError
from torch_tb_profiler.runs.model import OpenedInsight, OpenedRank
from torch_tb_profiler.runs.products import IMPORT, INSIGHT, RANKS, build_ranks, ranks_path
from torch_tb_profiler.runs.sidecar_store import SidecarStore

if TYPE_CHECKING:
    from torch_tb_profiler.store.model import RankIndex


def opened_rank(found: OpenedInsight) -> OpenedRank:
    """The rank index of an insight that is open, made now."""
    opened = found.opened
    index = build_ranks(opened.trace, opened.facts, found.insight)
    return OpenedRank(opened.worker, opened.span, index, found.id)


def copy_indexes(store: SidecarStore, sidecars: Iterable[str]) -> None:
    """Have the rank indexes of imported traces here together, where the cache is at a URL."""
    insights = (INSIGHT.path(sidecar, store.settings) for sidecar in sidecars)
    store.copy_all(ranks_path(path) for path in insights)


def rank_index(store: SidecarStore, sidecar: str) -> RankIndex | float:
    """The rank index that is kept, else made of the insight; how far that is, 0 to 1, if it is being made, from now on.

    Raises:
        SidecarError: neither the index nor the trace is there.
        ImportFailed: the insight could not be made.
    """
    path = ranks_path(INSIGHT.path(sidecar, store.settings))
    if (index := store.kept(RANKS, path)) is not None:
        return index
    if not store.folder().has(sidecar):
        raise SidecarError("Its import is gone.", "It is imported again.")
    # It is made with the insight, so this one is there without it only if the index was removed or damaged.
    insight = store.ask(INSIGHT, sidecar)
    if isinstance(insight, float):
        return insight
    trace, facts, _ = store.open(IMPORT, sidecar)
    return store.make_here(RANKS, path, lambda: build_ranks(trace, facts, insight))
