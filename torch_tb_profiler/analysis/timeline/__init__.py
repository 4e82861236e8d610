"""What the timeline draws and answers: lanes, levels of detail, tiles, arrows, counters, search,
areas, single events.
"""
