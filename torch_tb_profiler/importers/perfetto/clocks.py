"""Times of packets → nanoseconds of one clock.

::

    snapshot    boot 1000   wall 1719000000000001000   own 0 (in units of 10 ns)
    packet      own 7       ─▶   1000 + (7 − 0) · 10 = 1070 ns of the boot clock

An incremental clock states how much later a packet is than the one before of its sequence.
"""

from __future__ import annotations

from typing import Any

from torch_tb_profiler.importers.perfetto.schema import BOOTTIME, OWN_CLOCKS, REALTIME

_Key = tuple[int, int]
_MOST = 1 << 62
_WALL_NS = 10**18
"""September 2001: no machine has been up for that long, so later times are wall-clock times."""


class Clocks:
    """What snapshots say of the clocks of a trace."""

    def __init__(self) -> None:
        self._offset: dict[_Key, int] = {}
        """Trace time less the clock's time, ns."""
        self._unit: dict[_Key, int] = {}
        self._last: dict[_Key, int] = {}
        """Time of the last packet, in the units of an incremental clock."""
        self._wall: int | None = None
        self.plain = True
        """Whether timestamps of the boot clock, the usual one, are trace times."""

    def snapshot(self, sequence: int, snapshot: Any) -> None:
        """Take in readings of several clocks at one moment."""
        read: dict[_Key, int] = {}
        for clock in snapshot.clocks:
            key = self._key(sequence, clock.clock_id)
            self._unit[key] = unit = clock.unit_multiplier_ns or 1
            read[key] = clock.timestamp * unit
            if clock.is_incremental:
                self._last[key] = clock.timestamp
        now = self._trace_time(read, (0, snapshot.primary_trace_clock))
        for key, value in read.items():
            self._offset[key] = now - value
            if key == (0, REALTIME) and self._wall is None:
                self._wall = value - now
        boot = (0, BOOTTIME)
        self.plain = (
            not self._offset.get(boot) and self._unit.get(boot, 1) == 1 and boot not in self._last
        )

    def _trace_time(self, read: dict[_Key, int], primary: _Key) -> int:
        boot = (0, BOOTTIME)
        if boot in read:
            return read[boot]
        for key, value in read.items():
            if key in self._offset:
                return value + self._offset[key]
        return read.get(primary, next(iter(read.values()), 0))

    def _key(self, sequence: int, clock: int) -> _Key:
        return (sequence if clock in OWN_CLOCKS else 0, clock)

    def time(self, sequence: int, clock: int, value: int) -> int | None:
        """Trace time in ns of a packet's timestamp; None if its clock is unknown."""
        key = self._key(sequence, clock)
        if key in self._last:
            self._last[key] = value = (self._last[key] + value) % (1 << 64)
        offset = self._offset.get(key)
        if offset is None:
            # Without snapshots all packets have the same one of the system's clocks.
            return value if clock < OWN_CLOCKS.start else None
        time = value * self._unit[key] + offset
        return time if -_MOST < time < _MOST else None

    def wall(self, time: int) -> int | None:
        """Nanoseconds since 1970 of a trace time; None unknown."""
        if self._wall is not None:
            return time + self._wall
        return time if time >= _WALL_NS else None
