"""Calls of the runtime: figures that one can count off a drawing, and the same ones counted slowly on public traces."""
