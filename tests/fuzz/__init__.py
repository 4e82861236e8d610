"""Traces as no profiler writes them, from a seed: ``python -m tests.fuzz --cases 100000 --seed 1``."""

from tests.fuzz.mutate import case, cases

__all__ = ["case", "cases"]
