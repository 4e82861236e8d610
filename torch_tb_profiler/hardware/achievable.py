"""What share of a device's peak good kernels usually reach, by family of the work."""

from __future__ import annotations

USUAL = 0.7
"""Where nothing better is known."""
_OF_FAMILY = {
    # FlashAttention-2 reaches 50 to 73 % of an A100's peak, forward and backward (arXiv 2307.08691,
    # figures 4 and 5); FlashAttention-3 up to 75 % of an H100's (arXiv 2407.08608).
    "attention": 0.6,
}


def achievable_share(family: str) -> float:
    """The share of what the peaks of computing and memory allow."""
    return _OF_FAMILY.get(family, USUAL)
