"""The engine against PyTorch itself: ``key_averages()`` of the same recording."""
