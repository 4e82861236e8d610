"""Recordings as people have them: the smallest inputs of each kind, with the figures that are right."""
