"""The house rules of docs/architecture.md as programs. Every rule is also shown a tree that breaks
it.
"""
