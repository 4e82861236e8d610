"""Paths of calls with modules, forward and backward, and what they cost."""
