"""The Timeline tab: what is on the tracks, tile by tile, and everything about one event."""
