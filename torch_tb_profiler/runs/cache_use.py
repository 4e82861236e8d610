"""Where imports are kept, and how much that is."""

from __future__ import annotations

from dataclasses import dataclass

from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.cache_folder import SUFFIX, CacheFolder


@dataclass(frozen=True)
class CacheUse:
    """``note``: why it is not the folder that was wanted; empty otherwise."""

    folder: str
    files: int
    bytes: int
    note: str


def cache_use(settings: Settings) -> CacheUse:
    """The cache folder of some settings as it is now."""
    cache = CacheFolder(settings)
    try:
        sizes = [path.stat().st_size for path in cache.path.glob(f"*{SUFFIX}")]
        return CacheUse(str(cache.path), len(sizes), sum(sizes), cache.note or "")
    finally:
        cache.close()
