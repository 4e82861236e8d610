"""Perfetto's own traces; ``reading.py`` reads them."""

PERFETTO = "perfettoBase"
"""Header key: trace time, in ns, of time 0 of the entries."""
