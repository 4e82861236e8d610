"""Tests of the kernel table."""
