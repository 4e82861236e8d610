"""Annotated ranges: what ran between ``record_function`` or NVTX begin and end."""
