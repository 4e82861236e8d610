"""Allocator records: blocks from their allocation to their release, and questions about any window
of time.
"""
