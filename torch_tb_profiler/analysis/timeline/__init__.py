"""The timeline: lanes, levels of detail, tiles, arrows, counters, search, areas, event details."""
