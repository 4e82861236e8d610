"""Tests of what is found in traces."""
