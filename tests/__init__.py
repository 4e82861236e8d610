"""Tests of the package, one folder per room, and the fixtures that they share."""
