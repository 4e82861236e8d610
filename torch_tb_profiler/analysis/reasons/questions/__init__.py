"""The questions, one file each, as rules (``findings/rule.py``): a formula over what was recorded, of any place, size and depth."""
