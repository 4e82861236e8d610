"""The net below larger changes: what ``benchmarks/replies.py`` records of a commit, and how it compares two recordings."""
