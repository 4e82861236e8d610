"""The Distributed tab: the workers of a run beside each other."""
