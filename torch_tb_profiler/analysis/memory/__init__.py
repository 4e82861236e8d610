"""Allocator records: blocks from allocation to release, and queries on time windows."""
