"""What the pages say about every sample, in files small enough to read in review; see
``test_golden.py``.
"""
