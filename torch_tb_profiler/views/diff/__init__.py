"""The Diff tab: two recordings or runs compared, and recordings side by side."""
