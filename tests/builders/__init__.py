"""Builders of traces for tests."""
