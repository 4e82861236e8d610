"""Traces as no profiler writes them, from a seed: ``python -m benchmarks.fuzz --cases 100000 --seed 1``."""

from benchmarks.fuzz.mutate import case, cases

__all__ = ["case", "cases"]
