"""Tests of workloads, where device work is laid, and rates."""
