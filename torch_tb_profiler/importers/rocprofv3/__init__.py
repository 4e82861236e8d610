"""``results.json`` of AMD's rocprofv3; ``reading.py`` reads them."""

ROCPROFV3 = "rocprofv3"
"""Header key: ns of the clock of the file at time 0 of the entries."""
TOOL = "rocprofiler-sdk-tool"
"""The one key of such a file."""
