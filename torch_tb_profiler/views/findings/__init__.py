"""The findings: the answer in one sentence, and what to change."""
