"""The Memory tab: allocations over time, and who holds them."""
