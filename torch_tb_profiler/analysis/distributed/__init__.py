"""Collectives of a worker and of a run: who waits for whom, and at which bandwidth."""
