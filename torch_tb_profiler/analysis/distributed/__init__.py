"""Collectives of a worker, and of all workers of a run: who waits for whom, and how fast the bytes
move.
"""
