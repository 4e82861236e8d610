"""The command ``torch-tb-profiler``."""
