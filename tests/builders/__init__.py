"""Traces that tests draw as text; see ``drawn.py``."""
