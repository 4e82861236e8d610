"""Interval sets, nesting and grouping of numpy arrays: no word of PyTorch."""
